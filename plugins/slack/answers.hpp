// What agents are shown of records: as they are kept, with names and a readable time, without what is empty or the
// adapter's own. Parsing each record again would cost more than the search.
#pragma once

#include <string>
#include <string_view>

namespace slack {

struct MessageNames {
  std::string_view user, channel;  ///< ids of a record, or names as JSON texts
  std::string_view username{};     ///< as a JSON text: what the record itself calls its author; empty: nothing
};
/// The ids that names are to be found for.
MessageNames ids_of(std::string_view message_json);

/// Appends a message's record as one object.
void append_message(std::string_view json, const MessageNames& names, std::string& out);
/// The same of a reply, without its channel and its thread: the message beside which it stands names these.
void append_reply(std::string_view json, std::string_view user_name, std::string& out);
void append_channel(std::string_view json, std::string& out);

}  // namespace slack
