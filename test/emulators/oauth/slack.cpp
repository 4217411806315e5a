// Slack's oauth.v2.access and oauth.v2.user.access: every answer is a 200, failures say ok:false.
#include "emulators/common/json_out.hpp"
#include "emulators/oauth/world.hpp"

namespace krux::test::oauth {
namespace {

using emulator::JsonOut;
using emulator::Performed;

Performed refused(const std::string& error) {
  Performed performed;
  performed.error = error;
  performed.http.body = JsonOut().object().field("ok", false).field("error", error).end_object().str();
  return performed;
}

std::string mistake_in_secret(const Client& client, const Caller& caller, bool needed) {
  if (!caller.has_secret && !needed) return "";
  return caller.secret == client.secret ? "" : "bad_client_secret";
}

// What is wrong with the exchange of a code: Slack's word, or nothing.
std::string mistake_in_exchange(World& world, const Client& client, const Fields& form, const Caller& caller,
                                Code* code, bool user_only) {
  const std::string verifier = field(form, "code_verifier");
  if (client.kind != ClientKind::pkce && !verifier.empty()) return "pkce_not_allowed";
  // Slack takes the verifier or the secret; both together it answers so.
  if (!verifier.empty() && caller.has_secret) return "internal_error";
  if (std::string wrong = mistake_in_secret(client, caller, verifier.empty()); !wrong.empty()) return wrong;
  if (!code || code->client != client.id || code->ends_ms <= world.clock.now_ms()) return "invalid_code";
  if (code->used) {
    ++world.counters.codes_reused;
    if (world.behaviour.code_reuse_revokes) {
      for (const std::string& id : code->grants) world.grants.end(*world.grants.grant(id), "code_reused");
    }
    return "invalid_code";
  }
  if (code->user_only != user_only) return "oauth_authorization_url_mismatch";
  const std::string redirect = field(form, "redirect_uri");
  if (code->redirect_was_sent ? redirect != code->redirect_uri : !redirect.empty()) return "bad_redirect_uri";
  if (!code->challenge.empty() && s256(verifier) != code->challenge) return "invalid_code_verifier";
  return "";
}

// A further consent adds to what the same speaker may do already.
Scopes with_earlier(const World& world, const Client& client, const Person& person, Speaker speaker, Scopes scopes) {
  for (const auto& [id, grant] : world.grants.all()) {
    const bool same = speaker == Speaker::bot ? grant.person.team == person.team : grant.person.id == person.id;
    if (grant.client == client.id && grant.speaker == speaker && same && grant.ended.empty()) {
      add_scopes(scopes, grant.scopes);
    }
  }
  return scopes;
}

Grant& open(World& world, const Client& client, Code& code, Speaker speaker) {
  Grant grant;
  grant.client = client.id;
  grant.person = code.person;
  grant.speaker = speaker;
  grant.rotation = client.rotation;
  grant.secretless = client.kind == ClientKind::pkce;
  const Scopes& asked = speaker == Speaker::bot ? code.bot_scopes : code.user_scopes;
  grant.scopes = with_earlier(world, client, code.person, speaker, asked);
  Grant& opened = world.grants.open(std::move(grant));
  code.grants.push_back(opened.id);
  return opened;
}

void write_token(const Grant& grant, const Issued& issued, JsonOut& out) {
  out.field("access_token", issued.access).field("token_type", grant.speaker == Speaker::bot ? "bot" : "user");
  out.field("scope", join_scopes(grant.scopes, ','));
  if (!issued.refresh.empty()) out.field("refresh_token", issued.refresh);
  if (issued.seconds > 0) out.field("expires_in", issued.seconds);
}

void write_install(const World& world, const Grant& grant, JsonOut& out) {
  if (grant.speaker == Speaker::bot) out.field("bot_user_id", world.bot_user);
  out.field("app_id", world.app_id).object("team").field("id", grant.person.team);
  out.field("name", grant.person.team_name).end_object().null_field("enterprise");
  out.field("is_enterprise_install", false);
}

// Bot and user each have a grant of their own.
Performed installed(World& world, const Client& client, Code& code, bool user_only) {
  const std::int64_t now_ms = world.clock.now_ms();
  JsonOut out;
  out.object().field("ok", true);
  if (!code.bot_scopes.empty()) {
    Grant& bot = open(world, client, code, Speaker::bot);
    write_token(bot, world.grants.issue(bot, bot.rotation, now_ms), out);
    out.field("bot_user_id", world.bot_user);
  }
  JsonOut user;
  user.object().field("id", code.person.id);
  if (!code.user_scopes.empty()) {
    Grant& grant = open(world, client, code, Speaker::user);
    const Issued issued = world.grants.issue(grant, grant.rotation, now_ms);
    write_token(grant, issued, user_only ? out : user);
  }
  Grant place;
  place.person = code.person;
  write_install(world, place, out);
  out.raw_field("authed_user", user.end_object().str());
  Performed performed;
  performed.http.body = out.end_object().str();
  return performed;
}

Performed exchange(World& world, const Client& client, const Fields& form, const Caller& caller, bool user_only) {
  Code* code = world.grants.code(field(form, "code"));
  const std::string mistake = mistake_in_exchange(world, client, form, caller, code, user_only);
  if (!mistake.empty()) {
    ++world.counters.exchanges_refused;
    return refused(mistake);
  }
  ++world.counters.exchanges;
  code->used = true;
  return installed(world, client, *code, user_only);
}

Performed refresh(World& world, const Client& client, const Fields& form, const Caller& caller) {
  const std::string token = field(form, "refresh_token");
  Grant* grant = world.grants.grant_of_refresh(token);
  const bool mine = grant && grant->client == client.id;
  const RefreshState state = world.grants.refresh_state(token, world.clock.now_ms());
  if (mine && (state == RefreshState::outdated || state == RefreshState::in_grace)) {
    ++grant->outdated;
    ++(state == RefreshState::outdated ? world.counters.refreshes_outdated : world.counters.refreshes_in_grace);
  }
  std::string mistake = mistake_in_secret(client, caller, client.kind != ClientKind::pkce);
  if (mistake.empty() && (!mine || (state != RefreshState::fresh && state != RefreshState::in_grace))) {
    mistake = "invalid_refresh_token";
    if (mine && state == RefreshState::outdated && world.behaviour.refresh_reuse_revokes) {
      world.grants.end(*grant, "refresh_reused");
    }
  }
  if (mistake.empty()) {
    if (auto wanted = wanted_refusal(world)) mistake = wanted->empty() ? "invalid_refresh_token" : *wanted;
  }
  if (!mistake.empty()) {
    ++world.counters.refreshes_refused;
    return refused(mistake);
  }
  ++world.counters.refreshes;
  JsonOut out;
  out.object().field("ok", true);
  write_token(*grant, world.grants.refresh(token, world.clock.now_ms()), out);
  write_install(world, *grant, out);
  Performed performed;
  performed.http.body = out.end_object().str();
  return performed;
}

}  // namespace

Performed slack_access(World& world, const Fields& form, const Caller& caller, bool user_only) {
  const Client* client = world.client(caller.id);
  if (!client) return refused("invalid_client_id");
  const std::string type = field(form, "grant_type");
  if (type.empty() || type == "authorization_code") return exchange(world, *client, form, caller, user_only);
  if (type == "refresh_token") return refresh(world, *client, form, caller);
  return refused("invalid_grant_type");
}

bool slack_revoke(World& world, const std::string& token) {
  const std::int64_t now_ms = world.clock.now_ms();
  const AccessLookup access = world.grants.find(token, now_ms);
  Grant* grant = access.grant ? world.grants.grant(access.grant->id) : world.grants.grant_of_refresh(token);
  if (!grant || !world.grants.revoke_token(token, now_ms)) return false;
  ++world.counters.revocations;
  // Of a rotating installation one token goes; it is over when none is left. Others end with their token.
  const bool nothing_left =
      world.grants.live_access(grant->id, now_ms) == 0 && world.grants.live_refresh(grant->id, now_ms) == 0;
  if (!grant->rotation || nothing_left) world.grants.end(*grant, "revoked");
  return true;
}

}  // namespace krux::test::oauth
