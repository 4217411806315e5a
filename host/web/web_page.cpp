#include "host/web/web_page.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <charconv>

#include "core/util/error.hpp"
#include "core/util/json_parts.hpp"
#include "core/util/text.hpp"
#include "host/gateway/foreign_requests.hpp"
#include "host/web/page_decisions.hpp"
#include "host/web/page_list.hpp"
#include "host/web/page_text.hpp"
#include "host/web/page_write.hpp"

namespace krux::web {
namespace {

constexpr std::string_view kSessions = "/s/", kSignIn = "/sign-in";
constexpr std::size_t kAddressChars = 32, kMostSignInBytes = 8 * 1024;
constexpr int kThreads = 4;
constexpr std::size_t kMostQueued = 64;

std::string cookie_name(const std::string& address) {
  return "kruxos_" + address.substr(0, 8);
}

/// By which other sites' pages are told: a browser names the origin of each form that it sends.
bool is_own_form(const ServerRequest& head) {
  const auto origin = head.header("origin"), host = head.header("host"), site = head.header("sec-fetch-site");
  if (site && *site != "same-origin") return false;
  return origin && host && *origin == fmt::format("http://{}", *host);
}

std::optional<std::size_t> content_length(const ServerRequest& head) {
  const auto text = head.header("content-length").value_or("");
  std::size_t length = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), length);
  return !text.empty() && result.ec == std::errc() && result.ptr == text.data() + text.size() ? std::optional(length)
                                                                                              : std::nullopt;
}

ServerResponse refusal(int status, const std::string& sentence) {
  return page(status, "Not here", fmt::format("<h1>Not here</h1><p>{}</p>", shown(sentence, 1000)), {});
}

}  // namespace

/// A session's request, its path taken apart.
struct WebPage::Asked {
  WebSessions::Keys keys;
  std::string rest;  ///< behind the session's address: "", "writes/w_1", "writes/w_1/accept", "events", "end"

  static std::optional<Asked> of(const ServerRequest& request) {
    const std::string_view path = request.path;
    if (!path.starts_with(kSessions) || path.size() < kSessions.size() + kAddressChars + 1) return std::nullopt;
    Asked asked;
    asked.keys.address = path.substr(kSessions.size(), kAddressChars);
    if (path[kSessions.size() + kAddressChars] != '/') return std::nullopt;
    asked.keys.cookie = request.cookie(cookie_name(asked.keys.address)).value_or("");
    asked.rest = path.substr(kSessions.size() + kAddressChars + 1);
    return asked;
  }
  PagePlace place() const { return {fmt::format("{}{}/", kSessions, keys.address), {}, {}}; }
  PagePlace place(const WebSessions::Session& session) const {
    return {place().base, session.token, session.owner.name};
  }
};

WebPage::WebPage(Parts parts)
    : parts_(parts),
      sessions_(parts_.secret, parts_.clock, parts_.sessions),
      changes_(parts_.clock),
      pool_(kThreads, kMostQueued) {}

WebPage::~WebPage() {
  changes_.stop();
}

Handler WebPage::handler() {
  return [this](ServerRequest request, const Respond& respond) { take(std::move(request), respond); };
}

Admission WebPage::admission() {
  return [this](const ServerRequest& head) -> std::variant<Admitted, Refused> {
    if (auto refused = refuse(head)) return Refused{std::move(*refused)};
    return Admitted{};
  };
}

std::function<void(const WriteRecord&)> WebPage::on_write_changed() {
  return [this](const WriteRecord&) { changes_.changed(); };
}

std::optional<ServerResponse> WebPage::refuse(const ServerRequest& head) {
  const auto host = head.header("host");
  if (!host || named_host(*host, {}) != NamedHost::kLoopback)
    return refusal(403, "This page is for its own machine: open it at 127.0.0.1 or localhost.");
  if (head.method == "GET") return std::nullopt;
  if (head.method != "POST") {
    auto response = refusal(405, "Pages are loaded, and forms are posted; nothing else is taken.");
    response.headers.emplace_back("Allow", "GET, HEAD, POST");
    return response;
  }
  if (!is_own_form(head)) return refusal(403, "This form was not sent by a page of this host. Nothing was done.");
  if (head.header("content-type").value_or("") != "application/x-www-form-urlencoded")
    return refusal(415, "Forms are taken, and nothing else.");
  const auto length = content_length(head);
  if (!length) return refusal(411, "The form does not say how long it is.");
  if (head.path == kSignIn) {
    if (*length > kMostSignInBytes) return refusal(413, "This is longer than any passphrase.");
    return std::nullopt;
  }
  const auto asked = Asked::of(head);
  if (!asked || !sessions_.use(asked->keys, WebSessions::Use::kByScript))
    return sign_in_page(403, {NoticeKind::kLook, "You were signed out meanwhile, and nothing was done. Sign in again."},
                        {}, parts_.secret.list().size());
  return std::nullopt;
}

void WebPage::take(ServerRequest request, const Respond& respond) {
  // Looked at once more: what is not refused here would be refused nowhere if a listener had no admission.
  if (auto refused = refuse(request)) return respond(std::move(*refused));
  if (request.method == "GET") {
    if (request.path == "/page.css") return respond(file_answer("text/css; charset=utf-8", kPageCSS));
    if (request.path == "/page.js") return respond(file_answer("text/javascript; charset=utf-8", kPageJS));
    if (request.path == "/" || !next_of(request.path).empty())
      return respond(sign_in_page(200, {}, next_of(request.path), parts_.secret.list().size()));
  }
  const auto asked = Asked::of(request);
  if (!asked && !(request.method == "POST" && request.path == kSignIn))
    return respond(refusal(404, "There is no such page."));
  const auto shared = std::make_shared<ServerRequest>(std::move(request));
  const bool taken = pool_.run([this, shared, asked, respond] {
    respond(answered([&] { return asked ? in_session(*asked, *shared) : sign_in(*shared); },
                     asked ? asked->place() : PagePlace{}));
  });
  if (!taken) respond(refusal(503, "Too much waits already. Load it again in a moment."));
}

ServerResponse WebPage::answered(const std::function<ServerResponse()>& work, const PagePlace& place) const {
  try {
    return work();
  } catch (const Error& error) {
    const auto back = place.base.empty() ? "/" : place.base;
    return page(
        error.type().facts().http_status, "Not done",
        fmt::format("<h1>Not done</h1><p class=\"notice look\" role=\"alert\">{}</p><p><a href=\"{}\">All writes"
                    "</a></p>",
                    shown(error.what(), 2000), back),
        {});
  } catch (const std::exception& error) {
    spdlog::error("a page failed: {}", error.what());
    return refusal(500, "The host could not do this. Its log says more.");
  }
}

ServerResponse WebPage::sign_in(ServerRequest& request) {
  const auto form = [&] {
    auto passphrase = take_passphrase(request.body);
    return std::pair(std::move(passphrase), FormValues::parse(request.body));
  };
  auto [passphrase, values] = form();
  const auto next = values ? next_of(values->get("next")) : std::string();
  const auto again = [&](int status, const std::string& sentence) {
    return sign_in_page(status, {NoticeKind::kLook, sentence}, next, parts_.secret.list().size());
  };
  if (!passphrase) return again(400, "No passphrase was given.");
  const auto name = values ? values->get("operator") : std::string();
  OperatorSecret::Known known;
  try {
    known = parts_.secret.check(*passphrase, OperatorSecret::Place::kPage, name);
  } catch (const Error& error) {
    const auto wait = (parts_.secret.wait_ms(OperatorSecret::Place::kPage) + 999) / 1000;
    const bool early = error.type().code() == ErrorCode::kRateLimited;
    return again(early ? 429 : 403, early || wait == 0
                                        ? std::string(error.what())
                                        : fmt::format("The {}passphrase is wrong. The next try is possible "
                                                      "in {} s.",
                                                      name.empty() ? "" : "name or ", wait));
  }
  const auto keys = sessions_.begin(known);
  spdlog::info("{} has signed in on the page", operator_who(known.name));
  auto response = go_to(fmt::format("{}{}{}", kSessions, keys.address, next.empty() ? "/" : next));
  response.headers.emplace_back(
      "Set-Cookie", fmt::format("{}={}; Path={}{}/; HttpOnly; SameSite=Strict", cookie_name(keys.address), keys.cookie,
                                kSessions, keys.address));
  return response;
}

ServerResponse WebPage::in_session(const Asked& asked, const ServerRequest& request) {
  const bool by_script = asked.rest == "events" || query_value(request.query, "live") == "1";
  const auto session = sessions_.use(asked.keys, by_script ? WebSessions::Use::kByScript : WebSessions::Use::kByPerson);
  if (!session)
    return go_to(asked.rest.starts_with("writes/") && !next_of("/" + asked.rest).empty() ? "/" + asked.rest : "/");
  if (request.method == "POST") return decide_on(asked, *session, request);
  const auto place = asked.place(*session);
  const auto now = parts_.clock.wall_ms();
  if (asked.rest.empty()) {
    const auto done = query_value(request.query, "done");
    return list_page(parts_.api, place, done ? done_notice(parts_.api, *done) : Notice{}, now);
  }
  if (asked.rest == "events") return events(asked.keys);
  if (const auto id = next_of("/" + asked.rest); !id.empty()) {
    const auto document = write_of(parts_.api, asked.rest.substr(asked.rest.find('/') + 1));
    const auto extent = query_value(request.query, "whole") == "1" ? Extent::kWhole : Extent::kShort;
    return write_page(part(document, "write"), place, extent, {}, now);
  }
  throw not_found("There is no such page.");
}

ServerResponse WebPage::decide_on(const Asked& asked, const WebSessions::Session& session,
                                  const ServerRequest& request) {
  const auto& token = session.token;
  const DecidingOperator by(operator_who(session.owner.name), session.owner.operator_id);
  const auto form = FormValues::parse(request.body);
  if (!form) throw invalid_input("The form is no form, or has too many fields. Nothing was done.");
  if (!equal_constant_time(form->get("token"), token))
    throw Error(ErrorCode::kPolicyDenied,
                "This form is none of this session's pages. Nothing was done; load the page again.");
  if (asked.rest == "end") {
    sessions_.end(asked.keys.address);
    return go_to("/");
  }
  constexpr std::string_view standing = "standing/", end = "/end";
  if (asked.rest.starts_with(standing) && asked.rest.ends_with(end) &&
      asked.rest.size() > standing.size() + end.size()) {
    const auto id = asked.rest.substr(standing.size(), asked.rest.size() - standing.size() - end.size());
    parts_.api.end_standing_approval(id, by.who);
    return go_to(asked.place().base);
  }
  const auto action_at = asked.rest.rfind('/');
  const auto of_write = action_at == std::string::npos ? std::string() : asked.rest.substr(0, action_at);
  if (next_of("/" + of_write).empty()) throw not_found("There is no such form.");
  const Decider decider{parts_.api, asked.place(session), by, parts_.clock.wall_ms()};
  return decide(decider, of_write.substr(of_write.find('/') + 1), asked.rest.substr(action_at + 1), *form);
}

ServerResponse WebPage::events(const WebSessions::Keys& keys) {
  ServerResponse response;
  response.content_type = "text/event-stream";
  response.stream = [this, keys](std::shared_ptr<ResponseStream> stream) {
    changes_.add(stream, [this, keys] { return sessions_.use(keys, WebSessions::Use::kByScript).has_value(); });
    stream->send("retry: 3000\n\n");  // last: who reads it misses nothing from then on
  };
  return response;
}

}  // namespace krux::web
