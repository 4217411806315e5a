// One adapter as its library made it, its role tables checked, with everything that was lent to it.
#pragma once

#include <kruxos/abi.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/adapter/adapter_functions.hpp"
#include "core/replica/collection.hpp"
#include "host/plugins/abi_bridge/lent_host.hpp"

namespace krux {

/// Alive as long as any call into the adapter: each keeps a shared_ptr.
class AdapterInstance {
 public:
  /// Takes the adapter over. Throws krux::Error when its tables are unfit; the adapter is destroyed then as well.
  AdapterInstance(krux_adapter* adapter, std::shared_ptr<LentHost> host, std::vector<CollectionSpec> collections);
  /// Destroys the adapter. One that does not come back from it within 2 s is left to a thread of its own.
  ~AdapterInstance();
  AdapterInstance(const AdapterInstance&) = delete;
  AdapterInstance& operator=(const AdapterInstance&) = delete;

  void* self() const { return adapter_->self; }
  const std::vector<CollectionSpec>& collections() const { return collections_; }

  const AdapterRoles& roles() const { return roles_; }
  /// Of a role that it has.
  template <class Table>
  const Table& table() const {
    return *std::get<const Table*>(tables_);
  }

 private:
  void find_tables();

  krux_adapter* const adapter_;
  std::shared_ptr<LentHost> host_;
  const std::vector<CollectionSpec> collections_;
  AdapterTables tables_{};
  AdapterRoles roles_;
};

/// Calls destroy on a thread of its own and waits up to 2 s for it; `host` lives until it is done. nullptr is let be.
void destroy_adapter(krux_adapter* adapter, std::shared_ptr<LentHost> host);

}  // namespace krux
