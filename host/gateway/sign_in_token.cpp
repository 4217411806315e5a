// The token and revocation endpoints.
#include <fmt/format.h>

#include <memory>

#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/gateway/sign_in.hpp"

namespace krux {
namespace {

constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

SignInRefused bad_request(const std::string& why) {
  return {"invalid_request", why};
}

FormValues form_of(const ServerRequest& request) {
  const auto type = request.header("content-type").value_or("");
  if (!equal_ignoring_case(type.substr(0, kFormType.size()), kFormType))
    throw bad_request(fmt::format("The body must be {}.", kFormType));
  auto form = FormValues::parse(request.body);
  if (!form) throw bad_request("The form has a broken escape, or too many fields.");
  const auto twice = form->repeated({"grant_type", "code", "redirect_uri", "client_id", "code_verifier",
                                     "refresh_token", "token", "token_type_hint", "scope"});
  if (!twice.empty()) throw bad_request(twice + " stands there twice.");
  return *std::move(form);
}

std::string required(const FormValues& form, const char* name) {
  auto value = form.find(name);
  if (!value) throw bad_request(fmt::format("{} is missing.", name));
  return *std::move(value);
}

}  // namespace

void SignIn::token(const ServerRequest& request, const Respond& respond) {
  const bool revokes = request.path == kRevokePath;
  run(storing_, For::kClient, respond, [this, revokes, shared = std::make_shared<ServerRequest>(request)] {
    const auto form = form_of(*shared);
    return revokes ? revoke(form) : tokens_for(form);
  });
}

ServerResponse SignIn::tokens_for(const FormValues& form) {
  SignInTokens tokens;
  try {
    tokens = issue(form);
  } catch (const SignInRefused& why) {
    if (std::string_view(why.error()) != "invalid_grant") throw;
    return not_his(form, why);
  }
  ServerResponse response;
  response.body = json_object([&](JsonWriter& out) {
    put(out, "access_token", tokens.access_token);
    put(out, "token_type", "Bearer");
    put(out, "expires_in", tokens.expires_in_ms / 1000);
    put(out, "refresh_token", tokens.refresh_token);
    put(out, "scope", kSignInScope);
  });
  response.headers.emplace_back("Pragma", "no-cache");
  return response;
}

SignInTokens SignIn::issue(const FormValues& form) {
  const auto kind = required(form, "grant_type");
  for (const auto& resource : form.all("resource")) {
    if (!is_ours(resource))
      throw SignInRefused("invalid_target", "resource must be " + resource_ + ": nothing else is served here.");
  }
  const auto client_id = required(form, "client_id");
  if (kind == "refresh_token") return store_.refresh({required(form, "refresh_token"), client_id, resource_});
  if (kind != "authorization_code")
    throw SignInRefused("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.");
  return store_.exchange(
      {required(form, "code"), client_id, required(form, "code_verifier"), form.find("redirect_uri"), resource_});
}

/// Nobody is locked out: what cannot be guessed need not be counted, and strangers may share an address.
ServerResponse SignIn::not_his(const FormValues& form, const SignInRefused& why) const {
  const auto client_id = form.get("client_id");
  // A client that has been forgotten is to register again.
  if (!ClientDocuments::is_document_address(client_id) && !store_.client(client_id))
    return oauth_error(401, "invalid_client", "No client has registered under this client_id: register again.");
  return oauth_error(400, why.error(), why.what());
}

ServerResponse SignIn::revoke(const FormValues& form) {
  const auto token = required(form, "token");
  try {
    store_.revoke(token, form.get("client_id"));
  } catch (const SignInRefused& why) {
    return not_his(form, why);
  }
  return {};
}

}  // namespace krux
