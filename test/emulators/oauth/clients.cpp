// Clients as they are described on the command line and by tests.
#include <algorithm>

#include "emulators/oauth/provider.hpp"

namespace krux::test::oauth {
namespace {

std::optional<ClientKind> read_kind(const std::string& text) {
  if (text == "desktop") return ClientKind::desktop;
  if (text == "web") return ClientKind::web;
  if (text == "classic") return ClientKind::classic;
  if (text == "pkce") return ClientKind::pkce;
  return std::nullopt;
}

bool take(Client& client, const std::string& name, const std::string& value, std::string& problem) {
  if (name == "id") return client.id = value, true;
  if (name == "secret") return client.secret = value, true;
  if (name == "rotation") return client.rotation = true;
  if (name == "redirect") {
    if (!parse_address(value)) return problem = "redirect is an absolute address without a fragment", false;
    return client.redirects.push_back(value), true;
  }
  if (name == "kind") {
    const auto kind = read_kind(value);
    if (!kind) return problem = "kind is desktop, web, classic or pkce", false;
    return client.kind = *kind, true;
  }
  return problem = "a client has id, secret, kind, redirect and rotation, not '" + name + "'", false;
}

}  // namespace

std::vector<std::string> default_clients(Flavour flavour) {
  if (flavour == Flavour::google) {
    return {"id=krux-test.apps.googleusercontent.com,secret=GOCSPX-krux-test,kind=desktop"};
  }
  return {"id=1111.2222,secret=classic-secret,kind=classic,redirect=https://localhost:8081/oauth/callback",
          "id=3333.4444,secret=public-secret,kind=pkce,redirect=http://localhost:8081/oauth/callback"};
}

std::optional<Client> read_client(const std::string& description, std::string& problem) {
  Client client;
  std::size_t at = 0;
  while (at < description.size()) {
    const std::size_t end = std::min(description.find(',', at), description.size());
    const std::string part = description.substr(at, end - at);
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string value = equals < part.size() ? part.substr(equals + 1) : "";
    if (!take(client, part.substr(0, equals), value, problem)) return std::nullopt;
    at = end + 1;
  }
  if (client.id.empty()) return problem = "a client needs an id", std::nullopt;
  return client;
}

}  // namespace krux::test::oauth
