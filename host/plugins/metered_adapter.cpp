#include "host/plugins/metered_adapter.hpp"

#include <type_traits>

#include "core/adapter/adapter_meters.hpp"
#include "core/replica/sync_session.hpp"

namespace krux {
namespace {

using Text = CallResult<std::string>;
using Fn = AdapterFunction;

class MeteredAdapter final : public ServiceAdapter {
 public:
  MeteredAdapter(std::shared_ptr<ServiceAdapter> adapter, AdapterMeter& meter, const AdapterMeters& meters)
      : adapter_(std::move(adapter)), meter_(meter), meters_(meters) {}

  AdapterRoles roles() const override { return adapter_->roles(); }
  bool supports_rollback(std::string_view operation) override { return adapter_->supports_rollback(operation); }

  CallResult<SyncStep> full_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store) override {
    return synced(Fn::kFullSync, *call, *store, [&] { return adapter_->full_sync(call, store); });
  }
  CallResult<SyncStep> incremental_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store,
                                        std::int64_t last_sync_ms) override {
    return synced(Fn::kIncrementalSync, *call, *store,
                  [&] { return adapter_->incremental_sync(call, store, last_sync_ms); });
  }
  Text read(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader, std::string_view capability,
            std::string_view params_json) override {
    return timed(Fn::kRead, *call, [&] { return adapter_->read(call, reader, capability, params_json); });
  }
  Text resolve(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader, std::string_view operation,
               std::string_view params_json) override {
    return timed(Fn::kResolve, *call, [&] { return adapter_->resolve(call, reader, operation, params_json); });
  }
  Text execute_write(const CallContextPtr& call, const AdapterWrite& write) override {
    return timed(Fn::kExecuteWrite, *call, [&] { return adapter_->execute_write(call, write); });
  }
  CallResult<EffectFound> find_effect(const CallContextPtr& call, const AdapterWrite& write) override {
    return timed(Fn::kFindEffect, *call, [&] { return adapter_->find_effect(call, write); });
  }
  Text create_rollback_point(const CallContextPtr& call, const AdapterWrite& write) override {
    return timed(Fn::kCreateRollbackPoint, *call, [&] { return adapter_->create_rollback_point(call, write); });
  }
  Text rollback(const CallContextPtr& call, const RollbackRequest& request) override {
    return timed(Fn::kRollback, *call, [&] { return adapter_->rollback(call, request); });
  }
  CallResult<EffectFound> find_rollback(const CallContextPtr& call, const RollbackRequest& request) override {
    return timed(Fn::kFindRollback, *call, [&] { return adapter_->find_rollback(call, request); });
  }
  CallResult<bool> clean_up(const CallContextPtr& call, const AdapterWrite& write) override {
    return timed(Fn::kCleanUp, *call, [&] { return adapter_->clean_up(call, write); });
  }
  CallResult<Identity> verify(const CallContextPtr& call) override {
    return timed(Fn::kVerify, *call, [&] { return adapter_->verify(call); });
  }
  CallResult<bool> revoke(const CallContextPtr& call) override {
    return timed(Fn::kRevoke, *call, [&] { return adapter_->revoke(call); });
  }

 private:
  template <class Body>
  std::invoke_result_t<Body> timed(Fn function, const CallContext& call, Body body) {
    const auto began = meters_.now_us();
    auto result = body();
    meter_.returned(function, call, std::get_if<CallFailure>(&result), meters_.now_us() - began);
    return result;
  }
  template <class Body>
  CallResult<SyncStep> synced(Fn function, CallContext& call, const SyncSession& store, Body body) {
    return timed(function, call, [&] {
      auto result = body();
      call.note_replaced(store.replaced());
      return result;
    });
  }

  const std::shared_ptr<ServiceAdapter> adapter_;
  AdapterMeter& meter_;
  const AdapterMeters& meters_;
};

}  // namespace

std::shared_ptr<ServiceAdapter> metered(std::shared_ptr<ServiceAdapter> adapter, const std::string& service,
                                        AdapterMeters* meters) {
  if (!meters) return adapter;
  return std::make_shared<MeteredAdapter>(std::move(adapter), meters->of(service), *meters);
}

}  // namespace krux
