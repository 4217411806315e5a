// How an agent, the operator and the health page fare while clients without a key take all connections that they can
// get.
//   bench-strangers [SECONDS]   for each row (3)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "bench/bench_host.hpp"
#include "bench/report.hpp"
#include "support/http.hpp"
#include "support/strangers.hpp"

using namespace krux;
using namespace krux::bench;
using test::StrangerKind;
using test::Strangers;

namespace {

constexpr std::size_t kReopenedASecond = 2'000;
constexpr std::chrono::milliseconds kPatience(5'000);

class Host : public BenchHost {
 public:
  explicit Host(const std::filesystem::path& directory) : BenchHost(directory, "slack") {
    configure("    api_base_url: http://127.0.0.1:9/\n");
  }
  /// `descriptors`: what the process may have at most; 0: as many as the system gives.
  void start(std::size_t descriptors) {
    launcher_ = descriptors
                    ? std::vector<std::string>{"/usr/bin/prlimit", fmt::format("--nofile={}", descriptors), "--"}
                    : std::vector<std::string>{};
    launch({});
  }
  std::string control() const { return (directory_ / "data/control.sock").string(); }
};

struct Fares {
  int failed = 0;
  std::vector<double> ms;
  double at(double part) {
    std::sort(ms.begin(), ms.end());
    return ms.empty() ? 0 : ms[static_cast<std::size_t>(part * static_cast<double>(ms.size() - 1))];
  }
};

/// One request, on a connection of its own.
void ask(Fares& fares, const std::function<test::HttpReply()>& request) {
  const auto begun = now_s();
  try {
    if (request().status != 200) ++fares.failed;
  } catch (const std::exception&) {
    ++fares.failed;
  }
  fares.ms.push_back((now_s() - begun) * 1000);
}

struct Parties {
  Fares agent, operators, health;
};

Parties measure(const Host& host, const std::string& key, double seconds) {
  constexpr const char* kBody =
      R"({"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":"proxy.list_writes"}})";
  Parties parties;
  for (const auto end = now_s() + seconds; now_s() < end;) {
    ask(parties.agent, [&] {
      auto reply = test::http_request(host.port(), "POST", "/rpc",
                                      {{"authorization", "Bearer " + key}, {"content-type", "application/json"}}, kBody,
                                      kPatience);
      if (reply.body.find("\"success\":true") == std::string::npos) reply.status = 0;
      return reply;
    });
    ask(parties.operators, [&] {
      return test::http_request(host.control(), "GET", "/v1/vault", {{"host", "localhost"}}, {}, kPatience);
    });
    ask(parties.health, [&] { return test::http_request(host.health_port(), "GET", "/health", {}, {}, kPatience); });
  }
  return parties;
}

void print(const std::string& what, Parties parties) {
  print_bound(what + ": failed, of agent, operator, health",
              parties.agent.failed + parties.operators.failed + parties.health.failed, "", 0);
  print_figure("  agent's requests, p50", parties.agent.at(0.5), "ms");
  print_figure("  p99", parties.agent.at(0.99), "ms");
  print_figure("  operator's, p99", parties.operators.at(0.99), "ms");
  print_figure("  health's, p99", parties.health.at(0.99), "ms");
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::stod(argv[1]) : 3;
  if (!test::allow_descriptors(11'000)) wrong("this needs 11,000 descriptors (ulimit -n)");
  Host host(scratch_directory());
  std::optional<std::string> key;
  print_header();
  for (const std::size_t descriptors : {std::size_t{0}, std::size_t{1024}}) {
    host.start(descriptors);
    if (!key) key = host.new_agent();
    const auto of = descriptors ? fmt::format(" (ulimit -n {})", descriptors) : std::string();
    print("alone" + of, measure(host, *key, seconds));
    for (const std::size_t count : {1'024, 10'000}) {
      for (const auto kind :
           {StrangerKind::kSilent, StrangerKind::kHalfHeader, StrangerKind::kNoBody, StrangerKind::kIdleAfterAnswer}) {
        Strangers strangers(host.port(), count, kind, kReopenedASecond);
        strangers.await_all();
        print(fmt::format("{} strangers, {}{}", count, name_of(kind), of), measure(host, *key, seconds));
      }
      Strangers at_health(host.health_port(), count, StrangerKind::kHalfHeader, kReopenedASecond);
      at_health.await_all();
      print(fmt::format("{} strangers at the health port{}", count, of), measure(host, *key, seconds));
    }
    print_figure("  RssAnon", host.host_figures().private_mb, "MB");
    host.stop();
  }
}
