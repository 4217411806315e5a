// The Slack adapter: which roles it has, its configuration, its account.
#include <kruxos/adapter.hpp>

#include <algorithm>
#include <memory>

#include "api_client.hpp"
#include "model.hpp"
#include "read.hpp"
#include "resolve.hpp"
#include "sync.hpp"
#include "write.hpp"

namespace slack {
namespace {

constexpr const char* kConfigSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "initial_messages_per_channel": {"type": "integer", "minimum": 1, "maximum": 100000},
    "look_back_hours": {"type": "integer", "minimum": 1, "maximum": 8760},
    "look_back_every_seconds": {"type": "integer", "minimum": 0, "maximum": 86400},
    "list_refresh_seconds": {"type": "integer", "minimum": 0, "maximum": 86400},
    "page_size": {"type": "integer", "minimum": 1, "maximum": 999}
  }
})";

using Scopes = std::optional<std::vector<std::string>>;

SyncOptions options_of(const std::string& config_json, const Scopes& scopes) {
  const auto config = parse(config_json.empty() ? "{}" : config_json);
  SyncOptions options;
  options.private_channels = !scopes || std::find(scopes->begin(), scopes->end(), "groups:read") != scopes->end();
  if (config.HasParseError()) return options;
  options.initial_messages = integer_of(config, "initial_messages_per_channel", options.initial_messages);
  options.look_back_ms = integer_of(config, "look_back_hours", options.look_back_ms / 3'600'000) * 3'600'000;
  options.look_back_every_ms = integer_of(config, "look_back_every_seconds", options.look_back_every_ms / 1000) * 1000;
  options.list_refresh_ms = integer_of(config, "list_refresh_seconds", options.list_refresh_ms / 1000) * 1000;
  options.page_size = static_cast<int>(integer_of(config, "page_size", options.page_size));
  return options;
}

/// Nothing when they are not known.
Scopes scopes_of(const std::string& scopes_json) {
  if (scopes_json.empty()) return std::nullopt;
  const auto json = parse(scopes_json);
  if (json.HasParseError() || !json.IsArray()) return std::nullopt;
  std::vector<std::string> scopes;
  for (const auto& scope : json.GetArray()) {
    if (scope.IsString()) scopes.emplace_back(scope.GetString(), scope.GetStringLength());
  }
  return scopes;
}

std::vector<std::string> split_scopes(std::string_view header) {
  std::vector<std::string> scopes;
  std::string scope;
  for (const char c : header) {
    if (c != ',' && c != ' ') {
      scope += c;
    } else if (!scope.empty()) {
      scopes.push_back(std::move(scope));
      scope.clear();
    }
  }
  if (!scope.empty()) scopes.push_back(std::move(scope));
  return scopes;
}

class SlackAdapter final : public kruxos::SyncAdapter,
                           public kruxos::ReadAdapter,
                           public kruxos::WriteExecutor,
                           public kruxos::RollbackCapable,
                           public kruxos::AccountAdapter {
 public:
  SlackAdapter(kruxos::Host host, const kruxos::Account& account)
      : api_(host.http()),
        sync_(api_, host, options_of(account.config_json, scopes_of(account.scopes_json)), changes_),
        writer_(api_, scopes_of(account.scopes_json), changes_) {}

  static kruxos::Description describe() { return {collections(), kConfigSchema}; }

  kruxos::SyncStep full_sync(const kruxos::Call& call, kruxos::SyncStore& store) override {
    return sync_.step(call, store);
  }
  kruxos::SyncStep incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t) override {
    return sync_.step(call, store);
  }

  std::string read(const kruxos::Call&, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params) override {
    return read_capability(reader, capability, params);
  }
  std::string resolve(const kruxos::Call&, const kruxos::Reader& reader, std::string_view operation,
                      std::string_view params) override {
    return resolve_params(reader, operation, params);
  }

  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    return writer_.execute(call, write);
  }
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    return writer_.find_effect(call, write);
  }

  bool supports_rollback(std::string_view operation) override { return Writer::supports_rollback(operation); }
  std::string create_rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    return writer_.rollback_point(call, write);
  }
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override {
    return writer_.rollback(call, request);
  }
  kruxos::EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) override {
    return writer_.find_rollback(call, request);
  }

  kruxos::Identity verify(const kruxos::Call& call) override {
    const auto answer = api_.call(call, "auth.test", {});
    kruxos::Identity identity;
    identity.account_id = text_of(answer.body, "team_id");
    if (identity.account_id.empty()) {
      throw SlackError(kruxos::ErrorKind::kUnavailable, "Slack's answer to auth.test names no team.", "");
    }
    identity.display_name = text_of(answer.body, "team", identity.account_id);
    identity.principal = text_of(answer.body, "user_id");
    if (!answer.scopes.empty()) identity.scopes = split_scopes(answer.scopes);
    return identity;
  }
  void revoke(const kruxos::Call& call) override {
    try {
      const auto answer = api_.call(call, "auth.revoke", {});
      if (flag_of(answer.body, "revoked")) return;
    } catch (const SlackError& error) {
      // Slack has forgotten it already.
      const auto& name = error.name();
      if (name == "token_revoked" || name == "account_inactive") return;
      if (name != "invalid_auth") throw;
      // Slack says so of a token that it does not know, and of one that may not be used from where the host is.
      throw SlackError(kruxos::ErrorKind::kUnavailable,
                       "Slack does not take the token (invalid_auth) and does not say whether it is forgotten or only "
                       "refused from this host's address; remove the app in the workspace's settings.",
                       name);
    }
    throw SlackError(kruxos::ErrorKind::kUnavailable,
                     "Slack did not revoke the token; remove the app in the workspace's settings.", "");
  }

 private:
  ApiClient api_;
  Changes changes_;
  Sync sync_;
  Writer writer_;
};

}  // namespace
}  // namespace slack

KRUXOS_PLUGIN(slack::SlackAdapter, "slack", "slack", "0.1.0");
