// A ReplicaReader as an adapter sees it.
#pragma once

#include <kruxos/abi/read.h>

#include <memory>

#include "core/replica/replica_reader.hpp"
#include "host/plugins/abi_bridge/lent_call.hpp"

namespace krux {

/// Lent for one function of the adapter, together with `call`, which outlives it.
class LentReader {
 public:
  /// `collections`: the adapter's, which outlive it.
  LentReader(LentCall& call, std::shared_ptr<ReplicaReader> reader, const std::vector<CollectionSpec>& collections);
  LentReader(const LentReader&) = delete;
  LentReader& operator=(const LentReader&) = delete;
  const krux_reader* table() const { return &table_; }

 private:
  krux_status query(const krux_query* query, const krux_row_sink* out, krux_query_result* result);

  LentCall& call_;
  const std::shared_ptr<ReplicaReader> reader_;
  const std::vector<CollectionSpec>& collections_;
  krux_reader table_{};
};

}  // namespace krux
