#include "host/plugins/abi_bridge/adapter_instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>

#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr auto kDestroyPatience = std::chrono::seconds(2);

Error unfit(std::string_view table, const std::string& why) {
  return {ErrorCode::kServiceUnavailable,
          fmt::format("The adapter's table {} {}; ask its author for a fixed one.", table, why)};
}

/// Where the member of a table ends.
template <class Table, class Field>
std::size_t end_of(Field Table::*member) {
  static constexpr Table table{};
  const auto* begin = reinterpret_cast<const std::byte*>(&table);
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(table.*member) + 1) - begin);
}

template <class Function, class Table>
constexpr bool is_needed() {
  return std::is_same_v<typename Function::Table, Table> && Function::kExtras.optional == nullptr;
}

/// What every table of the role has, those of adapters for ABI 1.0 included.
template <class Table>
std::size_t needed_size() {
  std::size_t needed = 0;
  AdapterFunctions::for_each([&]<class Function>(Function) {
    if constexpr (is_needed<Function, Table>()) needed = std::max(needed, end_of(Function::kEntry));
  });
  return needed;
}

/// The role's table, or nullptr where the adapter does not have the role. Throws when it is unfit.
template <class Table>
const Table* find_table(const krux_adapter& adapter) {
  const auto* iid = AdapterRole<Table>::kIid;
  const auto* table = static_cast<const Table*>(adapter.query(adapter.self, iid));
  if (!table) return nullptr;
  if (table->size < needed_size<Table>())
    throw unfit(iid, fmt::format("is truncated: it has {} bytes, {} are needed", table->size, needed_size<Table>()));
  AdapterFunctions::for_each([&]<class Function>(Function) {
    if constexpr (is_needed<Function, Table>())
      if (!(table->*Function::kEntry)) throw unfit(iid, fmt::format("lacks {}: it is NULL", Function::kName));
  });
  return table;
}

}  // namespace

AdapterInstance::AdapterInstance(krux_adapter* adapter, std::shared_ptr<LentHost> host,
                                 std::vector<CollectionSpec> collections)
    : adapter_(adapter), host_(std::move(host)), collections_(std::move(collections)) {
  try {
    find_tables();
  } catch (...) {
    destroy_adapter(adapter_, host_);
    throw;
  }
}

AdapterInstance::~AdapterInstance() {
  destroy_adapter(adapter_, host_);
}

void AdapterInstance::find_tables() {
  if (adapter_->size < sizeof(krux_adapter)) {
    throw unfit("krux_adapter",
                fmt::format("is truncated: it has {} bytes, {} are needed", adapter_->size, sizeof(krux_adapter)));
  }
  if (!adapter_->query) throw unfit("krux_adapter", "lacks query: it is NULL");
  std::apply(
      [this]<class... Tables>(const Tables*&... tables) {
        ((tables = find_table<Tables>(*adapter_), roles_.*AdapterRole<Tables>::kHas = tables != nullptr), ...);
      },
      tables_);
  AdapterFunctions::for_each([this]<class Function>(Function) {
    if constexpr (Function::kExtras.optional != nullptr) {
      const auto* table = std::get<const typename Function::Table*>(tables_);
      const bool known = table && table->size >= end_of(Function::kEntry);
      roles_.*Function::kExtras.optional = known && table->*Function::kEntry;
    }
  });
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
