// Searches through the gateway of a host against the same searches in this process, in turn.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/loopback.hpp"
#include "bench/report.hpp"
#include "bench/rpc_client.hpp"

namespace krux::bench {

/// One search. `here` runs it in this process and gives {"messages":[...],"total":N}; any thread.
struct PairedSearch {
  std::string name, capability, arguments;
  std::function<std::string()> here;
  bool as_tool = false;             ///< called over /mcp instead of /rpc
  std::string request{};            ///< the bytes sent
  std::string expected{}, found{};  ///< how the gateway's body and the text made here begin: all rows
  std::string total{};              ///< what follows
};
using Clients = std::vector<std::unique_ptr<RpcClient>>;

/// The gateway's answer to each search holds what the one in this process finds: count, total and rows. Sets what
/// every later answer must begin with.
void check_answers(std::vector<PairedSearch>& all, RpcClient& client);

/// Searches a second of as many threads as there are clients, in pairs; every answer is compared.
Rounds compare(const std::vector<PairedSearch>& all, Clients& clients, int pairs = Rounds::kPairs);
/// The same, against what `baseline` does for each of them, whatever that gives, on so many threads.
using Baseline = std::function<void(const PairedSearch&, std::size_t thread)>;
Rounds compare_with(const std::vector<PairedSearch>& all, Clients& clients, const Baseline& baseline,
                    int pairs = Rounds::kPairs);

/// The searches in this process behind sockets that carry as many bytes, one for each thread, and nothing else: what is
/// left to any gateway on this machine.
class BareServers {
 public:
  BareServers(const std::vector<PairedSearch>& all, const Clients& clients);
  /// Of all of them in turn, the next.
  void ask(std::size_t thread) { loopbacks_[thread]->ask(); }

 private:
  std::vector<std::unique_ptr<Loopback>> loopbacks_;
};

/// Answers of all of these, on either side, whose time was up before all was found.
std::int64_t cut_answers();

}  // namespace krux::bench
