// What a broken service answers in place of what it should.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace krux::certify {

/// Every value of the JSON text replaced by one of another type; with `keep_top`, the scalars at the top stay as they
/// are. A text that is no JSON becomes a JSON number.
std::string with_wrong_types(std::string_view json, bool keep_top);

/// What JSON can spell and people's words sometimes hold, and what a replica does not take.
enum class HostileText { kNul, kHalfSurrogate, kLong };
inline constexpr HostileText kHostileTexts[] = {HostileText::kNul, HostileText::kHalfSurrogate, HostileText::kLong};
const char* in_words(HostileText text);

/// Which of the JSON text's texts people wrote, for all that is known: it has a blank, and stands in one of those that
/// are searched. Empty: none.
std::string peoples_text(std::string_view json, const std::set<std::string>& searched);

/// Every text of the JSON text that is `text` becomes a hostile one. The same bytes where there is none.
std::string with_hostile_text(std::string_view json, const std::string& text, HostileText hostile);

}  // namespace krux::certify
