// One adapter as its library made it, its role tables checked, with everything that was lent to it.
#pragma once

#include <kruxos/abi.h>

#include <memory>
#include <string>
#include <vector>

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

  const krux_sync_adapter* sync = nullptr;  ///< nullptr: it does not have that role
  const krux_read_adapter* read = nullptr;
  const krux_write_executor* write = nullptr;
  const krux_rollback_capable* rollback = nullptr;
  const krux_account_adapter* account = nullptr;
  const krux_cleanup* cleanup = nullptr;
  bool resolves = false;  ///< `read` has a resolve function

 private:
  void find_roles();

  krux_adapter* const adapter_;
  std::shared_ptr<LentHost> host_;
  const std::vector<CollectionSpec> collections_;
};

/// Calls destroy on a thread of its own and waits up to 2 s for it; `host` lives until it is done. nullptr is let be.
void destroy_adapter(krux_adapter* adapter, std::shared_ptr<LentHost> host);

}  // namespace krux
