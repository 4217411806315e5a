#include "host/plugins/abi_bridge/plugin_adapter.hpp"

#include <fmt/format.h>

#include "host/plugins/abi_bridge/answers.hpp"
#include "host/plugins/abi_bridge/lent_reader.hpp"
#include "host/plugins/abi_bridge/lent_store.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

using namespace limits;

CallFailure lacks(const char* role) {
  return {KRUX_UNSUPPORTED, true, {}, fmt::format("The adapter has no {} role.", role), std::nullopt};
}

/// Runs `body`; what the host's own code throws around an adapter's function becomes a failure of unknown effect.
template <class T, class Body>
CallResult<T> at_edge(Body&& body) {
  try {
    return body();
  } catch (const std::exception& e) {
    return defect(fmt::format("The host could not handle the adapter's call: {}", e.what()));
  }
}

krux_write abi_write(const AdapterWrite& write) {
  return {sizeof(krux_write),        write.attempt,           to_abi(write.write_id),   to_abi(write.operation),
          to_abi(write.params_json), to_abi(write.note_json), to_abi(write.point_json), write.created_at_ms,
          write.first_attempt_at_ms};
}

krux_rollback_request abi_request(const RollbackRequest& request) {
  return {sizeof(krux_rollback_request), request.force,
          to_abi(request.rollback_id),   to_abi(request.operation),
          to_abi(request.params_json),   to_abi(request.point_json),
          to_abi(request.result_json)};
}

}  // namespace

AdapterRoles PluginAdapter::roles() const {
  return {instance_->sync != nullptr,     instance_->read != nullptr,    instance_->write != nullptr,
          instance_->rollback != nullptr, instance_->account != nullptr, instance_->cleanup != nullptr};
}

// Each function keeps the instance: an abandoned call may return after everybody else has let go of the adapter.

CallResult<SyncStep> PluginAdapter::full_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store) {
  const auto instance = instance_;
  if (!instance->sync) return lacks("sync");
  return at_edge<SyncStep>([&] {
    LentCall lent(call);
    const LentStore lent_store(lent, store, instance->collections());
    krux_sync_step step{};
    step.size = sizeof(step);
    return read_step(lent, instance->sync->full_sync(instance->self(), lent.table(), lent_store.table(), &step), step);
  });
}

CallResult<SyncStep> PluginAdapter::incremental_sync(const CallContextPtr& call,
                                                     const std::shared_ptr<SyncSession>& store,
                                                     std::int64_t last_sync_ms) {
  const auto instance = instance_;
  if (!instance->sync) return lacks("sync");
  return at_edge<SyncStep>([&] {
    LentCall lent(call);
    const LentStore lent_store(lent, store, instance->collections());
    krux_sync_step step{};
    step.size = sizeof(step);
    const auto status =
        instance->sync->incremental_sync(instance->self(), lent.table(), lent_store.table(), last_sync_ms, &step);
    return read_step(lent, status, step);
  });
}

CallResult<std::string> PluginAdapter::read(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                                            std::string_view capability, std::string_view params_json) {
  const auto instance = instance_;
  if (!instance->read) return lacks("read");
  return at_edge<std::string>([&] {
    LentCall lent(call);
    const LentReader lent_reader(lent, reader, instance->collections());
    BoundedSink out(kLargestResult);
    const auto status = instance->read->read(instance->self(), lent.table(), lent_reader.table(), to_abi(capability),
                                             to_abi(params_json), out.table());
    return read_object(lent, status, out, "result");
  });
}

CallResult<std::string> PluginAdapter::resolve(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                                               std::string_view operation, std::string_view params_json) {
  const auto instance = instance_;
  if (!instance->resolves) return std::string(params_json);
  return at_edge<std::string>([&] {
    LentCall lent(call);
    const LentReader lent_reader(lent, reader, instance->collections());
    BoundedSink out(kLargestResult);
    const auto status = instance->read->resolve(instance->self(), lent.table(), lent_reader.table(), to_abi(operation),
                                                to_abi(params_json), out.table());
    return read_object(lent, status, out, "resolved parameters");
  });
}

CallResult<std::string> PluginAdapter::execute_write(const CallContextPtr& call, const AdapterWrite& write) {
  const auto instance = instance_;
  if (!instance->write) return lacks("write");
  return at_edge<std::string>([&] {
    LentCall lent(call, LentCall::Notes::kKept);
    const auto abi = abi_write(write);
    BoundedSink out(kLargestResult);
    const auto status = instance->write->execute_write(instance->self(), lent.table(), &abi, out.table());
    return read_object(lent, status, out, "result");
  });
}

CallResult<EffectFound> PluginAdapter::find_effect(const CallContextPtr& call, const AdapterWrite& write) {
  const auto instance = instance_;
  if (!instance->write) return lacks("write");
  return at_edge<EffectFound>([&] {
    LentCall lent(call);
    const auto abi = abi_write(write);
    BoundedSink out(kLargestResult);
    std::int32_t found = KRUX_CANNOT_TELL;
    const auto status = instance->write->find_effect(instance->self(), lent.table(), &abi, &found, out.table());
    return read_found(lent, status, found, &out);
  });
}

bool PluginAdapter::supports_rollback(std::string_view operation) {
  const auto instance = instance_;
  return instance->rollback && instance->rollback->supports_rollback(instance->self(), to_abi(operation)) != 0;
}

CallResult<std::string> PluginAdapter::create_rollback_point(const CallContextPtr& call, const AdapterWrite& write) {
  const auto instance = instance_;
  if (!instance->rollback) return lacks("rollback");
  return at_edge<std::string>([&] {
    LentCall lent(call);
    const auto abi = abi_write(write);
    BoundedSink out(kLargestPoint);
    const auto status = instance->rollback->create_rollback_point(instance->self(), lent.table(), &abi, out.table());
    return read_object(lent, status, out, "rollback point");
  });
}

CallResult<std::string> PluginAdapter::rollback(const CallContextPtr& call, const RollbackRequest& request) {
  const auto instance = instance_;
  if (!instance->rollback) return lacks("rollback");
  return at_edge<std::string>([&] {
    LentCall lent(call);
    const auto abi = abi_request(request);
    BoundedSink out(kLargestResult);
    const auto status = instance->rollback->rollback(instance->self(), lent.table(), &abi, out.table());
    return read_object(lent, status, out, "result");
  });
}

CallResult<EffectFound> PluginAdapter::find_rollback(const CallContextPtr& call, const RollbackRequest& request) {
  const auto instance = instance_;
  if (!instance->rollback) return lacks("rollback");
  return at_edge<EffectFound>([&] {
    LentCall lent(call);
    const auto abi = abi_request(request);
    std::int32_t found = KRUX_CANNOT_TELL;
    const auto status = instance->rollback->find_rollback(instance->self(), lent.table(), &abi, &found);
    return read_found(lent, status, found, nullptr);
  });
}

CallResult<bool> PluginAdapter::clean_up(const CallContextPtr& call, const AdapterWrite& write) {
  const auto instance = instance_;
  if (!instance->cleanup) return lacks_cleanup();
  return at_edge<bool>([&]() -> CallResult<bool> {
    LentCall lent(call);
    const auto abi = abi_write(write);
    const auto status = instance->cleanup->clean_up(instance->self(), lent.table(), &abi);
    if (status != KRUX_OK) return lent.failure(status);
    return true;
  });
}

CallResult<Identity> PluginAdapter::verify(const CallContextPtr& call) {
  const auto instance = instance_;
  if (!instance->account) return lacks("account");
  return at_edge<Identity>([&] {
    LentCall lent(call);
    BoundedSink out(kLargestIdentity);
    return read_identity(lent, instance->account->verify(instance->self(), lent.table(), out.table()), out);
  });
}

CallResult<bool> PluginAdapter::revoke(const CallContextPtr& call) {
  const auto instance = instance_;
  if (!instance->account) return lacks("account");
  return at_edge<bool>([&]() -> CallResult<bool> {
    LentCall lent(call);
    const auto status = instance->account->revoke(instance->self(), lent.table());
    if (status != KRUX_OK) return lent.failure(status);
    return true;
  });
}

}  // namespace krux
