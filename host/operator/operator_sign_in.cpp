// Hosts that sign in: what waits for the operator, and the grants.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/sign_in/client_documents.hpp"
#include "core/sign_in/client_metadata.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {
namespace {

/// `name`: one object.
template <class Fill>
void put_part(JsonWriter& out, std::string_view name, Fill fill) {
  put_key(out, name);
  out.StartObject();
  fill();
  out.EndObject();
}

/// What a list has of a code: the page has all of it. Strangers may ask in the same name from the same address, and a
/// whole code would be copied from whichever line looks right.
std::string half_of(const std::string& code) {
  return code.substr(0, code.find('-') + 1) + "....";
}

}  // namespace

void OperatorService::put_request(JsonWriter& out, const SignInRequest& request, Code code) {
  const auto& ask = request.ask;
  put(out, "request_id", request.request_id);
  put(out, "code", code == Code::kWhole ? request.code : half_of(request.code));
  put(out, "state", to_string(request.decision));
  put(out, "client_id", ask.client.client_id);
  put(out, "client_name", ask.client.metadata.name);
  put(out, "has_document", ClientDocuments::is_document_address(ask.client.client_id));
  put(out, "redirect_uri", ask.redirect_uri);
  put(out, "redirect_host", redirect_host(ask.redirect_uri));
  put(out, "peer", ask.peer);
  put(out, "begun_at_ms", request.begun_at_ms);
  put(out, "expires_at_ms", request.expires_at_ms);
  put(out, "agent_id", request.agent_id);
  put(out, "agent", request.agent_id.empty() ? "" : agent_name(request.agent_id));
  put(out, "decided_by", request.decided_by);
}

void OperatorService::put_grant(JsonWriter& out, const SignInGrant& grant) {
  put(out, "grant_id", grant.grant_id);
  put(out, "client_id", grant.client_id);
  put(out, "client_name", grant.client_name);
  put(out, "redirect_host", grant.redirect_host);
  put(out, "agent_id", grant.agent_id);
  put(out, "agent", agent_name(grant.agent_id));
  put(out, "accepted_by", grant.accepted_by);
  put(out, "begun_at_ms", grant.begun_at_ms);
  put(out, "used_at_ms", grant.used_at_ms);
  put(out, "expires_at_ms", grant.expires_at_ms);
  put(out, "ended_at_ms", grant.ended_at_ms);
  put(out, "end_reason", grant.end_reason);
}

std::string OperatorService::sign_in() {
  return json_object([&](JsonWriter& out) {
    put(out, "enabled", parts_.config.server.sign_in.enabled);
    put_objects(out, "requests", parts_.sign_in.requests(),
                [&](const auto& request) { put_request(out, request, Code::kHalf); });
    put_objects(out, "grants", parts_.sign_in.grants(), [&](const auto& grant) { put_grant(out, grant); });
  });
}

std::string OperatorService::sign_in_request(const std::string& code) {
  const auto request = parts_.sign_in.request(code);
  return json_object(
      [&](JsonWriter& out) { put_part(out, "request", [&] { put_request(out, request, Code::kWhole); }); });
}

std::string OperatorService::accept_sign_in(const std::string& code, const std::string& agent, const std::string& who) {
  if (!parts_.config.server.sign_in.enabled)
    throw conflict("Sign-in is off: set server.sign_in.enabled, start the host anew, and begin again in the program.");
  SignInRequest request;
  // A new one's key goes to nobody: `agent rotate` makes one for whoever needs one.
  const auto found = parts_.agents.find_or_create(agent, [&](const Agent& used, const auto& make) {
    if (used.revoked) throw conflict(fmt::format("The agent \"{}\" is revoked: name another one.", used.name));
    request = parts_.sign_in.accept(code, used.agent_id, who, make);
  });
  spdlog::info("{} let {} sign in as agent {} ({})", who, printable(request.ask.client.client_id), found.agent.name,
               found.agent.agent_id);
  return json_object([&](JsonWriter& out) {
    put(out, "agent_is_new", found.is_new);
    put_part(out, "request", [&] { put_request(out, request, Code::kWhole); });
  });
}

std::string OperatorService::reject_sign_in(const std::string& code_or_id, const std::string& who) {
  const auto request = parts_.sign_in.reject(code_or_id, who);
  spdlog::info("{} refused to let {} sign in", who, printable(request.ask.client.client_id));
  return json_object(
      [&](JsonWriter& out) { put_part(out, "request", [&] { put_request(out, request, Code::kHalf); }); });
}

std::string OperatorService::end_sign_in(const std::string& grant_id, const std::string& who) {
  const auto grant = parts_.sign_in.end(grant_id, who);
  spdlog::info("{} ended grant {} of agent {}", who, grant.grant_id, agent_name(grant.agent_id));
  return json_object([&](JsonWriter& out) { put_part(out, "grant", [&] { put_grant(out, grant); }); });
}

}  // namespace krux
