#include "emulators/oauth/provider.hpp"

#include <algorithm>
#include <stdexcept>

#include "emulators/common/text.hpp"
#include "emulators/oauth/world.hpp"

namespace krux::test::oauth {
namespace {

using emulator::HttpRequest;
using emulator::Performed;

// What the journal must not show: whoever has one of these could use it.
const char* const kSecretFields[] = {"code",  "code_verifier", "client_secret", "refresh_token",
                                     "token", "state",         "code_challenge"};

enum class Endpoint { authorize, authorize_user, token, user_token, revoke };

struct Path {
  const char* path;
  const char* method;
  Endpoint endpoint;
};

const Path kGooglePaths[] = {
    {"/o/oauth2/v2/auth", "oauth2.auth", Endpoint::authorize},
    {"/token", "oauth2.token", Endpoint::token},
    {"/revoke", "oauth2.revoke", Endpoint::revoke},
};

const Path kSlackPaths[] = {
    {"/oauth/v2/authorize", "oauth.v2.authorize", Endpoint::authorize},
    {"/oauth/v2_user/authorize", "oauth.v2_user.authorize", Endpoint::authorize_user},
    {"/api/oauth.v2.access", "oauth.v2.access", Endpoint::token},
    {"/api/oauth.v2.user.access", "oauth.v2.user.access", Endpoint::user_token},
};

const Path* find_path(Flavour flavour, const std::string& path) {
  const auto fits = [&](const Path& known) { return path == known.path; };
  if (flavour == Flavour::google) {
    auto found = std::find_if(std::begin(kGooglePaths), std::end(kGooglePaths), fits);
    return found == std::end(kGooglePaths) ? nullptr : found;
  }
  auto found = std::find_if(std::begin(kSlackPaths), std::end(kSlackPaths), fits);
  return found == std::end(kSlackPaths) ? nullptr : found;
}

bool is_page(Endpoint endpoint) {
  return endpoint == Endpoint::authorize || endpoint == Endpoint::authorize_user;
}

Performed method_not_allowed() {
  Performed performed{{}, "method_not_allowed"};
  performed.http.status = 405;
  performed.http.body = R"({"error":"method_not_allowed"})";
  return performed;
}

std::string from_base64(const std::string& text) {
  std::string bytes;
  unsigned value = 0;
  int bits = 0;
  for (const char c : text) {
    static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string::npos) break;
    value = (value << 6 | static_cast<unsigned>(digit)) & 0xffffff;
    if ((bits += 6) < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(value >> bits & 0xff);
  }
  return bytes;
}

emulator::CallRecord record_of(const HttpRequest& request, const Path& path, const Fields& fields) {
  emulator::CallRecord record;
  record.verb = request.method;
  record.method = path.method;
  record.encoding = request.method == "POST" ? "form" : "query";
  record.params = fields;
  for (const char* name : kSecretFields) record.params.erase(name);
  const bool basic = emulator::lower(request.header("authorization")).rfind("basic ", 0) == 0;
  record.token_from = basic ? "basic" : fields.count("client_secret") != 0 ? "form" : "none";
  return record;
}

Performed serve(World& world, Endpoint endpoint, const HttpRequest& request, const Fields& fields) {
  const bool posted = request.method == "POST";
  if (is_page(endpoint) ? request.method != "GET" && !posted : !posted) return method_not_allowed();
  if (is_page(endpoint)) return authorize(world, fields, posted, endpoint == Endpoint::authorize_user, request.path);
  const Caller caller = read_caller(fields, request.header("authorization"));
  if (endpoint == Endpoint::revoke) return google_revoke(world, fields);
  if (world.flavour == Flavour::google) return google_token(world, fields, caller);
  return slack_access(world, fields, caller, endpoint == Endpoint::user_token);
}

}  // namespace

Caller read_caller(const Fields& form, const std::string& authorization) {
  Caller caller;
  if (auto id = form.find("client_id"); id != form.end()) caller.id = id->second;
  if (auto secret = form.find("client_secret"); secret != form.end()) {
    caller.secret = secret->second;
    caller.has_secret = true;
  }
  if (emulator::lower(authorization.substr(0, 6)) != "basic ") return caller;
  const std::string both = from_base64(authorization.substr(6));
  const std::size_t colon = both.find(':');
  if (colon == std::string::npos) return caller;
  const auto id = emulator::decode_form_component(both.substr(0, colon));
  const auto secret = emulator::decode_form_component(both.substr(colon + 1));
  return {id.value_or(""), secret.value_or(""), true};
}

std::optional<std::string> wanted_refusal(World& world) {
  std::int64_t& left = world.behaviour.refuse_refreshes;
  if (left == 0) return std::nullopt;
  if (left > 0) --left;
  return world.behaviour.refresh_error;
}

Provider::Provider(ProviderSettings settings, const emulator::EmulatorClock& clock)
    : settings_(std::move(settings)), clock_(clock) {
  if (settings_.clients.empty()) settings_.clients = default_clients(settings_.flavour);
  reset();
}

Provider::~Provider() = default;

void Provider::reset() {
  auto world = std::make_unique<World>(settings_.flavour, clock_);
  world->people = settings_.people;
  world->known_scopes = settings_.known_scopes;
  world->bot_user = settings_.bot_user;
  world->app_id = settings_.app_id;
  if (settings_.flavour == Flavour::slack) {
    world->behaviour.access_seconds = 43200;
    world->behaviour.grace_ms = 60'000;
  }
  for (const std::string& description : settings_.clients) {
    std::string problem;
    const auto client = read_client(description, problem);
    if (!client) throw std::invalid_argument(problem);
    world->clients.push_back(*client);
  }
  world_ = std::move(world);
}

const std::vector<std::string>& Provider::methods(Flavour flavour) {
  static const auto names = [](const auto& paths) {
    std::vector<std::string> all;
    for (const Path& path : paths) all.emplace_back(path.method);
    return all;
  };
  static const std::vector<std::string> google = names(kGooglePaths), slack = names(kSlackPaths);
  return flavour == Flavour::google ? google : slack;
}

std::optional<Provider::Route> Provider::route(const HttpRequest& request) {
  const Path* path = find_path(settings_.flavour, request.path);
  if (!path) return std::nullopt;
  Fields fields = emulator::decode_form(request.query);
  const std::string type = emulator::lower(request.header("content-type"));
  if (request.method == "POST" && type.rfind("application/x-www-form-urlencoded", 0) == 0) {
    for (auto& [name, value] : emulator::decode_form(request.body)) fields[name] = value;
  }
  Route route{record_of(request, *path, fields), nullptr};
  route.work = [this, endpoint = path->endpoint, request, fields] { return serve(*world_, endpoint, request, fields); };
  return route;
}

TokenInfo Provider::find(const std::string& token) const {
  TokenInfo info;
  const AccessLookup access = world_->grants.find(token, clock_.now_ms());
  info.state = access.state;
  const Grant* grant = access.grant;
  if (!grant && (grant = world_->grants.grant_of_refresh(token))) {
    info.is_refresh = true;
    const RefreshState state = world_->grants.refresh_state(token, clock_.now_ms());
    info.state = state == RefreshState::fresh || state == RefreshState::in_grace ? TokenState::live
                 : state == RefreshState::expired                                ? TokenState::expired
                                                                                 : TokenState::revoked;
  }
  if (!grant) return info;
  info.speaker = grant->speaker;
  info.person = grant->person;
  info.scopes = grant->scopes;
  info.client = grant->client;
  return info;
}

bool Provider::revoke(const std::string& token) {
  return slack_revoke(*world_, token);
}

}  // namespace krux::test::oauth
