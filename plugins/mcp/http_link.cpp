#include "http_link.hpp"

#include <sodium.h>

#include <kruxos/kit/json.hpp>
#include <kruxos/kit/text.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

#include "events.hpp"

namespace mcp {
namespace {

using kruxos::ErrorKind;
using kruxos::HttpRequest;
using kruxos::HttpResponse;
using kruxos::ProxyError;

constexpr std::uint64_t kLargestAnswer = 2 * kLongestMessage;  // notifications may stand before it
constexpr std::size_t kLongestSession = 1024;
constexpr const char* kSessionHeader = "Mcp-Session-Id";

bool is_stream(const HttpResponse& response) {
  const auto* type = response.header("Content-Type");
  return type && kruxos::kit::lower_ascii(*type).starts_with("text/event-stream");
}

/// As the protocol has it for what cannot stand in a header as it is.
std::string header_value(const std::string& text) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::all_of(text.begin(), text.end(), plain) && !text.starts_with(' ') && !text.ends_with(' ') &&
      !text.starts_with("=?base64?"))
    return text;
  constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
  std::string coded(sodium_base64_encoded_len(text.size(), kVariant), '\0');
  sodium_bin2base64(coded.data(), coded.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                    kVariant);
  coded.resize(coded.size() - 1);
  return "=?base64?" + coded + "?=";
}

bool answers(const std::string& text, std::int64_t id) {
  const auto all = read_messages(text);
  return std::any_of(all.begin(), all.end(), [&](const Incoming& one) { return one.answers == id; });
}

std::optional<std::int64_t> retry_after_ms(const HttpResponse& response) {
  const auto* said = response.header("Retry-After");
  std::int64_t seconds = 0;
  if (!said || std::from_chars(said->data(), said->data() + said->size(), seconds).ec != std::errc())
    return std::nullopt;
  return std::clamp<std::int64_t>(seconds, 0, 7 * 86'400) * 1'000;
}

/// Of an answer that is none of the protocol: what its status says of the request.
[[noreturn]] void refuse_by_status(const HttpResponse& response) {
  const auto status = std::to_string(response.status);
  if (response.status == 401 || response.status == 403)
    throw ProxyError(ErrorKind::kAuth, "The server wants a token, or another one (HTTP " + status + ").").no_effect();
  if (response.status == 429) {
    ProxyError error(ErrorKind::kRateLimited, "The server refuses for now, for there were too many requests.");
    throw error.no_effect().retry_after_ms(retry_after_ms(response).value_or(-1));
  }
  if (response.status == 404)
    throw ProxyError(ErrorKind::kUnavailable, "The server knows this session or this address no more (HTTP 404).")
        .no_effect();
  // "See there what came of it": it may be done.
  if (response.status == 303)
    throw ProxyError(ErrorKind::kUnavailable,
                     "The server answered HTTP 303, which does not say whether it has done what it was asked to.");
  if (response.status >= 400 && response.status < 500)
    throw ProxyError(ErrorKind::kRefused, "The server refuses the request (HTTP " + status + ").").no_effect();
  if (response.status >= 300 && response.status < 400)
    throw ProxyError(ErrorKind::kRefused, "The server is at another address now (HTTP " + status +
                                              "): the operator wraps it again, by that one.")
        .no_effect();
  throw ProxyError(ErrorKind::kUnavailable, "The server answered HTTP " + status +
                                                ", which does not say whether it has done what it was asked to.");
}

}  // namespace

struct HttpLink::Said {
  HttpResponse head;               ///< its body is in `texts`
  std::vector<std::string> texts;  ///< JSON, one message or a batch each
};

HttpLink::Said HttpLink::post(const kruxos::Call& call, const Session& session, std::int64_t id, const Request& request,
                              std::string body) {
  HttpRequest http{"POST"};
  http.url = path_;
  http.body = std::move(body);
  http.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
  if (!session.agreed.version.empty()) http.headers.emplace_back("MCP-Protocol-Version", session.agreed.version);
  if (!session.id.empty()) http.headers.emplace_back(kSessionHeader, session.id);
  if (session.agreed.stateless) {
    http.headers.emplace_back("Mcp-Method", request.method);
    const auto params = kruxos::kit::parse(request.params_json);
    if (const auto name = kruxos::kit::text_of(params, "name"); !name.empty() && request.method == "tools/call")
      http.headers.emplace_back("Mcp-Name", header_value(std::string(name)));
  }
  http.only_reads = request.only_reads;
  http.max_response_bytes = kLargestAnswer;
  http.timeout_ms =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(call.deadline_ms() - call.now_ms(), 1, 600'000));
  std::string text;
  std::vector<std::string> events;
  Events stream_of;
  bool answered = false;
  auto result = http_.send(call, http, [&](std::string_view bytes) {
    text += bytes;
    for (auto& event : stream_of.add(bytes)) {
      answered = answered || answers(event, id);
      events.push_back(std::move(event));
    }
    return !(ends_no_stream_ && answered);
  });
  Said said{std::move(result.response), {}};
  const bool stream = is_stream(said.head);
  if (stream) said.texts = std::move(events);
  if (result.error && stream && answered) {
    // Servers should end the stream behind the answer. This one does not: it is not waited for again.
    ends_no_stream_ = true;
    return said;
  }
  if (result.error) {
    ProxyError error(*result.error, result.message);
    error.retry_after_ms(result.retry_after_ms);
    const bool unsent = *result.error == ErrorKind::kInvalid || *result.error == ErrorKind::kAuth ||
                        *result.error == ErrorKind::kRateLimited;
    throw unsent ? error.no_effect() : error;
  }
  if (!stream) said.texts = {std::move(text)};
  return said;
}

/// Nothing where there is no answer to that request.
std::optional<Answer> HttpLink::take(std::int64_t id, const Said& said) {
  std::optional<Answer> answer;
  for (const auto& text : said.texts) {
    if (text.empty()) continue;
    for (auto& one : read_messages(text)) {
      if (one.changes_tools()) ++tools_version_;
      if (one.answers == id && one.answer && !answer) answer = std::move(one.answer);
    }
  }
  return answer;
}

HttpLink::SessionPtr HttpLink::session(const kruxos::Call& call) {
  {
    const std::lock_guard lock(mutex_);
    if (session_) return session_;
  }
  // Two that begin at once begin two sessions, which costs less than one that waits for the other's.
  auto begun = std::make_shared<Session>();
  Handshake handshake;
  for (auto next = handshake.first(); next;) {
    const auto id = ++last_id_;
    const Request request{next->method, next->params_json, true};
    Session as = *begun;
    if (next->method == "server/discover") as.agreed = {std::string(kStatelessVersion), true};
    const auto said = post(call, as, id, request, request_message(id, next->method, next->params_json));
    auto answer = take(id, said);
    // A server without sessions may refuse the handshake by its head alone, in an answer to nobody's request.
    if (!answer && said.head.status == 400 && next->method == "initialize")
      answer = RpcError(kNoSuchMethod, "It takes no handshake.");
    if (!answer) {
      if (said.head.status != 200) refuse_by_status(said.head);
      throw ProxyError(ErrorKind::kUnavailable, "At this address no MCP server answers.").no_effect();
    }
    if (const auto* given = said.head.header(kSessionHeader); given && given->size() <= kLongestSession)
      begun->id = *given;
    next = handshake.take(*answer);
  }
  begun->agreed = handshake.agreed();
  if (!begun->agreed.stateless) {
    const Request initialized{"notifications/initialized", "{}", true};
    (void)post(call, *begun, 0, initialized, notification_message(initialized.method));
  }
  ++sessions_;
  ++tools_version_;
  const std::lock_guard lock(mutex_);
  return session_ = begun;
}

void HttpLink::drop(const SessionPtr& lost) {
  const std::lock_guard lock(mutex_);
  if (session_ == lost) session_.reset();
}

std::string HttpLink::answer_to(const kruxos::Call& call, const SessionPtr& session, const Request& request) {
  if (request.compared && *request.compared != tools_version_) throw NotCompared();
  const auto id = ++last_id_;
  const Request whole{request.method, with_meta(session->agreed, request.params_json), request.only_reads};
  const auto said = post(call, *session, id, whole, request_message(id, whole.method, whole.params_json));
  const auto answer = take(id, said);
  const auto status = said.head.status;
  // Of a session that they have forgotten some servers say 400, in an answer to nobody's request.
  const bool forgotten = status == 400 && !answer && !session->id.empty();
  if (forgotten || (status == 404 && !(answer && session->id.empty()))) {
    drop(session);
    throw ProxyError(ErrorKind::kUnavailable,
                     "The server knows this session or this address no more (HTTP " + std::to_string(status) + ").")
        .no_effect();
  }
  // What a status says of the token, or of too many requests, holds whatever stands in the body.
  if (status == 401 || status == 403 || status == 429) refuse_by_status(said.head);
  const auto* error = answer ? std::get_if<RpcError>(&*answer) : nullptr;
  if (error && status >= 400 && status < 500)
    throw ProxyError(ErrorKind::kRefused, "The server refuses it: " + std::string(error->what()))
        .type("ToolFailed")
        .no_effect();
  if (!answer && status != 200) refuse_by_status(said.head);
  return result_of(answer);
}

std::string HttpLink::ask(const kruxos::Call& call, const Request& request) {
  auto begun = session(call);
  try {
    return answer_to(call, begun, request);
  } catch (const ProxyError&) {
    const bool lost = [&] {
      const std::lock_guard lock(mutex_);
      return session_ != begun;
    }();
    // A session that the server has forgotten costs a read nothing. A write is never sent twice within one attempt.
    if (!lost || begun->id.empty() || !request.only_reads) throw;
  }
  return answer_to(call, session(call), request);
}

}  // namespace mcp
