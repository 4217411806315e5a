// Searches through the gateway of a host against the same searches in this process, in turn.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "bench/rpc_client.hpp"

namespace krux::bench {

/// One search. `here` runs it in this process and gives {"messages":[...],"total":N}; any thread.
struct PairedSearch {
  std::string name, capability, arguments;
  std::function<std::string()> here;
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
/// The same, against what `baseline` does for each of them, whatever that gives.
Rounds compare_with(const std::vector<PairedSearch>& all, Clients& clients,
                    const std::function<void(const PairedSearch&)>& baseline, int pairs = Rounds::kPairs);

/// Answers of all of these, on either side, whose time was up before all was found.
std::int64_t cut_answers();

}  // namespace krux::bench
