// What agents note, through the gateway of a host, against the store's own rate behind a bare socket, in turn: that is
// left to any gateway on this machine.
//   bench-state [PAIRS]   default: 11
#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench_host.hpp"
#include "bench/loopback.hpp"
#include "bench/report.hpp"
#include "bench/rpc_client.hpp"
#include "core/state/state_store.hpp"
#include "core/storage/group_commit.hpp"

using namespace krux;
using namespace krux::bench;

namespace {

constexpr double kTarget = 0.8, kSliceSeconds = 0.25;
constexpr std::size_t kKeys = 1'000;
constexpr int kAgents = 4, kCallsCompared = 400;
constexpr const char* kValue = R"({"step":3,"total":10,"text":"as much as an agent notes of a page"})";

class Host : public BenchHost {
 public:
  explicit Host(const std::filesystem::path& directory) : BenchHost(directory, "slack") {
    configure("    api_base_url: http://127.0.0.1:9/\n");
    launch({});
  }
};

std::string key_of(std::size_t number) {
  return fmt::format("progress.page-{}", number % kKeys);
}

/// The store of a host, in this process.
class LocalStore {
 public:
  explicit LocalStore(const std::filesystem::path& directory)
      : commits_(directory / "kruxos.db", kLedgerKind), store_(commits_, clock_, {}) {}

  /// Returns once it is durable.
  void set(std::size_t number) {
    std::promise<bool> done;
    store_.write({kOwn, kOwn.owner, key_of(number), kValue, {}, {}},
                 [&](const auto& outcome) { done.set_value(std::holds_alternative<StateWritten>(outcome)); });
    if (!done.get_future().get()) wrong("the store has set nothing");
  }
  void get(std::size_t number) const {
    const auto entry = store_.get(kOwn, key_of(number));
    if (!entry || entry->value_json != kValue) wrong("the store has another value");
  }

 private:
  const StateSpace kOwn{"agent_1"};
  SystemClock clock_;
  GroupCommit commits_;
  StateStore store_;
};

/// Calls a second of `threads` threads.
double rate(std::size_t threads, const std::function<void(std::size_t thread)>& call) {
  std::atomic<std::int64_t> calls{0};
  std::vector<std::thread> running;
  const auto start = now_s();
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      std::int64_t count = 0;
      for (; now_s() - start < kSliceSeconds; ++count) call(t);
      calls += count;
    });
  }
  for (auto& thread : running) thread.join();
  return static_cast<double>(calls) / (now_s() - start);
}

/// One capability, by several callers at once.
class Pairs {
 public:
  /// Each caller goes through the agents in turn: one alone may send 8,000 messages a second and no more.
  Pairs(const Host& host, const std::vector<std::string>& keys, std::size_t callers, LocalStore& local, bool sets)
      : callers_(callers), agents_(keys.size()), local_(local), sets_(sets), next_(callers) {
    for (std::size_t n = 0; n < callers * agents_; ++n)
      clients_.push_back(std::make_unique<RpcClient>(host.port(), keys[n % agents_]));
    for (std::size_t n = 0; n < kKeys; ++n)
      for (std::size_t agent = 0; agent < agents_; ++agent) requests_.push_back(request(*clients_[agent], n));
    const auto answer = clients_[0]->call_bytes(requests_[0]);
    for (std::size_t t = 0; t < callers; ++t) {
      next_[t] = t * kKeys / callers;
      bare_.push_back(std::make_unique<Loopback>(requests_[0].size(), answer, [this, t] { work(t); }));
    }
  }

  Rounds run(int pairs) { return callers_ == 1 ? in_turn(pairs) : at_once(pairs); }
  /// Without any socket.
  double store_alone() {
    return rate(callers_, [&](std::size_t t) { work(t); });
  }

 private:
  /// One call of ours after one of the baseline's: what disturbs one mostly disturbs the other.
  Rounds in_turn(int pairs) {
    Rounds measured;
    for (int pair = -1; pair < pairs; ++pair) {
      std::vector<double> ours, baseline;
      for (int i = 0; i < kCallsCompared; ++i) {
        const auto begun = now_s();
        bare_[0]->ask();
        const auto between = now_s();
        call(0);
        ours.push_back(now_s() - between);
        baseline.push_back(between - begun);
      }
      if (pair >= 0) measured.add(1 / median(ours), 1 / median(baseline));  // the first one warms both up
    }
    return measured;
  }
  Rounds at_once(int pairs) {
    Rounds measured;
    for (int pair = -1; pair < pairs; ++pair) {
      const auto baseline = rate(callers_, [&](std::size_t t) { bare_[t]->ask(); });
      const auto ours = rate(callers_, [&](std::size_t t) { call(t); });
      if (pair >= 0) measured.add(ours, baseline);
    }
    return measured;
  }
  std::string request(const RpcClient& client, std::size_t n) const {
    if (!sets_) return client.request("state.persistent.get", fmt::format(R"({{"key":"{}"}})", key_of(n)));
    return client.request("state.persistent.set", fmt::format(R"({{"key":"{}","value":{}}})", key_of(n), kValue));
  }
  void call(std::size_t t) {
    const auto n = next_[t]++;
    const auto agent = n % agents_;
    const auto body = clients_[t * agents_ + agent]->call(requests_[n % kKeys * agents_ + agent]);
    if (body.find(sets_ ? R"("version":)" : R"("step":3)") == std::string_view::npos)
      wrong("an answer is none: " + std::string(body));
  }
  void work(std::size_t t) {
    if (sets_)
      local_.set(next_[t]++);
    else
      local_.get(next_[t]++);
  }

  const std::size_t callers_, agents_;
  LocalStore& local_;
  const bool sets_;
  std::vector<std::size_t> next_;
  std::vector<std::unique_ptr<RpcClient>> clients_;
  std::vector<std::string> requests_;
  std::vector<std::unique_ptr<Loopback>> bare_;
};

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::stoi(argv[1]) : Rounds::kPairs;
  configure_sqlite();
  const auto directory = scratch_directory();
  std::filesystem::create_directory(directory / "local");
  LocalStore local(directory / "local");
  Host host(directory);
  std::vector<std::string> keys;
  for (int n = 0; n < kAgents; ++n) {
    keys.push_back(host.new_agent(fmt::format("bench-{}", n)));
    RpcClient client(host.port(), keys.back());
    for (std::size_t k = 0; k < kKeys; ++k)  // what is read afterwards is there
      client.call(
          client.request("state.persistent.set", fmt::format(R"({{"key":"{}","value":{}}})", key_of(k), kValue)));
  }
  for (std::size_t k = 0; k < kKeys; ++k) local.set(k);
  print_header();
  for (const std::size_t callers : {1U, 16U}) {
    for (const bool sets : {true, false}) {
      Pairs measured(host, keys, callers, local, sets);
      const auto rounds = measured.run(pairs);
      print_rates(fmt::format("state.persistent.{}, {} caller{} / the store behind a bare socket", sets ? "set" : "get",
                              callers, callers > 1 ? "s" : ""),
                  rounds, kTarget);
      print_figure("  the store alone, as many threads", measured.store_alone(), "/s");
    }
  }
  host.stop();
}
