#include "emulators/mcp/http.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>

#include "emulators/common/json_out.hpp"

namespace krux::test::mcp_server {
namespace {

using emulator::HttpAnswer;
using emulator::HttpRequest;
using emulator::JsonOut;
using emulator::Responder;

HttpAnswer plain(int status, std::string text) {
  HttpAnswer answer;
  answer.status = status;
  answer.content_type = "text/plain; charset=utf-8";
  answer.body = std::move(text);
  return answer;
}

HttpAnswer json(std::string text) {
  HttpAnswer answer;
  answer.content_type = "application/json";
  answer.body = std::move(text);
  return answer;
}

HttpAnswer refused(int code, std::string_view sentence) {
  JsonOut out;
  out.object().field("jsonrpc", "2.0").null_field("id").object("error");
  out.field("code", code).field("message", sentence).end_object().end_object();
  auto answer = json(out.str());
  answer.status = 400;
  return answer;
}

bool takes(const HttpRequest& request, std::string_view type) {
  return request.header("accept").find(type) != std::string::npos;
}

// In the stateless model the head repeats what the body says.
std::string why_unlike_body(const HttpRequest& request) {
  rapidjson::Document message;
  if (!emulator::parse_json(request.body, message) || !message.IsObject()) return {};
  const auto method = emulator::text_or(message, "method");
  if (request.header("mcp-protocol-version") != "2026-07-28") return "MCP-Protocol-Version must be 2026-07-28.";
  if (request.header("mcp-method") != method) return "Mcp-Method must be the body's method.";
  if (method == "tools/call" && message.HasMember("params") &&
      request.header("mcp-name") != emulator::text_or(message["params"], "name"))
    return "Mcp-Name must be the name in the body.";
  return {};
}

}  // namespace

void Endpoint::handle(const HttpRequest& request, std::shared_ptr<Responder> responder) {
  if (request.path.starts_with("/_emulator/")) return responder->answer(control(request));
  if (request.path != "/mcp") return responder->answer(plain(404, "Not found"));
  if (request.method == "POST") return post(request, std::move(responder));
  if (request.method == "DELETE" && !server_.is_stateless())
    return responder->answer(plain(sessions_.erase(request.header("mcp-session-id")) > 0 ? 204 : 404, ""));
  responder->answer(plain(405, "There is no stream beside the answers."));
}

HttpAnswer Endpoint::control(const HttpRequest& request) {
  const auto what = request.path.substr(std::string_view("/_emulator/").size());
  if (request.method == "POST" && what == "script") {
    try {
      server_.replace(parse_script(request.body));
    } catch (const std::exception& error) {
      return plain(400, error.what());
    }
    return json("{}");
  }
  if (request.method == "POST" && what == "forget_sessions") return sessions_.clear(), json("{}");
  if (request.method != "GET" || what != "state")
    return plain(400, "There are GET state, POST script and POST forget_sessions.");
  JsonOut out;
  out.object().field("sessions", sessions_.size()).field("sessions_begun", sessions_begun_).object("requests");
  for (const auto& [method, count] : server_.requests()) out.field(method, count);
  return json(out.end_object().end_object().str());
}

std::optional<HttpAnswer> Endpoint::why_refused(const HttpRequest& request) const {
  if (!takes(request, "application/json") || !takes(request, "text/event-stream"))
    return plain(406, "Accept must name application/json and text/event-stream.");
  if (!request.header("content-type").starts_with("application/json"))
    return plain(415, "A message is application/json.");
  if (server_.is_stateless()) {
    if (const auto why = why_unlike_body(request); !why.empty()) return refused(-32020, why);
    return std::nullopt;
  }
  const auto session = request.header("mcp-session-id");
  if (!session.empty() && !sessions_.contains(session)) return plain(404, "There is no such session.");
  return std::nullopt;
}

void Endpoint::post(const HttpRequest& request, std::shared_ptr<Responder> responder) {
  if (const auto why = why_refused(request)) return responder->answer(*why);
  const auto at = sessions_.find(request.header("mcp-session-id"));
  const auto session = at == sessions_.end() ? std::make_shared<Session>() : at->second;
  server_.take(request.body, session->initialized,
               [this, session, responder](const Outcome& outcome) { send(outcome, session, *responder); });
}

HttpAnswer Endpoint::body_of(const Outcome& outcome) const {
  if (!events_) return json(*outcome.answer);
  HttpAnswer answer;
  answer.content_type = "text/event-stream";
  for (const auto& one : outcome.before) answer.body += "data: " + one + "\n\n";
  answer.body += "event: message\ndata: " + *outcome.answer + "\n\n";
  return answer;
}

void Endpoint::send(const Outcome& outcome, const SessionPtr& session, Responder& responder) {
  const auto kind = outcome.fault ? outcome.fault->kind : std::string();
  if (kind.starts_with("hang")) return;
  if (kind.starts_with("exit")) _exit(static_cast<int>(outcome.fault->number));
  if (kind.starts_with("reset")) return responder.reset();
  if (kind == "http_status")
    return responder.answer(plain(static_cast<int>(outcome.fault->number), outcome.fault->text));
  if (kind == "forget_session") {
    sessions_.clear();
    return responder.answer(plain(404, "There is no such session."));
  }
  if (!outcome.is_request && !outcome.answer) return responder.answer(plain(202, ""));
  auto answer = body_of(outcome);
  if (server_.is_stateless() && outcome.code) answer.status = *outcome.code == -32601 ? 404 : 400;
  if (outcome.begins_session) {
    const auto id = fmt::format("session-{}", ++sessions_begun_);
    sessions_.emplace(id, session);
    answer.headers.emplace_back("Mcp-Session-Id", id);
  }
  responder.answer(answer);
}

}  // namespace krux::test::mcp_server
