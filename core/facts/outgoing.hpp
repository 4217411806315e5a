// What a write sends: its texts, and what of them shows by its form alone.
#pragma once

#include <string>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/state/text_values.hpp"
#include "core/util/json.hpp"

namespace krux {

/// The texts of the parameters, but of those that say whom it reaches, one a line; behind them what stands there in
/// Base64 and is text. Whole as far as `kMostOutgoing` bytes go.
struct Outgoing {
  std::string text;
  bool cut = false;
};
inline constexpr std::size_t kMostOutgoing = 256 * 1024;
Outgoing outgoing_texts(const CapabilityDefinition& capability, const JsonValue& params);

/// What a key, a password, a one-time code or a link that resets one looks like: the first of it in words ("a private
/// key"), or an empty text. It is never the secret itself.
std::string secret_in(std::string_view text);

}  // namespace krux
