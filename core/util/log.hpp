// Lines of the log that say what they are about.
#pragma once

#include <spdlog/common.h>

#include <string_view>

namespace krux {

/// Members of a line in the JSON format, beside its message; empty ones are left out. The message must say the same in
/// words: in the text format it stands alone.
struct LogContext {
  std::string_view event;  ///< what happened, for machines: "write_completed", "sync_failed", an alert's kind
  std::string_view service, account_id, agent_id, write_id;
};

/// Any thread. What services and agents say in `message` may be anything: it is escaped when it is written.
void log_event(spdlog::level::level_enum level, const LogContext& about, std::string_view message);

/// The members of the line that is being written (`,"event":"..."`), or empty. spdlog has no members of its own: they
/// travel where the name of the source file would, which nothing that is logged can forge.
std::string_view log_members(const spdlog::source_loc& source);

}  // namespace krux
