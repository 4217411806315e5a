// A SyncSession as an adapter sees it.
#pragma once

#include <kruxos/abi/sync.h>

#include <memory>
#include <string_view>
#include <vector>

#include "core/replica/sync_session.hpp"
#include "host/plugins/abi_bridge/lent_reader.hpp"

namespace krux {

/// Lent for one sync step, together with `call` and `collections` (the adapter's own), which outlive it.
class LentStore {
 public:
  LentStore(LentCall& call, std::shared_ptr<SyncSession> session, const std::vector<CollectionSpec>& collections);
  LentStore(const LentStore&) = delete;
  LentStore& operator=(const LentStore&) = delete;
  const krux_sync_store* table() const { return &table_; }

 private:
  std::string put(const krux_record* record);
  void fill_rows();
  void fill_rest();

  LentCall& call_;
  const std::shared_ptr<SyncSession> session_;
  const std::vector<CollectionSpec>& collections_;
  LentReader reader_;
  krux_sync_store table_{};
};

}  // namespace krux
