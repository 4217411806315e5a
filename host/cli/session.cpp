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

std::string text(const JsonValue& object, std::string_view name) {
  return std::string(find_string(object, name).value_or(""));
}

std::int64_t number(const JsonValue& object, std::string_view name) {
  return find_int(object, name).value_or(0);
}

bool flag(const JsonValue& object, std::string_view name) {
  return find_bool(object, name).value_or(false);
}

const JsonValue& items(const JsonValue& object, std::string_view name) {
  static const JsonValue none(rapidjson::kArrayType);
  const auto* found = find_member(object, name);
  return found && found->IsArray() ? *found : none;
}

const JsonValue& part(const JsonValue& object, std::string_view name) {
  static const JsonValue none(rapidjson::kObjectType);
  const auto* found = find_member(object, name);
  return found && found->IsObject() ? *found : none;
}

std::string joined(const JsonValue& array) {
  std::string out;
  for (const auto& item : array.GetArray()) {
    if (item.IsString()) out.append(out.empty() ? "" : ", ").append(view(item));
  }
  return out;
}

std::string duration(std::int64_t ms) {
  const auto s = ms / 1000;
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min", s / 60);
  if (s < 86'400)
    return s % 3600 < 60 ? fmt::format("{} h", s / 3600) : fmt::format("{} h {} min", s / 3600, s / 60 % 60);
  return s % 86'400 < 3600 ? fmt::format("{} d", s / 86'400) : fmt::format("{} d {} h", s / 86'400, s / 3600 % 24);
}

std::string relative(std::int64_t at_ms, std::int64_t now_ms) {
  if (at_ms == 0) return "-";
  const auto distance = at_ms - now_ms;
  if (distance > -1000 && distance < 1000) return "now";
  return distance > 0 ? "in " + duration(distance) : duration(-distance) + " ago";
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
