#include "bench/added_latency.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace krux::bench {
namespace {

constexpr int kCallsCompared = 400;

double quantile_us(std::vector<double> seconds, double share) {
  std::sort(seconds.begin(), seconds.end());
  return 1e6 * seconds[static_cast<std::size_t>(static_cast<double>(seconds.size() - 1) * share)];
}

/// What calls took, in rounds.
struct Times {
  std::vector<double> p50, p99;
  void add(const std::vector<double>& seconds) {
    p50.push_back(quantile_us(seconds, .5));
    p99.push_back(quantile_us(seconds, .99));
  }
};

std::vector<double> difference(std::vector<double> of, const std::vector<double>& and_of) {
  for (std::size_t i = 0; i < of.size(); ++i) of[i] -= and_of[i];
  return of;
}

struct Bounds {
  double p50_us = 0, p99_us = 0;
};

void rows(const std::string& what, const PairedSearch& search, Clients& clients, int pairs, Bounds bounds) {
  auto& client = *clients[0];
  Loopback loopback(search.request.size(), client.call_bytes(search.request));
  BareServers bare({search}, clients);
  Times calls, echoes, behind, here, added;
  for (int round = 0; round < pairs; ++round) {
    std::vector<double> of_calls, of_echoes, of_behind, of_here, of_added;
    for (int i = 0; i < kCallsCompared; ++i) {
      const auto begun = now_s();
      loopback.ask();
      const auto echoed = now_s();
      if (!client.call(search.request).starts_with(search.expected)) wrong("the answer has changed");
      const auto answered = now_s();
      if (!search.here().starts_with(search.found)) wrong("the replica has changed");
      const auto found = now_s();
      bare.ask(0);
      of_behind.push_back(now_s() - found);
      of_echoes.push_back(echoed - begun);
      of_calls.push_back(answered - echoed);
      of_here.push_back(found - answered);
      of_added.push_back(of_calls.back() - of_echoes.back() - of_here.back());
    }
    calls.add(of_calls), echoes.add(of_echoes), behind.add(of_behind), here.add(of_here), added.add(of_added);
  }
  print_bound(what + ", above the same search behind a bare socket, p50", difference(calls.p50, behind.p50), "us",
              bounds.p50_us);
  print_bound("  p99", difference(calls.p99, behind.p99), "us", bounds.p99_us);
  print_figure("  the same search behind a bare socket, p50; p99", median(behind.p50), "us", median(behind.p99));
  print_bound(what + ", above the loopback and the search, p50", added.p50, "us", bounds.p50_us);
  print_bound("  p99", added.p99, "us", bounds.p99_us);
  print_figure("  the loopback's own, as many bytes, p50; p99", median(echoes.p50), "us", median(echoes.p99));
  print_figure("  the same search in this process, p50; p99", median(here.p50), "us", median(here.p99));
}

}  // namespace

void added_latency_rows(const PairedSearch& rare, Clients& clients, int pairs) {
  std::vector<PairedSearch> one{rare};
  auto& client = *clients[0];
  check_answers(one, client);
  rows("a call that finds one message", one[0], clients, pairs, {60, 200});
  one[0].request = client.tool_request("slack__search", rare.arguments);
  const std::string answer(client.call(one[0].request));
  const auto end = answer.find(R"(,\"total\":)");  // what follows may change with the time
  if (end == std::string::npos) wrong("the tool's answer is none of a search: " + answer.substr(0, 300));
  one[0].expected = answer.substr(0, end);
  rows("a tool's call over /mcp that finds one message", one[0], clients, pairs, {100, 300});
}

}  // namespace krux::bench
