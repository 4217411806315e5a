// Slack's way of writing a text: &, < and > as entities, <http://x|label> for a link, <@U1> for a person.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slack {

/// As agents read it: a link's label with the address behind it where they differ, names for what is called by one.
/// People and channels without a name in the text stay <@U1> and <#C1> (names of these are the replica's to know), and
/// so does what would call everybody if it were sent again.
std::string shown_text(std::string_view markup);

/// As people see it, where a label hides its address, which goes into `hidden`.
std::string seen_text(std::string_view markup, std::vector<std::string>& hidden);

/// Ids of the people whom the text mentions without their names.
std::vector<std::string_view> mentioned(std::string_view text);

/// A text that is no markup, as one that is shown: nothing in it calls everybody.
std::string shown_plain(std::string_view text);

}  // namespace slack
