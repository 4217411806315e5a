#include "core/oauth/authorization.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/net/url.hpp"
#include "core/oauth/form.hpp"
#include "core/oauth/pkce.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestTarget = 16 << 10, kLongestValue = 8 << 10, kLongestShown = 300;

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string shown(std::string_view text) {
  return printable(text.substr(0, kLongestShown));
}

/// The parameters of a callback, decoded. A repeated one makes the whole ambiguous.
struct Parameters {
  std::optional<Secret> code, state;
  std::optional<std::string> error, description;

  /// False: the query is not understood.
  bool read(std::string_view query) {
    while (!query.empty()) {
      const auto pair = query.substr(0, query.find('&'));
      query.remove_prefix(std::min(pair.size() + 1, query.size()));
      const auto equals = std::min(pair.find('='), pair.size());
      auto value = percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
      const bool kept = keep(pair.substr(0, equals), value);
      sodium_memzero(value.data(), value.size());
      if (!kept) return false;
    }
    return true;
  }

 private:
  bool keep(std::string_view name, const std::string& value) {
    if (value.size() > kLongestValue) return false;
    if (name == "code" || name == "state") {
      auto& place = name == "code" ? code : state;
      if (place || !is_visible(value)) return false;
      place.emplace(std::string_view(value));
    } else if (name == "error" || name == "error_description") {
      auto& place = name == "error" ? error : description;
      if (place) return false;
      place = value;
    }
    return true;
  }
};

Callback bad(Callback::Kind kind, std::string message) {
  Callback callback;
  callback.kind = kind;
  callback.message = std::move(message);
  return callback;
}

std::string why_denied(const std::string& error, const std::string& description) {
  if (error == "access_denied") return "The access was denied in the browser.";
  return fmt::format("The service refused: {}{}{}.", shown(error), description.empty() ? "" : ", ", shown(description));
}

}  // namespace

std::string authorize_address(const OAuthFlow& flow, const AuthorizationRequest& request) {
  std::string scopes;
  for (const auto& scope : request.scopes) scopes += (scopes.empty() ? "" : flow.scope_separator) + scope;
  std::string query;
  append_pair(query, "response_type", "code");
  append_pair(query, "client_id", request.client_id);
  append_pair(query, "redirect_uri", request.redirect_uri);
  append_pair(query, flow.scope_parameter, scopes);
  append_pair(query, "state", request.state);
  if (flow.pkce) {
    append_pair(query, "code_challenge", challenge_of(request.verifier));
    append_pair(query, "code_challenge_method", "S256");
  }
  for (const auto& [name, value] : flow.authorize_parameters) append_pair(query, name, value);
  return flow.authorize_url + "?" + query;
}

Callback parse_callback(std::string_view target, std::string_view path) {
  using Kind = Callback::Kind;
  if (target.size() > kLongestTarget) return bad(Kind::kBad, "The address is too long.");
  target = target.substr(0, target.find('#'));
  const auto question = std::min(target.find('?'), target.size());
  if (target.substr(0, question) != path) return bad(Kind::kForeign, "There is nothing at this address.");
  Parameters given;
  if (!given.read(target.substr(std::min(question + 1, target.size()))))
    return bad(Kind::kBad, "The address holds a parameter twice, or one that is no text of a service.");
  Callback callback;
  if (given.state) callback.state = *std::move(given.state);
  if (given.error) {
    callback.kind = Kind::kDenied;
    callback.message = why_denied(*given.error, given.description.value_or(""));
    return callback;
  }
  if (!given.code || given.code->empty())
    return bad(Kind::kBad, "The address holds no code. Open the service's page again and agree there.");
  callback.kind = Kind::kCode;
  callback.code = *std::move(given.code);
  return callback;
}

std::string_view target_of_address(std::string_view address) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!address.empty() && blank(address.back())) address.remove_suffix(1);
  while (!address.empty() && blank(address.front())) address.remove_prefix(1);
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!address.starts_with(scheme)) continue;
    address.remove_prefix(scheme.size());
    const auto slash = address.find('/');
    return slash == std::string_view::npos ? std::string_view() : address.substr(slash);
  }
  return {};
}

}  // namespace krux
