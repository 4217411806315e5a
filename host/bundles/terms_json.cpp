#include "host/bundles/terms_json.hpp"

#include <algorithm>

#include "core/definition/asks.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"

namespace krux {
namespace {

template <class Value>
Value need(std::optional<Value> value, const char* name) {
  if (!value) throw ConfigError(std::string("The member ") + name + " is missing or of another type.");
  return std::move(*value);
}

std::string text_of(const JsonValue& object, const char* name) {
  return std::string(need(find_string(object, name), name));
}

bool flag(const JsonValue& object, const char* name) {
  return need(find_bool(object, name), name);
}

const JsonValue& array(const JsonValue& object, const char* name) {
  const auto* found = find_member(object, name);
  if (!found || !found->IsArray()) need(std::optional<bool>(), name);
  return *found;
}

std::vector<std::string> texts(const JsonValue& object, const char* name) {
  std::vector<std::string> all;
  for (const auto& item : array(object, name).GetArray()) {
    if (!item.IsString()) need(std::optional<bool>(), name);
    all.emplace_back(view(item));
  }
  return all;
}

template <class Enum>
Enum one_of(const JsonValue& object, const char* name, std::initializer_list<Enum> all) {
  const auto given = text_of(object, name);
  for (const auto value : all) {
    if (given == to_string(value)) return value;
  }
  return need(std::optional<Enum>(), name);
}

std::vector<std::string> asks_named(std::uint32_t asks) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : kAsks) {
    if (asks & bit) names.emplace_back(name);
  }
  return names;
}

std::uint32_t asks_of(const std::vector<std::string>& names) {
  std::uint32_t asks = 0;
  for (const auto& name : names) {
    const auto* const known =
        std::find_if(kAsks.begin(), kAsks.end(), [&](const auto& ask) { return ask.second == name; });
    asks |= known == kAsks.end() ? need(std::optional<std::uint32_t>(), "asks") : known->first;
  }
  return asks;
}

BundleTerms::Capability parse_capability(const JsonValue& object) {
  using Kind = CapabilityKind;
  BundleTerms::Capability capability;
  capability.name = text_of(object, "name");
  capability.kind = one_of(object, "kind", {Kind::kRead, Kind::kWrite, Kind::kCancel});
  capability.tier = one_of(object, "tier", {Tier::kAutonomous, Tier::kNotify, Tier::kApprovalRequired, Tier::kBlocked});
  if (find_member(object, "delay_ms")) capability.delay_ms = need(find_int(object, "delay_ms"), "delay_ms");
  capability.undoable = flag(object, "undoable");
  capability.fetches = flag(object, "fetches");
  // What was installed before had none.
  if (find_member(object, "asks")) capability.asks = asks_of(texts(object, "asks"));
  return capability;
}

Limit parse_limit(const JsonValue& object) {
  Limit limit{texts(object, "operations"), need(find_int(object, "limit"), "limit"),
              need(find_int(object, "window_ms"), "window_ms"), text_of(object, "per")};
  if (limit.operations.empty() || limit.limit < 1 || limit.window_ms < 1 || limit.window_ms > 1'000'000'000'000 ||
      limit.limit > 1'000'000)
    need(std::optional<bool>(), "limits");
  return limit;
}

}  // namespace

void put_terms(JsonWriter& out, const BundleTerms& terms) {
  put(out, "service", terms.service);
  put(out, "prefix", terms.prefix);
  put(out, "version", terms.version);
  put(out, "display_name", terms.display_name);
  put(out, "api_base_url", terms.api_base_url);
  put(out, "hosts", terms.hosts);
  put_objects(out, "capabilities", terms.capabilities, [&](const BundleTerms::Capability& c) {
    put(out, "name", c.name);
    put(out, "kind", to_string(c.kind));
    put(out, "tier", to_string(c.tier));
    if (c.delay_ms) put(out, "delay_ms", *c.delay_ms);
    put(out, "undoable", c.undoable);
    put(out, "fetches", c.fetches);
    if (c.asks) put(out, "asks", asks_named(c.asks));
  });
  put_objects(out, "limits", terms.limits, [&](const Limit& limit) {
    put(out, "operations", limit.operations);
    put(out, "limit", limit.limit);
    put(out, "window_ms", limit.window_ms);
    put(out, "per", limit.key);
  });
  put(out, "escalate_on_exceed", terms.escalate_on_exceed);
  put(out, "scopes", terms.scopes);
  put(out, "token_pattern", terms.token_pattern);
  put(out, "auth", terms.auth);
  put(out, "own_address", terms.own_address);
  put(out, "settings", terms.settings);
  put(out, "safe_posts", terms.safe_posts);
  put(out, "hosts_from", terms.hosts_from);
}

BundleTerms parse_terms(const JsonValue& object) {
  BundleTerms terms;
  terms.service = text_of(object, "service");
  terms.prefix = text_of(object, "prefix");
  terms.version = text_of(object, "version");
  terms.display_name = text_of(object, "display_name");
  terms.api_base_url = text_of(object, "api_base_url");
  terms.hosts = texts(object, "hosts");
  for (const auto& item : array(object, "capabilities").GetArray())
    terms.capabilities.push_back(parse_capability(item));
  for (const auto& item : array(object, "limits").GetArray()) terms.limits.push_back(parse_limit(item));
  terms.escalate_on_exceed = flag(object, "escalate_on_exceed");
  terms.scopes = texts(object, "scopes");
  terms.token_pattern = text_of(object, "token_pattern");
  if (!find_member(object, "auth")) return terms;  // pinned before definitions said so
  terms.auth = text_of(object, "auth");
  terms.own_address = text_of(object, "own_address");
  terms.settings = texts(object, "settings");
  terms.safe_posts = texts(object, "safe_posts");
  if (find_member(object, "hosts_from")) terms.hosts_from = text_of(object, "hosts_from");
  return terms;
}

}  // namespace krux
