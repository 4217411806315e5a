#include "host/gateway/mcp/client_abilities.hpp"

#include <kruxos/abi/call.h>
#include <kruxos/abi/entry.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/util/error.hpp"
#include "core/util/json_out.hpp"

namespace krux::mcp {
namespace {

/// The protocol's levels, and which of the boundary's is the least that is heard at each.
constexpr std::array<std::pair<std::string_view, std::int32_t>, 8> kLevels{{{"debug", KRUX_LOG_DEBUG},
                                                                            {"info", KRUX_LOG_INFO},
                                                                            {"notice", KRUX_LOG_WARN},
                                                                            {"warning", KRUX_LOG_WARN},
                                                                            {"error", KRUX_LOG_ERROR},
                                                                            {"critical", kHearsNothing},
                                                                            {"alert", kHearsNothing},
                                                                            {"emergency", kHearsNothing}}};

bool has_object(const JsonValue& object, std::string_view name) {
  const auto* member = find_member(object, name);
  return member && member->IsObject();
}

void put_object(JsonWriter& out, std::string_view name) {
  put_raw(out, name, "{}");
}

}  // namespace

std::uint32_t abilities_of(std::string_view capabilities_json) {
  std::uint32_t abilities = 0;
  try {
    const auto all = parse_json(capabilities_json, "the capabilities");
    if (!all.IsObject()) return 0;
    if (has_object(all, "sampling")) abilities |= KRUX_ASK_MODEL;
    if (has_object(all, "roots")) abilities |= KRUX_ASK_ROOTS;
    if (!has_object(all, "elicitation")) return abilities;
    const auto& elicitation = *find_member(all, "elicitation");
    const bool url = has_object(elicitation, "url");
    // Who names no way means forms, which came first.
    if (has_object(elicitation, "form") || !url) abilities |= KRUX_ASK_FORM;
    if (url) abilities |= KRUX_ASK_URL;
  } catch (const Error&) {
    return 0;
  }
  return abilities;
}

bool declares(std::string_view capabilities_json, std::string_view extension) {
  // Nearly no request does, and need not be taken apart for it.
  if (capabilities_json.find(extension) == std::string_view::npos) return false;
  try {
    const auto all = parse_json(capabilities_json, "the capabilities");
    const auto* extensions = all.IsObject() ? find_member(all, "extensions") : nullptr;
    return extensions && extensions->IsObject() && has_object(*extensions, extension);
  } catch (const Error&) {
    return false;
  }
}

std::string capabilities_for(std::uint32_t abilities) {
  return json_object([&](JsonWriter& out) {
    if (abilities & (KRUX_ASK_FORM | KRUX_ASK_URL)) {
      put_key(out, "elicitation");
      out.StartObject();
      if (abilities & KRUX_ASK_FORM) put_object(out, "form");
      if (abilities & KRUX_ASK_URL) put_object(out, "url");
      out.EndObject();
    }
    if (abilities & KRUX_ASK_MODEL) put_object(out, "sampling");
    if (abilities & KRUX_ASK_ROOTS) put_object(out, "roots");
  });
}

std::optional<std::int32_t> log_level_of(std::string_view name) {
  const auto* const found =
      std::find_if(kLevels.begin(), kLevels.end(), [&](const auto& level) { return level.first == name; });
  return found == kLevels.end() ? std::nullopt : std::optional(found->second);
}

std::string_view log_level_name(std::int32_t level) {
  switch (level) {
    case KRUX_LOG_DEBUG:
      return "debug";
    case KRUX_LOG_INFO:
      return "info";
    case KRUX_LOG_WARN:
      return "warning";
    default:
      return "error";
  }
}

SessionClients::Entry& SessionClients::entry(const std::string& agent_id, const std::string& session) {
  auto& all = by_agent_[agent_id];
  const auto found = std::find_if(all.begin(), all.end(), [&](const Entry& one) { return one.session == session; });
  if (found != all.end()) return *found;
  if (all.size() >= kPerAgent) all.pop_front();
  return all.emplace_back(Entry{session, {}});
}

void SessionClients::began(const std::string& agent_id, const std::string& session, std::uint32_t abilities) {
  const std::lock_guard lock(mutex_);
  entry(agent_id, session).client.abilities = abilities;
}

void SessionClients::set_log_level(const std::string& agent_id, const std::string& session, std::int32_t level) {
  const std::lock_guard lock(mutex_);
  entry(agent_id, session).client.log_level = level;
}

SessionClient SessionClients::of(const std::string& agent_id, const std::string& session) const {
  const std::lock_guard lock(mutex_);
  const auto all = by_agent_.find(agent_id);
  if (all == by_agent_.end()) return {};
  for (const auto& one : all->second) {
    if (one.session == session) return one.client;
  }
  return {};
}

}  // namespace krux::mcp
