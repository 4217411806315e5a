// Slack's emoji, as far as the emulator knows them.
#pragma once

#include <string>
#include <string_view>

namespace krux::test::slack {

// Some have several names; Slack keeps and shows the first.
std::string shown_emoji_name(const std::string& name);
bool is_emoji_name(std::string_view name);
// The name of the emoji with which `text` begins, and how many bytes it takes; empty: it begins with none.
std::string_view emoji_at(std::string_view text, std::size_t& bytes);

}  // namespace krux::test::slack
