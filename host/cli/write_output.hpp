// Writes as the command shows them.
#pragma once

#include <string>
#include <string_view>

#include "host/cli/session.hpp"

namespace krux::cli {

/// "/v1/writes/ID" and `action`.
std::string write_path(const std::string& id, std::string_view action = {});

/// "Accepted by ann; one more person is needed.", of a write that several people must accept; else empty.
std::string acceptances(const JsonValue& write);
/// "1 of 2" of one that waits for several people; else empty.
std::string acceptances_so_far(const JsonValue& write);

/// A table; nothing for an empty array.
void print_writes(const Session& session, const char* title, const char* time_title, const JsonValue& writes);
/// One with its content and its result.
void print_write(const Session& session, const JsonValue& write);
/// What a look has shown of a write that is held as a copy.
Cell finding_of(const JsonValue& write);
/// `total`: how many there are, of which the host gave the newest.
void print_history(const Session& session, const JsonValue& history, std::int64_t total);
void print_edits(const Session& session, const JsonValue& edits, std::int64_t total);
/// "- text: old" and "+ text: new" for every member of `after` that differs.
void print_change(const Session& session, const JsonValue& before, const JsonValue& after);
void print_limits(const Session& session, const JsonValue& answer, const std::string& service);
/// Which state the write has now, from an answer with `write`. Returns the exit code.
int report_write(const Session& session, const HostAnswer& answer);

}  // namespace krux::cli
