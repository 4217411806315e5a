#include "host/plugins/abi_bridge/adapter_instance.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <system_error>
#include <thread>

#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr auto kDestroyPatience = std::chrono::seconds(2);

Error unfit(std::string_view table, std::string_view why) {
  return {ErrorCode::kServiceUnavailable,
          fmt::format("The adapter's table {} {}; ask its author for a fixed one.", table, why)};
}

/// A role's table, or nullptr where the adapter has none. `last` is the end of the last field that ABI 1.0 needs.
template <class Table>
const Table* find_table(const krux_adapter& adapter, const char* iid, std::size_t last) {
  const auto* table = static_cast<const Table*>(adapter.query(adapter.self, iid));
  if (table && table->size < last) throw unfit(iid, "is truncated");
  return table;
}

template <class... Functions>
void require_functions(const char* iid, Functions... functions) {
  if (((functions == nullptr) || ...)) throw unfit(iid, "lacks a function");
}

template <class Table, class Field>
constexpr std::size_t end_of(std::size_t offset, Field Table::*) {
  return offset + sizeof(Field);
}
#define KRUX_END_OF(type, field) end_of(offsetof(type, field), &type::field)

}  // namespace

AdapterInstance::AdapterInstance(krux_adapter* adapter, std::shared_ptr<LentHost> host,
                                 std::vector<CollectionSpec> collections)
    : adapter_(adapter), host_(std::move(host)), collections_(std::move(collections)) {
  try {
    find_roles();
  } catch (...) {
    destroy_adapter(adapter_, host_);
    throw;
  }
}

AdapterInstance::~AdapterInstance() {
  destroy_adapter(adapter_, host_);
}

void AdapterInstance::find_roles() {
  if (adapter_->size < sizeof(krux_adapter) || !adapter_->query) throw unfit("krux_adapter", "is truncated");
  sync =
      find_table<krux_sync_adapter>(*adapter_, KRUX_IID_SYNC_ADAPTER, KRUX_END_OF(krux_sync_adapter, incremental_sync));
  if (sync) require_functions(KRUX_IID_SYNC_ADAPTER, sync->full_sync, sync->incremental_sync);
  read = find_table<krux_read_adapter>(*adapter_, KRUX_IID_READ_ADAPTER, KRUX_END_OF(krux_read_adapter, read));
  if (read) require_functions(KRUX_IID_READ_ADAPTER, read->read);
  resolves = read && KRUX_HAS(krux_read_adapter, read, resolve) && read->resolve;
  write = find_table<krux_write_executor>(*adapter_, KRUX_IID_WRITE_EXECUTOR,
                                          KRUX_END_OF(krux_write_executor, find_effect));
  if (write) require_functions(KRUX_IID_WRITE_EXECUTOR, write->execute_write, write->find_effect);
  rollback = find_table<krux_rollback_capable>(*adapter_, KRUX_IID_ROLLBACK_CAPABLE,
                                               KRUX_END_OF(krux_rollback_capable, find_rollback));
  if (rollback) {
    require_functions(KRUX_IID_ROLLBACK_CAPABLE, rollback->supports_rollback, rollback->create_rollback_point,
                      rollback->rollback, rollback->find_rollback);
  }
  cleanup = find_table<krux_cleanup>(*adapter_, KRUX_IID_CLEANUP, KRUX_END_OF(krux_cleanup, clean_up));
  if (cleanup) require_functions(KRUX_IID_CLEANUP, cleanup->clean_up);
  account =
      find_table<krux_account_adapter>(*adapter_, KRUX_IID_ACCOUNT_ADAPTER, KRUX_END_OF(krux_account_adapter, revoke));
  if (account) require_functions(KRUX_IID_ACCOUNT_ADAPTER, account->verify, account->revoke);
}

void destroy_adapter(krux_adapter* adapter, std::shared_ptr<LentHost> host) {
  if (!adapter || !KRUX_HAS(krux_adapter, adapter, destroy) || !adapter->destroy) return;
  const auto done = std::make_shared<std::promise<void>>();
  const auto ended = done->get_future();
  try {
    std::thread([adapter, done, kept = std::move(host)] {
      adapter->destroy(adapter);
      done->set_value();
    }).detach();
    ended.wait_for(kDestroyPatience);
  } catch (const std::system_error&) {  // no thread to be had
    adapter->destroy(adapter);
  }
}

}  // namespace krux
