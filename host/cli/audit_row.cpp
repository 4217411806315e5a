#include "host/cli/audit_row.hpp"

#include <fmt/format.h>

#include "core/util/json_parts.hpp"

namespace krux::cli {

std::string audit_body_in_words(const JsonValue& body) {
  std::string words;
  const auto add = [&words](const std::string& more) {
    if (!more.empty()) words += (words.empty() ? "" : ", ") + more;
  };
  for (const char* what : {"operation", "capability", "action", "pass", "outcome"}) add(text(body, what));
  if (number(body, "requests") > 0) add(fmt::format("{} requests", number(body, "requests")));
  if (!text(body, "to").empty()) add(fmt::format("{} -> {}", text(body, "from"), text(body, "to")));
  add(text(body, "state"));
  if (const auto who = text(body, "who"); !who.empty() && who != "host") add("by " + who);
  const auto& by = part(part(body, "decision"), "decided_by");
  if (!text(by, "rule").empty())
    add(fmt::format("rule {} ({}:{})", text(by, "rule"), text(by, "file"), number(by, "line")));
  add(text(body, "error"));
  return words;
}

}  // namespace krux::cli
