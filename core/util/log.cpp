#include "core/util/log.hpp"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr const char kMembers[] = "members";

}  // namespace

void log_event(spdlog::level::level_enum level, const LogContext& about, std::string_view message) {
  if (!spdlog::should_log(level)) return;
  std::string members;
  for (const auto& [name, value] :
       {std::pair("event", about.event), std::pair("service", about.service), std::pair("account_id", about.account_id),
        std::pair("agent_id", about.agent_id), std::pair("write_id", about.write_id)}) {
    if (!value.empty()) members += std::string(",\"") + name + "\":" + json_string(printable(value));
  }
  // The logger writes before it returns, so that the members live long enough.
  spdlog::log(spdlog::source_loc(members.c_str(), 1, kMembers), level, "{}", message);
}

std::string_view log_members(const spdlog::source_loc& source) {
  return source.funcname == kMembers ? source.filename : std::string_view();
}

}  // namespace krux
