#include "host/gateway/sign_in.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <memory>

#include "core/sign_in/client_metadata.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/gateway/gateway_answers.hpp"
#include "host/http/html_page.hpp"

namespace krux {
namespace {

constexpr std::string_view kResourceMetadata = "/.well-known/oauth-protected-resource",
                           kResourceMetadataOfMcp = "/.well-known/oauth-protected-resource/mcp",
                           kServerMetadata = "/.well-known/oauth-authorization-server", kRegister = "/register",
                           kAuthorize = "/authorize";
constexpr std::uint64_t kMostBodyBytes = 16 << 10;
constexpr FailedTries::Limits kBegunByOne{20, 60'000, 4096}, kBegunByAll{120, 60'000, 1};
constexpr const char* kAll = "all";

bool takes_body(std::string_view path) {
  return path == kRegister || path == kTokenPath || path == kRevokePath;
}

bool has_type(const ServerRequest& request, std::string_view type) {
  const auto given = request.header("content-type").value_or("");
  return equal_ignoring_case(given.substr(0, type.size()), type) &&
         (given.size() == type.size() || given[type.size()] == ';' || given[type.size()] == ' ');
}

ServerResponse refused(int status, const char* error, const std::string& why, bool for_person) {
  return for_person ? text_page(status, "Not signed in", why) : oauth_error(status, error, why);
}

const char* why_not_known(SignIn::Shown shown) {
  switch (shown) {
    case SignIn::Shown::kToken:
      return "The access token is unknown, has run out or has ended. Renew it, or sign in again.";
    case SignIn::Shown::kKey:
      return "What the request shows is no agent's key: that of an agent is 64 hexadecimal digits, and good until it "
             "is "
             "rotated or revoked (kruxos agent list).";
    default:
      return "Sign in, or send an agent's key: \"Authorization: Bearer <key>\".";
  }
}

}  // namespace

ServerResponse oauth_error(int status, std::string_view error, std::string_view description) {
  std::string text;
  for (const char c : description) {
    const bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    text += plain ? c : '\'';
  }
  ServerResponse response;
  response.status = status;
  response.body = json_object([&](JsonWriter& out) {
    put(out, "error", error);
    put(out, "error_description", text);
  });
  return response;
}

SignIn::SignIn(const SignInParts& parts, Clock& clock)
    : store_(*parts.store),
      documents_(*parts.documents),
      begun_(clock, kBegunByOne),
      begun_by_all_(clock, kBegunByAll),
      storing_(2, 64),
      fetches_(documents_) {}

void SignIn::set_origin(const std::string& origin) {
  origin_ = origin;
  resource_ = origin + std::string(kMcpPath);
}

bool SignIn::is_for_programs(std::string_view path) {
  return path == kResourceMetadata || path == kResourceMetadataOfMcp || path == kServerMetadata || takes_body(path);
}

bool SignIn::serves(std::string_view path) {
  return is_for_programs(path) || path == kAuthorize || path.starts_with(kPages);
}

std::optional<ServerResponse> SignIn::refuse(const ServerRequest& head) {
  const bool body = takes_body(head.path);
  if (head.path == kAuthorize && head.head_alone) return wrong_method("GET");  // it would begin a request
  if (head.method != (body ? "POST" : "GET")) return wrong_method(body ? "POST" : "GET, HEAD");
  const auto length = head.header("content-length");
  std::uint64_t bytes = 0;
  if (length) std::from_chars(length->data(), length->data() + length->size(), bytes);
  if (head.header("transfer-encoding") || (body && !length))
    return oauth_error(411, "invalid_request", "The length of the body must be said, in Content-Length.");
  if (bytes > (body ? kMostBodyBytes : 0))
    return oauth_error(413, "invalid_request",
                       fmt::format("A body has at most {} bytes here.", body ? kMostBodyBytes : 0));
  return std::nullopt;
}

void SignIn::handle(ServerRequest request, const Respond& respond) {
  const std::string_view path = request.path;
  if (path == kServerMetadata) return respond(server_metadata());
  if (path == kResourceMetadata || path == kResourceMetadataOfMcp) return respond(resource_metadata());
  if (path == kAuthorize) return authorize(request, respond);
  if (path.starts_with(kPages)) return respond(answered(For::kPerson, [&] { return page(request); }));
  if (path != kRegister) return token(request, respond);
  if (!may_begin(request.peer))
    return respond(oauth_error(429, "temporarily_unavailable", "Too many registrations. Try again in a minute."));
  run(storing_, For::kClient, respond,
      [this, shared = std::make_shared<ServerRequest>(std::move(request))] { return register_client(*shared); });
}

void SignIn::run(WorkerPool& pool, For whom, const Respond& respond, Work work) {
  if (!pool.run([whom, respond, work = std::move(work)] { respond(answered(whom, work)); }))
    respond(refused(503, "temporarily_unavailable", "Too much waits already. Try again in a moment.",
                    whom == For::kPerson));
}

ServerResponse SignIn::answered(For whom, const Work& work) {
  const bool for_person = whom == For::kPerson;
  try {
    return work();
  } catch (const SignInRefused& why) {
    return refused(400, why.error(), why.what(), for_person);
  } catch (const Error& why) {
    if (why.type() == ErrorCode::kRateLimited)
      return refused(for_person ? 429 : 503, "temporarily_unavailable", why.what(), for_person);
    spdlog::error("sign-in: {}", why.what());
  } catch (const std::exception& why) {
    spdlog::error("sign-in: {}", why.what());
  }
  return refused(503, "temporarily_unavailable", "The host cannot do this now. Its log says more.", for_person);
}

bool SignIn::may_begin(const Peer& peer) {
  const auto address = tries_key(peer.address);
  if (begun_.locked_for(address) || begun_by_all_.locked_for(kAll)) return false;
  begun_.failed(address);
  begun_by_all_.failed(kAll);
  return true;
}

ServerResponse SignIn::challenge(Shown shown) const {
  auto response = refusal(kMcpPath, {ErrorCode::kNotAuthenticated, why_not_known(shown)});
  response.headers.emplace_back("WWW-Authenticate",
                                fmt::format("Bearer realm=\"kruxos\", {}resource_metadata=\"{}{}\", scope=\"{}\"",
                                            shown != Shown::kNothing ? "error=\"invalid_token\", " : "", origin_,
                                            kResourceMetadataOfMcp, kSignInScope));
  return response;
}

ServerResponse SignIn::resource_metadata() const {
  ServerResponse response;
  response.body = json_object([&](JsonWriter& out) {
    put(out, "resource", resource_);
    put(out, "resource_name", "KruxOS Service Proxy");
    put(out, "authorization_servers", std::vector<std::string>{origin_});
    put(out, "bearer_methods_supported", std::vector<std::string>{"header"});
    put(out, "scopes_supported", std::vector<std::string>{std::string(kSignInScope)});
  });
  return response;
}

ServerResponse SignIn::server_metadata() const {
  const auto at = [&](std::string_view path) { return origin_ + std::string(path); };
  const auto only = [](const char* value) { return std::vector<std::string>{value}; };
  ServerResponse response;
  response.body = json_object([&](JsonWriter& out) {
    put(out, "issuer", origin_);
    put(out, "authorization_endpoint", at(kAuthorize));
    put(out, "token_endpoint", at(kTokenPath));
    put(out, "registration_endpoint", at(kRegister));
    put(out, "revocation_endpoint", at(kRevokePath));
    put(out, "response_types_supported", only("code"));
    put(out, "response_modes_supported", only("query"));
    put(out, "grant_types_supported", std::vector<std::string>{"authorization_code", "refresh_token"});
    put(out, "token_endpoint_auth_methods_supported", only("none"));
    put(out, "revocation_endpoint_auth_methods_supported", only("none"));
    put(out, "code_challenge_methods_supported", only("S256"));
    put(out, "scopes_supported", std::vector<std::string>{std::string(kSignInScope)});
    put(out, "authorization_response_iss_parameter_supported", true);
    put(out, "client_id_metadata_document_supported", true);
  });
  return response;
}

ServerResponse SignIn::register_client(const ServerRequest& request) {
  if (!has_type(request, "application/json"))
    throw SignInRefused("invalid_client_metadata", "A registration is sent as application/json.");
  ClientMetadata metadata;
  try {
    metadata = client_metadata(parse_json(request.body, "The registration"), SaidIn::kRegistration);
  } catch (const Error& error) {
    throw SignInRefused("invalid_client_metadata", error.what());
  }
  const auto client = store_.register_client(metadata);
  ServerResponse response;
  response.status = 201;
  response.body = json_object([&](JsonWriter& out) {
    put(out, "client_id", client.client_id);
    if (!metadata.name.empty()) put(out, "client_name", metadata.name);
    put(out, "redirect_uris", metadata.redirect_uris);
    put(out, "grant_types", std::vector<std::string>{"authorization_code", "refresh_token"});
    put(out, "response_types", std::vector<std::string>{"code"});
    put(out, "token_endpoint_auth_method", "none");
  });
  return response;
}

}  // namespace krux
