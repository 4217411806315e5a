// What tests turn and look at.
#include <fmt/format.h>

#include "emulators/common/documents.hpp"
#include "emulators/oauth/provider.hpp"
#include "emulators/oauth/world.hpp"

namespace krux::test::oauth {
namespace {

using emulator::JsonOut;

struct Knob {
  const char* name;
  std::int64_t Behaviour::*number;
  bool Behaviour::*flag;
};

const Knob kKnobs[] = {
    {"access_seconds", &Behaviour::access_seconds, nullptr},
    {"code_seconds", &Behaviour::code_seconds, nullptr},
    {"refresh_seconds", &Behaviour::refresh_seconds, nullptr},
    {"grace_ms", &Behaviour::grace_ms, nullptr},
    {"refresh_token_limit", &Behaviour::refresh_token_limit, nullptr},
    {"deny", &Behaviour::deny, nullptr},
    {"refuse_refreshes", &Behaviour::refuse_refreshes, nullptr},
    {"require_pkce", nullptr, &Behaviour::require_pkce},
    {"code_reuse_revokes", nullptr, &Behaviour::code_reuse_revokes},
    {"refresh_reuse_revokes", nullptr, &Behaviour::refresh_reuse_revokes},
};

bool set(World& world, const rapidjson::Value& document, std::string& problem) {
  std::vector<const char*> keys{"action", "refresh_error", "rotation"};
  for (const Knob& knob : kKnobs) keys.push_back(knob.name);
  if (!emulator::only_keys(document, keys, problem)) return false;
  Behaviour changed = world.behaviour;
  for (const Knob& knob : kKnobs) {
    const rapidjson::Value* value = find_member(document, knob.name);
    if (!value) continue;
    if (knob.number ? !value->IsInt64() : !value->IsBool()) {
      return problem = std::string(knob.name) + (knob.number ? " is a whole number" : " is true or false"), false;
    }
    if (knob.number)
      changed.*knob.number = value->GetInt64();
    else
      changed.*knob.flag = value->GetBool();
  }
  const rapidjson::Value* rotation = find_member(document, "rotation");
  if (rotation && !rotation->IsBool()) return problem = "rotation is true or false", false;
  changed.refresh_error = emulator::text_or(document, "refresh_error", changed.refresh_error);
  world.behaviour = changed;
  if (rotation) {
    for (Client& client : world.clients) client.rotation = rotation->GetBool();
  }
  return true;
}

bool add_client(World& world, const rapidjson::Value& document, std::string& problem) {
  if (!emulator::only_keys(document, {"action", "client"}, problem)) return false;
  const auto client = read_client(emulator::text_or(document, "client"), problem);
  if (!client) return false;
  for (Client& known : world.clients) {
    if (known.id == client->id) return known = *client, true;
  }
  world.clients.push_back(*client);
  return true;
}

// Of one grant, of one person, or of everybody.
int end_grants(World& world, const rapidjson::Value& document) {
  const std::string id = emulator::text_or(document, "grant"), person = emulator::text_or(document, "person");
  int ended = 0;
  for (const auto& [name, grant] : world.grants.all()) {
    const bool meant = (id.empty() || name == id) && (person.empty() || grant.person.id == person);
    if (!meant || !grant.ended.empty()) continue;
    world.grants.end(*world.grants.grant(name), "revoked");
    ++ended;
  }
  return ended;
}

void write_counters(const Counters& counters, JsonOut& out) {
  out.object("counters").field("pages", counters.pages).field("codes", counters.codes);
  out.field("denials", counters.denials).field("exchanges", counters.exchanges);
  out.field("exchanges_refused", counters.exchanges_refused).field("codes_reused", counters.codes_reused);
  out.field("refreshes", counters.refreshes).field("refreshes_refused", counters.refreshes_refused);
  out.field("refreshes_outdated", counters.refreshes_outdated);
  out.field("refreshes_in_grace", counters.refreshes_in_grace).field("revocations", counters.revocations);
  out.end_object();
}

void write_grant(const World& world, const Grant& grant, JsonOut& out) {
  out.object().field("grant", grant.id).field("client", grant.client).field("person", grant.person.id);
  if (!grant.person.team.empty()) out.field("team", grant.person.team);
  out.field("speaker", grant.speaker == Speaker::bot ? "bot" : "user").field("scope", join_scopes(grant.scopes, ' '));
  out.field("live", grant.ended.empty()).field("ended", grant.ended).field("rotation", grant.rotation);
  out.field("refreshes", grant.refreshes).field("outdated", grant.outdated);
  out.field("issued_refresh_tokens", grant.issued_refresh);
  out.field("live_access_tokens", world.grants.live_access(grant.id, world.clock.now_ms()));
  out.field("live_refresh_tokens", world.grants.live_refresh(grant.id, world.clock.now_ms())).end_object();
}

}  // namespace

bool Provider::act(const rapidjson::Value& document, JsonOut& out, std::string& problem) {
  const std::string action = emulator::text_or(document, "action");
  if (action == "set") return set(*world_, document, problem);
  if (action == "client") return add_client(*world_, document, problem);
  if (!emulator::only_keys(document, {"action", "grant", "person"}, problem)) return false;
  const std::string person = emulator::text_or(document, "person");
  if (action == "expire_access") {
    out.field("expired", world_->grants.expire_access(person, clock_.now_ms()));
  } else if (action == "expire_refresh") {
    out.field("expired", world_->grants.expire_refresh(person, clock_.now_ms()));
  } else if (action == "revoke") {
    out.field("ended", end_grants(*world_, document));
  } else {
    return problem = fmt::format("oauth knows set, client, expire_access, expire_refresh and revoke, not '{}'", action),
           false;
  }
  return true;
}

void Provider::write(JsonOut& out) const {
  out.object("oauth").field("live_grants", world_->grants.live_grants());
  write_counters(world_->counters, out);
  out.array("grants");
  for (const auto& [id, grant] : world_->grants.all()) write_grant(*world_, grant, out);
  out.end_array().array("secrets");
  for (const std::string& secret : world_->grants.secrets()) out.value(secret);
  out.end_array().end_object();
}

}  // namespace krux::test::oauth
