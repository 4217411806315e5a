// An adapter behind the C tables as core sees it.
#pragma once

#include <memory>

#include "core/adapter/service_adapter.hpp"
#include "host/plugins/abi_bridge/adapter_instance.hpp"

namespace krux {

/// Believes nothing that comes back: statuses, sizes, JSON, UTF-8. A result is one JSON object of at most 8 MiB, a
/// rollback point one of at most 64 KiB; anything else is a CallFailure. A failure's `effect_none` is the adapter's
/// word, taken back where a request is open on the wire; whoever ends the call judges it once more with what
/// CallContext::end() says.
class PluginAdapter final : public ServiceAdapter {
 public:
  explicit PluginAdapter(std::shared_ptr<AdapterInstance> instance) : instance_(std::move(instance)) {}

  AdapterRoles roles() const override;
  CallResult<SyncStep> full_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store) override;
  CallResult<SyncStep> incremental_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store,
                                        std::int64_t last_sync_ms) override;
  CallResult<std::string> read(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                               std::string_view capability, std::string_view params_json) override;
  CallResult<std::string> resolve(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                                  std::string_view operation, std::string_view params_json) override;
  CallResult<std::string> execute_write(const CallContextPtr& call, const AdapterWrite& write) override;
  CallResult<EffectFound> find_effect(const CallContextPtr& call, const AdapterWrite& write) override;
  bool supports_rollback(std::string_view operation) override;
  CallResult<std::string> create_rollback_point(const CallContextPtr& call, const AdapterWrite& write) override;
  CallResult<std::string> rollback(const CallContextPtr& call, const RollbackRequest& request) override;
  CallResult<EffectFound> find_rollback(const CallContextPtr& call, const RollbackRequest& request) override;
  CallResult<bool> clean_up(const CallContextPtr& call, const AdapterWrite& write) override;
  CallResult<Identity> verify(const CallContextPtr& call) override;
  CallResult<bool> revoke(const CallContextPtr& call) override;

 private:
  const std::shared_ptr<AdapterInstance> instance_;
};

}  // namespace krux
