// Google's token and revocation endpoints: RFC 6749's answers with Google's words.
#include "emulators/common/json_out.hpp"
#include "emulators/oauth/world.hpp"

namespace krux::test::oauth {
namespace {

using emulator::JsonOut;
using emulator::Performed;

Performed refused(int status, const std::string& error, const std::string& description) {
  Performed performed;
  performed.error = error;
  performed.http.status = status;
  performed.http.body =
      JsonOut().object().field("error", error).field("error_description", description).end_object().str();
  return performed;
}

Performed issued_answer(const Grant& grant, const Issued& issued, std::int64_t refresh_ends_in) {
  JsonOut out;
  out.object().field("access_token", issued.access).field("expires_in", issued.seconds);
  if (!issued.refresh.empty()) out.field("refresh_token", issued.refresh);
  if (!issued.refresh.empty() && refresh_ends_in > 0) out.field("refresh_token_expires_in", refresh_ends_in);
  out.field("scope", join_scopes(grant.scopes, ' ')).field("token_type", "Bearer").end_object();
  return {{200, "application/json; charset=utf-8", {}, out.str()}, ""};
}

std::optional<Performed> mistake_in_caller(const World& world, const Caller& caller) {
  const Client* client = world.client(caller.id);
  if (!client) return refused(401, "invalid_client", "The OAuth client was not found.");
  if (client->secret.empty() || caller.secret == client->secret) return std::nullopt;
  if (!caller.has_secret) return refused(400, "invalid_request", "client_secret is missing.");
  return refused(401, "invalid_client", "The provided client secret is invalid.");
}

std::optional<Performed> mistake_in_code(World& world, const Fields& form, const Caller& caller, Code* code) {
  if (field(form, "code").empty()) return refused(400, "invalid_request", "Missing required parameter: code");
  if (!code || code->client != caller.id) return refused(400, "invalid_grant", "Malformed auth code.");
  if (code->used) {
    ++world.counters.codes_reused;
    if (world.behaviour.code_reuse_revokes) {
      for (const std::string& id : code->grants) world.grants.end(*world.grants.grant(id), "code_reused");
    }
    return refused(400, "invalid_grant", "Bad Request");
  }
  if (code->ends_ms <= world.clock.now_ms()) return refused(400, "invalid_grant", "Bad Request");
  if (field(form, "redirect_uri") != code->redirect_uri) return refused(400, "redirect_uri_mismatch", "Bad Request");
  if (code->challenge.empty()) return std::nullopt;
  const std::string verifier = field(form, "code_verifier");
  if (verifier.empty()) return refused(400, "invalid_grant", "Missing code verifier.");
  if (!is_verifier(verifier) || s256(verifier) != code->challenge) {
    return refused(400, "invalid_grant", "Invalid code verifier.");
  }
  return std::nullopt;
}

Performed exchange(World& world, const Fields& form, const Caller& caller) {
  Code* code = world.grants.code(field(form, "code"));
  if (auto mistake = mistake_in_code(world, form, caller, code)) {
    ++world.counters.exchanges_refused;
    return std::move(*mistake);
  }
  ++world.counters.exchanges;
  code->used = true;
  Grant grant;
  grant.client = caller.id;
  grant.person = code->person;
  grant.scopes = code->user_scopes;
  grant.rotation = world.client(caller.id)->rotation;
  Grant& opened = world.grants.open(std::move(grant));
  code->grants.push_back(opened.id);
  const Issued issued = world.grants.issue(opened, code->offline, world.clock.now_ms());
  return issued_answer(opened, issued, world.behaviour.refresh_seconds);
}

Performed refresh(World& world, const Fields& form, const Caller& caller) {
  const std::string token = field(form, "refresh_token");
  if (token.empty()) return refused(400, "invalid_request", "Missing required parameter: refresh_token");
  const RefreshState state = world.grants.refresh_state(token, world.clock.now_ms());
  Grant* grant = world.grants.grant_of_refresh(token);
  const bool mine = grant && grant->client == caller.id;
  if (mine && (state == RefreshState::outdated || state == RefreshState::in_grace)) {
    ++grant->outdated;
    ++(state == RefreshState::outdated ? world.counters.refreshes_outdated : world.counters.refreshes_in_grace);
  }
  if (!mine || (state != RefreshState::fresh && state != RefreshState::in_grace)) {
    ++world.counters.refreshes_refused;
    if (mine && state == RefreshState::outdated && world.behaviour.refresh_reuse_revokes) {
      world.grants.end(*grant, "refresh_reused");
    }
    return refused(400, "invalid_grant", mine ? "Token has been expired or revoked." : "Bad Request");
  }
  if (auto error = wanted_refusal(world)) {
    ++world.counters.refreshes_refused;
    const std::string word = error->empty() ? "invalid_grant" : *error;
    return refused(word == "invalid_client" ? 401 : 400, word, "Token has been expired or revoked.");
  }
  ++world.counters.refreshes;
  const Issued issued = world.grants.refresh(token, world.clock.now_ms());
  return issued_answer(*grant, issued, world.behaviour.refresh_seconds);
}

}  // namespace

Performed google_token(World& world, const Fields& form, const Caller& caller) {
  if (auto mistake = mistake_in_caller(world, caller)) return std::move(*mistake);
  const std::string type = field(form, "grant_type");
  if (type == "authorization_code") return exchange(world, form, caller);
  if (type == "refresh_token") return refresh(world, form, caller);
  return refused(400, "unsupported_grant_type", "Invalid grant_type: " + type);
}

// Either token ends all that the person granted to the client, whichever grant it came from.
Performed google_revoke(World& world, const Fields& form) {
  const std::string token = field(form, "token");
  const std::int64_t now_ms = world.clock.now_ms();
  const AccessLookup access = world.grants.find(token, now_ms);
  const Grant* grant = access.grant ? access.grant : world.grants.grant_of_refresh(token);
  const bool works = access.grant ? access.state == TokenState::live
                                  : world.grants.refresh_state(token, now_ms) == RefreshState::fresh;
  if (!grant || !works) return refused(400, "invalid_token", "Token expired or revoked");
  ++world.counters.revocations;
  const std::string client = grant->client, person = grant->person.id;
  world.grants.end_all(client, person, "revoked");
  Performed performed;
  performed.http.body = "{}";
  return performed;
}

}  // namespace krux::test::oauth
