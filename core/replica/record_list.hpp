// Which records a replica has, and what they are, without reading them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/replica/replica_reader_pool.hpp"

namespace krux {

struct ListedRecord {
  std::string id;
  std::string digest;  ///< of all that the adapter gave of it: two replicas have the same where the records are alike
};

/// Of what syncs put, also into a collection that is being built. Each call sees the replica as it is then. One thread.
/// Throws as ReplicaReader.
class RecordList {
 public:
  explicit RecordList(std::shared_ptr<ReplicaReaderPool> pool) : pool_(std::move(pool)), connection_(pool_->take()) {}
  ~RecordList() { pool_->give_back(std::move(connection_)); }
  RecordList(const RecordList&) = delete;
  RecordList& operator=(const RecordList&) = delete;

  std::vector<std::string> collections() const;
  /// The first `most` whose id comes behind `after`, in the order of their ids' bytes.
  std::vector<ListedRecord> behind(std::string_view collection, std::string_view after, int most);
  std::optional<std::string> digest_of(std::string_view collection, std::string_view id);

 private:
  std::shared_ptr<ReplicaReaderPool> pool_;
  std::unique_ptr<ReadConnection> connection_;
};

}  // namespace krux
