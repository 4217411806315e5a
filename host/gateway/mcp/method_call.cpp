#include "host/gateway/mcp/method_call.hpp"

#include <algorithm>

namespace krux::mcp {
namespace {

// Of the protocol's own range.
constexpr int kUnsupportedVersion = -32022;
constexpr std::string_view kMeta = "io.modelcontextprotocol/";
/// Lists change with policies and connections, of which this host tells nobody who has no stream open.
constexpr std::int64_t kFreshMs = 60'000;

RpcError mismatch(std::string message) {
  return {kHeaderMismatch, std::move(message), {}};
}

/// The member of its params that Mcp-Name repeats; empty: none.
std::string_view named_by(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  return method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel" ? "taskId" : "";
}

std::vector<std::string> versions_with_sessions() {
  return {kSessionVersions.begin(), kSessionVersions.end()};
}

RpcError unsupported(std::string_view requested, const std::vector<std::string>& supported) {
  auto data = json_object([&](JsonWriter& out) {
    put(out, "supported", supported);
    put(out, "requested", printable(requested.substr(0, kLongestShown)));
  });
  return {kUnsupportedVersion, "This version of the protocol is not spoken here.", std::move(data)};
}

}  // namespace

std::vector<std::string> versions() {
  std::vector<std::string> all{std::string(kStatelessVersion)};
  all.insert(all.end(), kSessionVersions.begin(), kSessionVersions.end());
  return all;
}

bool is_with_sessions(std::string_view version) {
  return std::find(kSessionVersions.begin(), kSessionVersions.end(), version) != kSessionVersions.end();
}

std::optional<JsonParts> members(std::string_view text, std::string& why) {
  if (text.empty()) return JsonParts{JsonKind::kObject, {}, 0};
  return take_apart(text, {}, why);
}

const JsonSpan* find(const JsonParts& parts, std::string_view name, JsonKind kind) {
  const auto* found = parts.find(name);
  return found && found->kind == kind ? found : nullptr;
}

std::optional<RpcError> Methods::Call::take(std::string_view text) {
  std::string why;
  auto all = members(text, why);
  if (!all) return invalid_params(fmt::format("\"params\" is not valid: {}.", why));
  params = *std::move(all);
  const auto* given = params.find("_meta");
  if (!given || given->kind == JsonKind::kNull) return std::nullopt;
  if (given->kind != JsonKind::kObject) return invalid_params("\"_meta\" must be an object.");
  auto in_meta = members(given->raw, why);
  if (!in_meta) return invalid_params(fmt::format("\"_meta\" is not valid: {}.", why));
  meta = *std::move(in_meta);
  return std::nullopt;
}

/// Who looks at the head alone must see what the body asks for.
std::optional<RpcError> Methods::Call::why_unlike_head() const {
  const auto* version = meta.find(std::string(kMeta) + "protocolVersion");
  if (!head.version) return mismatch("The header MCP-Protocol-Version is missing.");
  if (*head.version != version->text) return mismatch("MCP-Protocol-Version is not the version that _meta names.");
  if (!head.method) return mismatch("The header Mcp-Method is missing.");
  if (*head.method != method) return mismatch("Mcp-Method is not the body's method.");
  const auto member = named_by(method);
  if (member.empty()) return std::nullopt;
  const auto* name = find(params, member, JsonKind::kString);
  if (!head.name) return mismatch("The header Mcp-Name is missing.");
  const auto said = decoded(*head.name);
  if (!said || !name || *said != name->text) return mismatch("Mcp-Name is not the name in the body.");
  return std::nullopt;
}

/// The connection is the session, which begins with its handshake.
std::optional<RpcError> Methods::Call::why_not_in_conversation() const {
  if (const auto* version = meta.find(std::string(kMeta) + "protocolVersion"))
    return unsupported(version->text, versions_with_sessions());
  if (method == "ping" || method == "initialize" || method.starts_with("notifications/")) return std::nullopt;
  if (!head.conversation->has_begun()) return invalid_request("Over a WebSocket, initialize comes first.");
  return std::nullopt;
}

std::optional<RpcError> Methods::Call::choose_model() {
  if (head.conversation) return why_not_in_conversation();
  const auto* version = meta.find(std::string(kMeta) + "protocolVersion");
  stateless = version != nullptr || (head.version && !is_with_sessions(*head.version)) || method == "server/discover";
  if (!stateless) return std::nullopt;
  if (!version || version->kind != JsonKind::kString)
    return head.version && *head.version != kStatelessVersion
               ? unsupported(*head.version, versions())
               : invalid_params(fmt::format("_meta must name \"{}protocolVersion\".", kMeta));
  if (auto why = why_unlike_head()) return why;
  if (version->text != kStatelessVersion) return unsupported(version->text, versions());
  if (!find(meta, std::string(kMeta) + "clientCapabilities", JsonKind::kObject))
    return invalid_params(fmt::format("_meta must have \"{}clientCapabilities\", an object.", kMeta));
  return std::nullopt;
}

bool Methods::Call::knows_tasks() const {
  const auto* capabilities =
      stateless ? find(meta, std::string(kMeta) + "clientCapabilities", JsonKind::kObject) : nullptr;
  return capabilities && declares(capabilities->raw, kTasksExtension);
}

void Methods::Call::put_cache_hints(JsonWriter& out) const {
  if (!stateless) return;
  put(out, "ttlMs", kFreshMs);
  put(out, "cacheScope", "private");
}

}  // namespace krux::mcp
