// slack.search without host, adapter and gateway: the same query on the same replica, its rows made into the same text.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/replica/replica_reader_pool.hpp"

namespace krux::bench {

/// Any thread; each search takes a reader of the pool, as each call of the host does.
class LocalSearch {
 public:
  LocalSearch(const std::filesystem::path& replica, std::vector<CollectionSpec> collections);

  struct Found {
    std::string json;  ///< {"messages":[...],"total":N}
    QueryResult result;
    std::size_t rows = 0;
  };
  Found run(const Query& query) const;

 private:
  LocalSearch(const std::filesystem::path& replica, const std::shared_ptr<const CollectionTables>& tables);

  std::shared_ptr<ReplicaReaderPool> pool_;
};

}  // namespace krux::bench
