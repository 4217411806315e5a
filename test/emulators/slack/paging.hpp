// Cursors and limits as Slack's paging methods use them.
#pragma once

#include "emulators/slack/methods.hpp"

namespace krux::test::slack {

// An opaque cursor: base64 of "<kind>:<position>".
std::string make_cursor(std::string_view kind, std::string_view position);
// The position; nothing when the text is no cursor of that kind.
std::optional<std::string> read_cursor(const std::string& cursor, std::string_view kind);

// The page size asked for, held to `most` and to the limits in force. False: `limit` is not a number Slack takes
// (invalid_limit).
bool page_size(const MethodContext& context, int otherwise, int most, int& size);

// Writes response_metadata with next_cursor (empty on the last page) and the request's warnings.
void write_page_end(MethodContext& context, const std::string& next_cursor);

}  // namespace krux::test::slack
