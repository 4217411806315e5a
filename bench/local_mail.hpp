// email.search without host and gateway: the adapter's library in this process on the host's replica; and its SQL
// alone.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/adapter/call_runner.hpp"
#include "core/replica/replica_reader_pool.hpp"
#include "core/util/clock.hpp"
#include "host/plugins/plugin_registry.hpp"
#include "host/runner/plugin_factory.hpp"

namespace krux::bench {

/// Any thread; each search takes a reader of the pool, as each call of the host does. Failures are wrong().
class LocalMail {
 public:
  LocalMail(const std::filesystem::path& adapters, const std::filesystem::path& replica);

  /// {"messages":[...],"total":N}
  std::string read(const std::string& arguments) const;
  /// The same query, of which each row is looked at and nothing is made.
  void query(const std::string& arguments) const;

 private:
  SystemClock clock_;
  mutable CallRunner runner_{clock_, {}};
  PluginRegistry registry_;
  std::shared_ptr<ReplicaReaderPool> pool_;
  std::shared_ptr<ServiceAdapter> adapter_;
};

/// Fills the replica of a host that does not run with so many mails. `adapters` as the host's.
void fill_mail(const std::filesystem::path& adapters, const std::filesystem::path& replica, std::int64_t messages);

}  // namespace krux::bench
