#include "host/cli/session.hpp"

#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"

namespace krux::cli {

bool Session::printed(const HostAnswer& answer) const {
  if (json) console.out() << answer.text << "\n";
  return json;
}

bool Session::confirm(const std::string& question, bool assume_yes) const {
  if (assume_yes || !console.reads_terminal()) return true;
  const auto answer = console.read_line(question + " [y/N] ");
  return answer && (*answer == "y" || *answer == "Y" || *answer == "yes");
}

std::string joined(const JsonValue& array) {
  std::string out;
  for (const auto& item : array.GetArray()) {
    if (item.IsString()) out.append(out.empty() ? "" : ", ").append(view(item));
  }
  return out;
}

std::string synced(const JsonValue& account, std::int64_t now_ms) {
  if (!find_bool(account, "whole").value_or(true)) return "not whole yet";
  return relative(number(account, "synced_at_ms"), now_ms);
}

std::string moment(std::int64_t at_ms, std::int64_t now_ms) {
  if (at_ms == 0) return {};
  auto utc = format_time(at_ms).substr(0, 19);
  utc[10] = ' ';
  return fmt::format("{} UTC ({})", utc, relative(at_ms, now_ms));
}

}  // namespace krux::cli
