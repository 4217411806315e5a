#include "emulators/mcp/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

namespace krux::test::mcp_server {
namespace {

using emulator::JsonOut;
using emulator::text_or;

constexpr std::string_view kStateless = "2026-07-28", kMeta = "io.modelcontextprotocol/";
constexpr std::array<std::string_view, 4> kVersions{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

const rapidjson::Value& member(const rapidjson::Value& object, std::string_view name) {
  static const rapidjson::Value kNone;
  if (!object.IsObject()) return kNone;
  const auto at = object.FindMember(rapidjson::Value(name.data(), static_cast<rapidjson::SizeType>(name.size())));
  return at == object.MemberEnd() ? kNone : at->value;
}

std::string error_message(std::string_view id_json, int code, std::string_view message) {
  JsonOut out;
  out.object().field("jsonrpc", "2.0").raw_field("id", id_json.empty() ? "null" : id_json);
  out.object("error").field("code", code).field("message", message).end_object().end_object();
  return out.str();
}

std::string result_message(std::string_view id_json, std::string_view result_json) {
  JsonOut out;
  out.object().field("jsonrpc", "2.0").raw_field("id", id_json).raw_field("result", result_json).end_object();
  return out.str();
}

std::string notification(std::string_view method, std::string_view params_json = "{}") {
  JsonOut out;
  out.object().field("jsonrpc", "2.0").field("method", method).raw_field("params", params_json).end_object();
  return out.str();
}

std::string other_id(std::string_view id_json) {
  return id_json.starts_with('"') ? R"("another")" : std::string(id_json) + "999";
}

bool works_before(const std::optional<Fault>& fault) {
  return !fault || fault->kind.ends_with("_after") ||
         (fault->kind != "hang" && fault->kind != "exit" && fault->kind != "error" && fault->kind != "http_status" &&
          fault->kind != "reset" && fault->kind != "forget_session" && fault->kind != "endless_line");
}

// What the fault does to messages; the rest is the way's.
void spoil(Outcome& outcome, const Fault& fault, std::string_view id_json, std::string_view result_json) {
  const auto& kind = fault.kind;
  const auto number = fault.number;
  if (kind.starts_with("hang")) outcome.answer.reset();
  if (kind == "garbage") outcome.before.push_back(fault.text.empty() ? "this is no JSON" : fault.text);
  if (kind == "flood")
    outcome.before.assign(static_cast<std::size_t>(number),
                          notification("notifications/message", R"({"level":"info","data":"more"})"));
  if (kind == "list_changed") outcome.before.push_back(notification("notifications/tools/list_changed"));
  if (kind == "ask")
    outcome.before.push_back(
        fmt::format(R"({{"jsonrpc":"2.0","id":"asked","method":"{}","params":{{}}}})", fault.text));
  if (kind == "wrong_id") outcome.answer = result_message(other_id(id_json), result_json);
  if (kind == "no_result") outcome.answer = fmt::format(R"({{"jsonrpc":"2.0","id":{}}})", id_json);
  if (kind == "wrong_type") outcome.answer = result_message(id_json, "[]");
  if (kind == "error") {
    outcome.code = static_cast<int>(number == 0 ? -32603 : number);
    outcome.answer = error_message(id_json, *outcome.code, fault.text);
  }
}

}  // namespace

Server::Server(Settings settings) : settings_(std::move(settings)), tools_(settings_.script, settings_.journal) {}

void Server::replace(Script script) {
  settings_.script = std::move(script);
}

void Server::note(const rapidjson::Value& message) {
  if (!settings_.log.empty()) std::ofstream(settings_.log, std::ios::app) << to_json(message) + "\n" << std::flush;
}

void Server::take(std::string_view text, bool& initialized, const Reply& reply) {
  rapidjson::Document message;
  if (!emulator::parse_json(text, message) || !message.IsObject()) {
    Outcome outcome;
    outcome.code = -32700;
    outcome.answer = error_message("", -32700, "That is no message.");
    return reply(outcome);
  }
  note(message);
  const auto method = text_or(message, "method");
  const auto& params = member(message, "params");
  if (!message.HasMember("id") || method.empty()) {
    if (method == "notifications/initialized") initialized = true;
    if (method == "notifications/cancelled") {
      const auto id_json = to_json(member(params, "requestId"));
      held_.remove_if([&](const Held& one) { return one.id_json == id_json; });
    }
    return reply({});
  }
  ++requests_[method];
  const auto id_json = to_json(message["id"]);
  const auto tool = method == "tools/call" ? text_or(params, "name") : std::string();
  Outcome outcome;
  outcome.is_request = true;
  outcome.fault = settings_.script.take(method, tool);
  JsonOut result;
  result.object();
  const auto failure = works_before(outcome.fault) ? answer_to(method, params, initialized, result) : Result();
  result.end_object();
  if (failure) outcome.code = failure->code;
  outcome.answer =
      failure ? error_message(id_json, failure->code, failure->message) : result_message(id_json, result.str());
  outcome.begins_session = !failure && method == "initialize";
  if (outcome.fault) spoil(outcome, *outcome.fault, id_json, result.str());
  if (!failure && tool == "slow") return held_.push_back({id_json, [reply, outcome] { reply(outcome); }});
  reply(outcome);
  if (!failure && tool == "release") release();
}

void Server::release() {
  for (auto held = std::exchange(held_, {}); const auto& one : held) one.go_on();
}

Server::Result Server::why_refused(const std::string& method, const rapidjson::Value& params, bool initialized) const {
  if (!is_stateless()) {
    if (!initialized && method != "initialize" && method != "ping")
      return Failure{-32600, "initialize comes first, and notifications/initialized."};
    return std::nullopt;
  }
  const auto& meta = member(params, "_meta");
  const auto version = text_or(meta.IsObject() ? meta : params, std::string(kMeta) + "protocolVersion");
  if (version.empty()) return Failure{-32602, "_meta must name the protocol's version."};
  if (version != kStateless) return Failure{-32022, "That version is not spoken here."};
  for (const char* name : {"clientInfo", "clientCapabilities"}) {
    if (!member(meta, std::string(kMeta) + name).IsObject())
      return Failure{-32602, fmt::format("_meta must have {}.", name)};
  }
  return std::nullopt;
}

Server::Result Server::answer_to(const std::string& method, const rapidjson::Value& params, bool initialized,
                                 JsonOut& out) {
  const Failure unknown{-32601, fmt::format("There is no method {}.", method)};
  if (is_stateless() && (method == "initialize" || method == "ping")) return unknown;
  if (auto why = why_refused(method, params, initialized)) return why;
  if (is_stateless()) out.field("resultType", "complete");
  if (method == "initialize") return initialize(params, out), std::nullopt;
  if (method == "ping") return std::nullopt;
  if (method == "tools/call") return call_tool(params, out);
  if (is_stateless() && method == "server/discover") {
    out.array("supportedVersions").value(settings_.speaks.empty() ? kStateless : settings_.speaks).end_array();
    put_server(out);
  } else if (method == "tools/list") {
    if (!tools_.list(text_or(params, "cursor"), out)) return Failure{-32602, "There is no such cursor."};
  } else {
    return unknown;
  }
  if (is_stateless()) out.field("ttlMs", 60'000).field("cacheScope", "private");
  return std::nullopt;
}

void Server::initialize(const rapidjson::Value& params, JsonOut& out) const {
  std::string version = text_or(params, "protocolVersion");
  if (std::find(kVersions.begin(), kVersions.end(), version) == kVersions.end()) version = settings_.revision;
  out.field("protocolVersion", settings_.speaks.empty() ? version : settings_.speaks);
  put_server(out);
}

void Server::put_server(JsonOut& out) const {
  out.raw_field("capabilities", R"({"tools":{"listChanged":true}})");
  out.raw_field(is_stateless() ? "_meta" : "serverInfo",
                is_stateless() ? R"({"io.modelcontextprotocol/serverInfo":{"name":"mcp-emulator","version":"1.0.0"}})"
                               : R"({"name":"mcp-emulator","version":"1.0.0"})");
}

Server::Result Server::call_tool(const rapidjson::Value& params, JsonOut& out) {
  const auto name = text_or(params, "name");
  if (!tools_.has(name)) return Failure{-32602, fmt::format("There is no tool {}.", name)};
  const auto& meta = member(params, "_meta");
  const auto& given = member(params, "arguments");
  const rapidjson::Value none(rapidjson::kObjectType);
  if (!given.IsNull() && !given.IsObject()) return Failure{-32602, "The arguments must be an object."};
  tools_.call(name, given.IsObject() ? given : none, meta.IsObject() ? &meta : nullptr, out);
  return std::nullopt;
}

}  // namespace krux::test::mcp_server
