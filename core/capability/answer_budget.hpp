// How much of a model's context an answer may take.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

/// A page ends there, and no answer is longer than the second. Hosts warn at the first and cut at the second.
inline constexpr std::size_t kPageTokens = 10'000, kMostTokens = 25'000;
inline constexpr std::size_t kMostContentBytes = 1 << 20;

/// About how many tokens a model makes of `text`: one for four bytes of ASCII, one for each other character. On the
/// safe side for nearly all texts; only a tokenizer knows.
std::size_t estimated_tokens(std::string_view text);

/// `result_json`, one object, as much of it as a model may have. Of a longer one `pending_writes` is shortened, then
/// the list that makes most of it, if `capability` promises that: `page_is_cut` says so, and `next_offset` where to go
/// on, if the capability has an `offset` and a `limit`. What is too long all the same has its longest texts cut
/// (`texts_are_cut`), and is told without its longest members in the end (`members_left_out`).
/// Bytes that the capability hands over as content (is_bytes_part()) are no text, so that they do not count and are not
/// cut: they come whole, or are left out where they are more than kMostContentBytes of Base64 together.
std::string within_budget(std::string result_json, const CapabilityDefinition& capability, const JsonValue& params);

}  // namespace krux
