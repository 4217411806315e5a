#include "core/sign_in/client_metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/net/url.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::string_view kHttp = "http://";

/// A redirect address on the loopback, without its port.
struct LoopbackRedirect {
  std::string host, rest;  ///< rest: path and query
  friend bool operator==(const LoopbackRedirect&, const LoopbackRedirect&) = default;
};

/// The host of the loopback that an address begins with, as it is written and whole: "localhost1" begins with none.
/// "localhost" is no literal address, and all the same what many programs name.
std::string_view loopback_host(std::string_view uri) {
  if (!uri.starts_with(kHttp)) return {};
  const auto rest = uri.substr(kHttp.size());
  for (const std::string_view host : {"localhost", "127.0.0.1", "[::1]"}) {
    if (!rest.starts_with(host)) continue;
    const auto after = rest.substr(host.size());
    if (after.empty() || after[0] == ':' || after[0] == '/' || after[0] == '?') return host;
  }
  return {};
}

std::optional<LoopbackRedirect> as_loopback(std::string_view uri) {
  const auto host = loopback_host(uri);
  if (host.empty()) return std::nullopt;
  try {
    const auto url = parse_url("http://127.0.0.1" + std::string(uri.substr(kHttp.size() + host.size())));
    return LoopbackRedirect{std::string(host), url.target()};
  } catch (const Error&) {
    return std::nullopt;
  }
}

void check_redirect(std::string_view uri) {
  if (uri.size() > kMostRedirectBytes)
    throw SignInRefused("invalid_redirect_uri",
                        fmt::format("A redirect address has at most {} bytes.", kMostRedirectBytes));
  if (as_loopback(uri)) return;
  try {
    if (parse_url(uri).scheme == "https") return;
  } catch (const Error&) {  // the sentence below says what is taken
  }
  throw SignInRefused("invalid_redirect_uri",
                      "A redirect address is an absolute https address without a fragment, or http to 127.0.0.1, [::1] "
                      "or localhost.");
}

std::string redirect_of(const JsonValue& uri) {
  if (!uri.IsString()) throw SignInRefused("invalid_redirect_uri", "Each of \"redirect_uris\" must be a text.");
  check_redirect(view(uri));
  return std::string(view(uri));
}

std::vector<std::string> redirects_of(const JsonValue& object, SaidIn said_in) {
  const auto* uris = find_member(object, "redirect_uris");
  if (!uris || !uris->IsArray() || uris->Empty() || uris->Size() > kMostRedirects)
    throw SignInRefused("invalid_redirect_uri",
                        fmt::format("\"redirect_uris\" must be a list of 1 to {} addresses.", kMostRedirects));
  std::vector<std::string> all;
  std::optional<SignInRefused> first;
  for (const auto& uri : uris->GetArray()) {
    try {
      all.push_back(redirect_of(uri));
    } catch (const SignInRefused& why) {
      if (!first) first = why;
    }
  }
  if (first && (all.empty() || said_in == SaidIn::kRegistration)) throw SignInRefused(*first);
  return all;
}

std::string name_of(const JsonValue& object, SaidIn said_in) {
  const auto* given = find_member(object, "client_name");
  if (given && (!given->IsString() || given->GetStringLength() > kMostClientNameBytes))
    throw SignInRefused("invalid_client_metadata",
                        fmt::format("\"client_name\" must be a text of at most {} bytes.", kMostClientNameBytes));
  auto name = given ? plain_line(view(*given)) : std::string();
  if (name.empty() && said_in == SaidIn::kDocument)
    throw SignInRefused("invalid_client_metadata",
                        "The client's document has no \"client_name\", which the page would show: it must be a text "
                        "that can be read.");
  return name;
}

/// A list of texts that, where it is given, has this one.
void check_has(const JsonValue& object, const char* name, std::string_view wanted) {
  const auto* list = find_member(object, name);
  if (!list) return;
  const bool has = list->IsArray() && std::any_of(list->Begin(), list->End(), [&](const JsonValue& item) {
                     return item.IsString() && view(item) == wanted;
                   });
  if (!has)
    throw SignInRefused("invalid_client_metadata", fmt::format("\"{}\" must be a list with \"{}\".", name, wanted));
}

}  // namespace

ClientMetadata client_metadata(const JsonValue& object, SaidIn said_in) {
  if (!object.IsObject()) throw SignInRefused("invalid_client_metadata", "It must be a JSON object.");
  ClientMetadata metadata;
  metadata.redirect_uris = redirects_of(object, said_in);
  metadata.name = name_of(object, said_in);
  check_has(object, "grant_types", "authorization_code");
  check_has(object, "response_types", "code");
  return metadata;
}

bool redirect_fits(const ClientMetadata& client, std::string_view asked) {
  const auto& own = client.redirect_uris;
  if (std::find(own.begin(), own.end(), asked) != own.end()) return true;
  if (asked.size() > kMostRedirectBytes) return false;
  const auto loopback = as_loopback(asked);
  return loopback &&
         std::any_of(own.begin(), own.end(), [&](const std::string& uri) { return as_loopback(uri) == loopback; });
}

bool is_loopback_redirect(std::string_view redirect_uri) {
  return as_loopback(redirect_uri).has_value();
}

std::string redirect_host(std::string_view redirect_uri) {
  const auto begin = redirect_uri.find("//") + 2;  // it was checked
  return std::string(redirect_uri.substr(begin, redirect_uri.find_first_of("/?", begin) - begin));
}

}  // namespace krux
