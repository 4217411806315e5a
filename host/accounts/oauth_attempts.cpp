#include "host/accounts/oauth_attempts.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <condition_variable>
#include <thread>

#include "core/net/url.hpp"
#include "core/oauth/authorization.hpp"
#include "core/oauth/pkce.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "host/accounts/own_host.hpp"
#include "host/http/html_page.hpp"
#include "host/http/http_server.hpp"

namespace krux {
namespace {

constexpr std::int64_t kGraceMs = 2'000;  // for the page that says how it ended

HttpLimits callback_limits() {
  HttpLimits limits;
  limits.body_bytes = 1024;
  limits.connections = 32;
  limits.header_ms = 5'000;
  limits.body_ms = 5'000;
  limits.idle_ms = 5'000;
  limits.write_ms = 10'000;
  return limits;
}

std::string path_of(const std::string& url) {
  return url.empty() ? std::string(kCallbackPath) : parse_url(url).path;
}

}  // namespace

struct OAuthAttempts::Attempt : std::enable_shared_from_this<Attempt> {
  enum class Phase { kWaiting, kFinishing, kConnected, kFailed };

  Attempt(Clock& c, const Finish& f, OAuthPlan p) : clock(c), finish(f), plan(std::move(p)) {}

  Clock& clock;
  const Finish& finish;
  const OAuthPlan plan;
  const std::string id = "oauth_" + random_hex(12);
  const Secret state = random_text(), verifier = random_text();
  std::string path, own_host;  ///< of the redirect address; own_host where it is the configuration's
  std::string redirect_uri, authorize_url, not_listening;
  std::int64_t expires_at_ms = 0, expires_boot_ms = 0;
  std::thread thread;

  std::mutex mutex;  ///< over what follows
  std::condition_variable changed;
  Phase phase = Phase::kWaiting;
  bool listens = false;  ///< or has found out that it cannot
  std::string message;
  std::optional<Error> refusal;  ///< why it could not begin
  Secret code;
  std::vector<Respond> browsers;  ///< that wait for the end
  std::optional<Connected> connected;

  void run();
  std::uint16_t listen(HttpServer& server);
  void name_addresses(std::uint16_t port);
  void serve(const ServerRequest& request, const Respond& respond);
  std::optional<Error> take(Callback callback, const Respond& respond);
  void fail(const std::string& why);
  void finish_up();
  void tell_browsers();
  OAuthAttemptView view();
};

/// Throws krux::Error ConflictError.
std::uint16_t OAuthAttempts::Attempt::listen(HttpServer& server) {
  if (plan.redirect_uri.starts_with("https://")) {
    not_listening = "The browser will end at an address that does not load here: paste that address.";
    return 0;
  }
  const auto handler = [weak = weak_from_this()](const ServerRequest& request, const Respond& respond) {
    if (const auto self = weak.lock()) self->serve(request, respond);
  };
  try {
    return server.listen_tcp("127.0.0.1", plan.callback_port, handler, callback_limits()).port;
  } catch (const ConfigError& error) {
    if (!plan.redirect_uri.empty()) {
      not_listening = error.what();
      return 0;
    }
    if (!plan.flow.any_port)
      throw conflict(
          fmt::format("Port {} is taken, and the app's redirect address names it. End what uses it, or set "
                      "services.{}.oauth.callback_port and the app's redirect address to another one.",
                      plan.callback_port, plan.definition->service));
  }
  return server.listen_tcp("127.0.0.1", 0, handler, callback_limits()).port;
}

void OAuthAttempts::Attempt::name_addresses(std::uint16_t port) {
  path = path_of(plan.redirect_uri);
  if (!plan.redirect_uri.empty()) own_host = parse_url(plan.redirect_uri).host;
  redirect_uri = plan.redirect_uri.empty() ? fmt::format("http://{}:{}{}", plan.flow.redirect_host, port, path)
                                           : plan.redirect_uri;
  authorize_url = authorize_address(
      plan.flow, {plan.client_id, redirect_uri, plan.profile.scopes, state.reveal(), verifier.reveal()});
}

void OAuthAttempts::Attempt::run() {
  HttpServer server(1, HttpServer::Begin::kLater);
  try {
    const auto port = listen(server);
    const std::lock_guard lock(mutex);
    name_addresses(port);
  } catch (const Error& error) {
    const std::lock_guard lock(mutex);
    refusal = error;
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex);
    refusal = Error(ErrorCode::kServiceUnavailable, error.what(), true);
  }
  {
    std::unique_lock lock(mutex);
    listens = true;
    if (refusal) phase = Phase::kFailed;
    changed.notify_all();
    if (refusal) return;
  }
  server.serve();
  {
    std::unique_lock lock(mutex);
    clock.wait_until(lock, changed, expires_boot_ms, [this] { return phase != Phase::kWaiting; });
    if (phase == Phase::kWaiting) {
      phase = Phase::kFailed;
      message = "Nobody agreed in the browser within ten minutes. Begin again.";
    }
  }
  finish_up();
  tell_browsers();
  server.stop(kGraceMs);
}

void OAuthAttempts::Attempt::finish_up() {
  {
    const std::lock_guard lock(mutex);
    if (phase != Phase::kFinishing) return;
  }
  std::optional<Connected> result;
  std::string why;
  try {
    result = finish(plan, redirect_uri, code, verifier);
  } catch (const std::exception& error) {
    why = error.what();
  }
  const std::lock_guard lock(mutex);
  code = Secret();
  phase = result ? Phase::kConnected : Phase::kFailed;
  connected = std::move(result);
  message = why;
  changed.notify_all();
}

void OAuthAttempts::Attempt::tell_browsers() {
  std::vector<Respond> waiting;
  ServerResponse page;
  {
    const std::lock_guard lock(mutex);
    waiting.swap(browsers);
    page = connected ? text_page(200, "Connected",
                                 fmt::format("{} is connected as {}. You can close this window.",
                                             plan.definition->display_name, connected->connection.display_name))
                     : text_page(400, "Not connected", printable(message));
  }
  for (const auto& respond : waiting) respond(page);
}

void OAuthAttempts::Attempt::fail(const std::string& why) {
  const std::lock_guard lock(mutex);
  if (phase != Phase::kWaiting) return;
  phase = Phase::kFailed;
  message = why;
  changed.notify_all();
}

/// Why the callback is not taken; the attempt goes on then. With `respond` the browser is told how it ends.
std::optional<Error> OAuthAttempts::Attempt::take(Callback callback, const Respond& respond) {
  using Kind = Callback::Kind;
  if (callback.kind == Kind::kForeign || callback.kind == Kind::kBad) return invalid_input(callback.message);
  const std::lock_guard lock(mutex);
  if (!equal_constant_time(callback.state.reveal(), state.reveal()))
    return invalid_input(
        "This answer belongs to another attempt. Open the address that the command showed last, and use what comes of "
        "it.");
  if (phase != Phase::kWaiting) return conflict("This attempt has been answered already.");
  if (callback.kind == Kind::kDenied) {
    phase = Phase::kFailed;
    message = callback.message + " Nothing was stored.";
  } else {
    phase = Phase::kFinishing;
    code = std::move(callback.code);
  }
  if (respond) browsers.push_back(respond);
  changed.notify_all();
  return std::nullopt;
}

void OAuthAttempts::Attempt::serve(const ServerRequest& request, const Respond& respond) {
  if (!is_host_of_ours(request.header("host").value_or(""), own_host))
    return respond(text_page(403, "Not connected", "This address is for 127.0.0.1 alone."));
  // What only looks whether a page is there, as a link's preview does, must not use the code up.
  if (request.method != "GET" || request.head_alone)
    return respond(text_page(405, "Not connected", "This address takes nothing but the browser's way back."));
  auto target = request.path + (request.query.empty() ? "" : "?" + request.query);
  auto callback = parse_callback(target, path);
  sodium_memzero(target.data(), target.size());
  const bool foreign = callback.kind == Callback::Kind::kForeign;
  const auto problem = take(std::move(callback), respond);
  if (!problem) return;
  const int status = foreign ? 404 : problem->type() == ErrorCode::kConflictError ? 409 : 400;
  respond(text_page(status, foreign ? "Nothing here" : "Not connected", problem->what()));
}

OAuthAttemptView OAuthAttempts::Attempt::view() {
  const std::lock_guard lock(mutex);
  OAuthAttemptView view;
  view.attempt_id = id;
  view.service = plan.definition->service;
  view.profile = plan.profile.name;
  view.flow = plan.flow.name;
  view.state = phase == Phase::kWaiting     ? "waiting"
               : phase == Phase::kFinishing ? "finishing"
               : phase == Phase::kConnected ? "connected"
                                            : "failed";
  view.message = message;
  view.authorize_url = authorize_url;
  view.redirect_uri = redirect_uri;
  view.not_listening = not_listening;
  view.expires_at_ms = expires_at_ms;
  view.connected = connected;
  return view;
}

OAuthAttempts::~OAuthAttempts() {
  stop();
  for (const auto& attempt : ended_) {
    if (attempt->thread.joinable()) attempt->thread.join();
  }
}

OAuthAttemptView OAuthAttempts::begin(OAuthPlan plan) {
  const std::lock_guard lock(mutex_);
  if (stopped_) throw Error(ErrorCode::kServiceUnavailable, "The host stops. Try again when it runs.", true);
  const auto service = plan.definition->service;
  if (const auto before = by_service_.find(service); before != by_service_.end()) {
    before->second->fail("Another attempt was begun.");
    // Its port is free once its thread has ended; one that is finishing keeps its own.
    if (before->second->view().state == "finishing")
      throw conflict(
          fmt::format("An account of {} is being connected just now. Try again when that has ended.", service));
    if (before->second->thread.joinable()) before->second->thread.join();
    by_service_.erase(before);
  }
  auto attempt = std::make_shared<Attempt>(clock_, finish_, std::move(plan));
  attempt->expires_at_ms = clock_.wall_ms() + kLifeMs;
  attempt->expires_boot_ms = clock_.boot_ms() + kLifeMs;
  attempt->thread = std::thread([raw = attempt.get()] { raw->run(); });
  {
    std::unique_lock waiting(attempt->mutex);
    attempt->changed.wait(waiting, [&] { return attempt->listens; });
  }
  if (attempt->refusal) {
    attempt->thread.join();
    throw Error(*attempt->refusal);
  }
  by_service_[service] = attempt;
  return attempt->view();
}

std::shared_ptr<OAuthAttempts::Attempt> OAuthAttempts::find(const std::string& service, const std::string& attempt_id) {
  const std::lock_guard lock(mutex_);
  const auto at = by_service_.find(service);
  if (at == by_service_.end() || at->second->id != attempt_id)
    throw Error(ErrorCode::kNotFound,
                fmt::format("There is no such attempt, or another one was begun since. Begin again: kruxos "
                            "connect {}",
                            printable(service)));
  return at->second;
}

OAuthAttemptView OAuthAttempts::get(const std::string& service, const std::string& attempt_id) {
  return find(service, attempt_id)->view();
}

OAuthAttemptView OAuthAttempts::answer(const std::string& service, const std::string& attempt_id,
                                       std::string_view address) {
  const auto attempt = find(service, attempt_id);
  const auto target = target_of_address(address);
  if (target.empty())
    throw invalid_input(fmt::format("This is no address. Paste the whole line of the browser, which begins with {}",
                                    attempt->view().redirect_uri));
  if (const auto problem = attempt->take(parse_callback(target, attempt->path), {})) throw Error(*problem);
  return attempt->view();
}

OAuthAttemptView OAuthAttempts::cancel(const std::string& service, const std::string& attempt_id) {
  const auto attempt = find(service, attempt_id);
  attempt->fail("It was given up.");
  return attempt->view();
}

void OAuthAttempts::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const auto& [service, attempt] : by_service_) {
    attempt->fail("The host stops.");
    ended_.push_back(attempt);
  }
  by_service_.clear();
}

}  // namespace krux
