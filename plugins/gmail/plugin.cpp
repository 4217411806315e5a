// The Gmail adapter: which roles it has, its configuration, its account.
#include <kruxos/adapter.hpp>

#include <algorithm>

#include "api_client.hpp"
#include "model.hpp"
#include "read.hpp"
#include "resolve.hpp"
#include "searched_text.hpp"
#include "sync.hpp"
#include "write.hpp"

namespace gmail {
namespace {

constexpr const char* kConfigSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "fetch_bodies": {"type": "boolean"},
    "keep_days": {"type": "integer", "minimum": 0, "maximum": 36500},
    "compare_days": {"type": "integer", "minimum": 0, "maximum": 365},
    "page_size": {"type": "integer", "minimum": 1, "maximum": 500},
    "side_by_side": {"type": "integer", "minimum": 1, "maximum": 100}
  }
})";

SyncOptions options_of(const std::string& config_json) {
  constexpr std::int64_t day_ms = 86'400'000;
  SyncOptions options;
  const auto config = parse(config_json.empty() ? "{}" : config_json);
  if (config.HasParseError()) return options;
  options.fetch_bodies = flag_of(config, "fetch_bodies");
  options.keep_ms = integer_of(config, "keep_days", 0) * day_ms;
  options.compare_every_ms = integer_of(config, "compare_days", options.compare_every_ms / day_ms) * day_ms;
  options.page_size = static_cast<int>(integer_of(config, "page_size", options.page_size));
  options.side_by_side = static_cast<int>(integer_of(config, "side_by_side", options.side_by_side));
  return options;
}

class GmailAdapter final : public kruxos::SyncAdapter,
                           public kruxos::ReadAdapter,
                           public kruxos::WriteExecutor,
                           public kruxos::RollbackCapable,
                           public kruxos::CleanupCapable,
                           public kruxos::AccountAdapter {
 public:
  GmailAdapter(kruxos::Host host, const kruxos::Account& account)
      : api_(host.http()),
        sync_(api_, host, options_of(account.config_json)),
        reader_(api_, account.account_id),
        own_(account.account_id),
        writer_(api_, host.uploads(), account.account_id) {}

  static kruxos::Description describe() { return {collections(), kConfigSchema}; }

  kruxos::SyncStep full_sync(const kruxos::Call& call, kruxos::SyncStore& store) override {
    return sync_.step(call, store);
  }
  kruxos::SyncStep incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t) override {
    return sync_.step(call, store);
  }

  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params) override {
    return reader_.read(call, reader, capability, params);
  }

  std::string resolve(const kruxos::Call&, const kruxos::Reader& reader, std::string_view operation,
                      std::string_view params) override {
    return gmail::resolve(reader, operation, params, own_);
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

  void clean_up(const kruxos::Call& call, const kruxos::BufferedWrite& write) override {
    writer_.clean_up(call, write);
  }

  kruxos::Identity verify(const kruxos::Call& call) override {
    const auto profile = api_.get(call, "getProfile", "gmail/v1/users/me/profile?fields=emailAddress");
    const std::string address(text_of(profile, "emailAddress"));
    if (address.empty()) throw malformed("getProfile");
    kruxos::Identity identity;
    identity.account_id = folded(address);
    identity.display_name = address;
    return identity;
  }
  /// The API has no method for it: the host asks the token's own service.
  void revoke(const kruxos::Call&) override {
    throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported,
                             "Gmail's API does not revoke tokens; remove the access at "
                             "https://myaccount.google.com/connections.");
  }

 private:
  ApiClient api_;
  Sync sync_;
  MailReader reader_;
  const std::string own_;
  Writer writer_;
};

}  // namespace
}  // namespace gmail

KRUXOS_PLUGIN(gmail::GmailAdapter, "gmail", "email", "0.1.0");
