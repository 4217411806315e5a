#include "messages.hpp"

#include <kruxos/kit/json.hpp>
#include <kruxos/kit/text.hpp>

#include <algorithm>
#include <array>

#include "text.hpp"

namespace mcp {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;
using kruxos::kit::Json;
using kruxos::kit::ObjectWriter;

constexpr std::array<std::string_view, 4> kUnderstood{kSessionVersion, "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view kClientInfo = R"({"name":"kruxos","version":"1.0.0"})";
constexpr std::string_view kMeta = "io.modelcontextprotocol/";
constexpr std::size_t kLongestId = 256, kLongestName = 256, kLongestSentence = 1000, kShownVersion = 40;
constexpr std::size_t kLongestBatch = 1000;

ProxyError not_understood(const std::string& what) {
  return ProxyError(ErrorKind::kRefused,
                    "The server is not understood: " + what +
                        " Spoken here are 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05.")
      .type("ServerNotUnderstood")
      .no_effect();
}

std::string meta_json(const Json* given) {
  ObjectWriter meta;
  if (given && given->IsObject()) {
    for (const auto& one : given->GetObject()) {
      const std::string_view name(one.name.GetString(), one.name.GetStringLength());
      if (!name.starts_with(kMeta)) meta.raw(name, kruxos::kit::json_text(one.value));
    }
  }
  meta.text(std::string(kMeta) + "protocolVersion", kStatelessVersion);
  meta.raw(std::string(kMeta) + "clientInfo", kClientInfo);
  meta.raw(std::string(kMeta) + "clientCapabilities", "{}");
  return meta.done();
}

bool names_version(const Json& discovered, std::string_view version) {
  const auto all = kruxos::kit::texts_of(discovered, "supportedVersions");
  return std::find(all.begin(), all.end(), version) != all.end();
}

std::optional<Answer> answer_in(const Json& message) {
  if (const auto* error = kruxos::kit::member(message, "error")) {
    if (!error->IsObject()) return std::nullopt;
    const auto said = one_line(kruxos::kit::text_of(*error, "message"), kLongestSentence);
    return RpcError(kruxos::kit::integer_of(*error, "code"), said.empty() ? "It gave no reason." : said);
  }
  const auto* result = kruxos::kit::member(message, "result");
  if (!result || !result->IsObject()) return std::nullopt;
  auto json = kruxos::kit::json_text(*result);
  if (json.size() > kLongestMessage) return std::nullopt;
  return json;
}

Incoming incoming_of(const Json& message) {
  Incoming incoming;
  const auto* id = kruxos::kit::member(message, "id");
  if (const auto method = kruxos::kit::text_of(message, "method"); !method.empty()) {
    auto id_json = id ? kruxos::kit::json_text(*id) : std::string();
    const bool proper = !id || id->IsString() || id->IsNumber();
    if (method.size() > kLongestName || id_json.size() > kLongestId || !proper) return incoming;
    incoming.method = method;
    incoming.id_json = std::move(id_json);
  } else if (id && id->IsInt64()) {
    incoming.answers = id->GetInt64();
    incoming.answer = answer_in(message);
  }
  return incoming;
}

}  // namespace

std::string request_message(std::int64_t id, std::string_view method, std::string_view params_json) {
  return ObjectWriter()
      .text("jsonrpc", "2.0")
      .integer("id", id)
      .text("method", method)
      .raw("params", params_json)
      .done();
}

std::string notification_message(std::string_view method, std::string_view params_json) {
  ObjectWriter message;
  message.text("jsonrpc", "2.0").text("method", method);
  if (!params_json.empty()) message.raw("params", params_json);
  return message.done();
}

std::string cancelled_message(std::int64_t id) {
  return notification_message(
      "notifications/cancelled",
      ObjectWriter().integer("requestId", id).text("reason", "Nobody waits for it any more.").done());
}

std::optional<Handshake::Step> Handshake::first() const {
  return Step{"initialize", ObjectWriter()
                                .text("protocolVersion", kSessionVersion)
                                .raw("capabilities", "{}")
                                .raw("clientInfo", kClientInfo)
                                .done()};
}

std::optional<Handshake::Step> Handshake::take(const Answer& answer) {
  const auto* error = std::get_if<RpcError>(&answer);
  if (error && !discovering_ && (error->code() == kNoSuchMethod || error->code() == kNoSuchVersion)) {
    discovering_ = true;
    return Step{"server/discover", with_meta({std::string(kStatelessVersion), true}, "{}")};
  }
  if (error && discovering_ && (error->code() == kNoSuchMethod || error->code() == kNoSuchVersion))
    throw not_understood("it has neither initialize of 2025-11-25 nor server/discover of 2026-07-28.");
  if (error) throw *error;
  const auto result = kruxos::kit::parse(std::get<std::string>(answer));
  if (discovering_) {
    if (!names_version(result, kStatelessVersion)) {
      const auto all = kruxos::kit::texts_of(result, "supportedVersions");
      throw not_understood("its version is \"" + one_line(all.empty() ? "" : all.front(), kShownVersion) + "\".");
    }
    agreed_ = {std::string(kStatelessVersion), true};
    return std::nullopt;
  }
  const auto version = kruxos::kit::text_of(result, "protocolVersion");
  if (std::find(kUnderstood.begin(), kUnderstood.end(), version) == kUnderstood.end())
    throw not_understood("its version is \"" + one_line(version, kShownVersion) + "\".");
  agreed_ = {std::string(version), false};
  return std::nullopt;
}

std::string with_meta(const Agreed& agreed, std::string_view params_json) {
  const auto params = kruxos::kit::parse(params_json);
  if (params.HasParseError() || !params.IsObject())
    throw ProxyError(ErrorKind::kInvalid, "The parameters of a request are one JSON object.").no_effect();
  // Written anew in any case: what stood on several lines is one line then.
  if (!agreed.stateless) return kruxos::kit::json_text(params);
  ObjectWriter out;
  for (const auto& one : params.GetObject()) {
    const std::string_view name(one.name.GetString(), one.name.GetStringLength());
    if (name != "_meta") out.raw(name, kruxos::kit::json_text(one.value));
  }
  return out.raw("_meta", meta_json(kruxos::kit::member(params, "_meta"))).done();
}

std::vector<Incoming> read_messages(std::string_view json) {
  std::vector<Incoming> all;
  const auto document = kruxos::kit::parse(json);
  if (!document.HasParseError() && document.IsArray()) {
    if (document.Size() > kLongestBatch) return {Incoming()};
    for (const auto& one : document.GetArray()) all.push_back(incoming_of(one));
  } else if (!document.HasParseError()) {
    all.push_back(incoming_of(document));
  }
  if (all.empty()) all.emplace_back();
  return all;
}

std::string reply_to(const Incoming& request) {
  ObjectWriter reply;
  reply.text("jsonrpc", "2.0").raw("id", request.id_json);
  if (request.method == "ping") return reply.raw("result", "{}").done();
  return reply
      .raw("error",
           ObjectWriter().integer("code", kNoSuchMethod).text("message", "This client offers no such method.").done())
      .done();
}

std::string result_of(std::optional<Answer> answer) {
  if (!answer)
    throw ProxyError(ErrorKind::kUnavailable, "The server answered with something that is no answer of the protocol.");
  if (const auto* error = std::get_if<RpcError>(&*answer)) throw *error;
  return std::get<std::string>(std::move(*answer));
}

}  // namespace mcp
