// slack.search through the gateway of a real host against the same search in this process, in turn; how soon the host
// is ready, and what memory it takes. Every answer is compared before its figure counts.
//   bench-gateway [MESSAGES [PENDING]]      default: 100,000 messages, 1,000,000 pending writes for the last row
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "bench/corpus.hpp"
#include "bench/host_rig.hpp"
#include "bench/local_search.hpp"
#include "bench/pending_writes.hpp"
#include "bench/report.hpp"
#include "bench/rpc_client.hpp"
#include "core/storage/database.hpp"
#include "core/storage/statement.hpp"
#include "core/util/clock.hpp"
#include "core/util/json.hpp"
#include "host/plugins/plugin_registry.hpp"

using namespace krux;
using namespace krux::bench;

namespace {

constexpr int kRounds = 15, kStarts = 5;
constexpr double kSliceSeconds = 0.3;
constexpr std::int64_t kPerChannel = 1000, kPeople = 500;
constexpr double kMostReadyMs = 300, kMostMb = 60;

std::string channel_id(std::int64_t n) {
  return fmt::format("C0BENCH{:04}", n);
}

/// Channels of a thousand messages; the newest of all of them are spread over all channels.
void seed(test::SlackEmulator& slack, std::int64_t messages) {
  SystemClock clock;
  const auto end_ms = clock.wall_ms() - 3'600'000;
  std::string users;
  for (std::int64_t i = 0; i < kPeople; ++i)
    users += fmt::format(R"({}{{"id":"U0BENCH{:04}","name":"person{}"}})", i == 0 ? "" : ",", i, i);
  slack.seed(fmt::format(R"({{"users":[{}]}})", users));
  Corpus corpus(messages);
  const auto channels = (messages + kPerChannel - 1) / kPerChannel;
  for (std::int64_t c = 0; c < channels; ++c) {
    std::string list;
    for (auto i = c; i < messages; i += channels) {
      list += fmt::format(R"({}{{"user":"U0BENCH{:04}","at_ms":{},"text":{}}})", list.empty() ? "" : ",",
                          i * 7919 % 104'729 % kPeople, end_ms - i * 60'000, json_string(corpus.body(i)));
    }
    slack.seed(
        fmt::format(R"({{"channels":[{{"id":"{}","name":"team-{}","messages":[{}]}}]}})", channel_id(c), c, list));
  }
}

struct AgentSearch {
  std::string name, arguments;
  Query query;
  std::string request{};            ///< the bytes sent
  std::string expected{}, found{};  ///< how the gateway's body and the result in this process begin: all rows
  std::string total{};              ///< what follows
};

Condition text_condition(std::string term) {
  Condition condition;
  condition.kind = Condition::Kind::kText;
  condition.text = std::move(term);
  return condition;
}

std::vector<AgentSearch> searches() {
  std::vector<AgentSearch> all;
  for (const char* term : {"meeting", "invoice", "team and", "the", "zyxwquark", "nothing of this"}) {
    AgentSearch search{term, fmt::format(R"({{"query":"{}"}})", term), {}};
    search.query.where.children = {text_condition(term)};
    all.push_back(std::move(search));
  }
  AgentSearch in_channel{
      "project in a channel", fmt::format(R"({{"query":"project","channel":"{}"}})", channel_id(0)), {}};
  Condition channel;
  channel.kind = Condition::Kind::kField;
  channel.field = "channel_id";
  channel.text = channel_id(0);
  in_channel.query.where.children = {std::move(channel), text_condition("project")};
  all.push_back(std::move(in_channel));
  for (auto& search : all) search.query.collection = "messages";
  return all;
}

std::atomic<std::int64_t> cut_answers{0};

/// Whether the answer says that its time was up before all rows were found.
bool is_cut(std::string_view text) {
  const auto end = text.substr(text.size() - std::min<std::size_t>(text.size(), 400));
  return end.find("\"incomplete\":true") != std::string_view::npos;
}

/// The total, or 0 when it is a lower bound: where counting ends then may differ from run to run.
std::uint64_t exact_total(const JsonValue& data) {
  if (find_bool(data, "total_is_lower_bound") == true) return 0;
  return static_cast<std::uint64_t>(find_int(data, "total").value_or(-1));
}

/// The gateway's answer to each search holds what the search in this process finds: count, total and ids. Sets what
/// every later answer must begin with.
void check_answers(std::vector<AgentSearch>& all, const LocalSearch& local, RpcClient& client) {
  for (auto& search : all) {
    search.request = client.request("slack.search", search.arguments);
    std::string here, body;
    // The first ones of a new process read from the disk and may run out of time.
    for (int i = 0; i < 50 && (i < 5 || is_cut(here) || is_cut(body)); ++i) {
      here = local.run(search.query).json;
      body = client.call(search.request);
    }
    const auto answer = parse_json(body, "the answer"), ours = parse_json(here, "the result");
    const auto* result = find_member(answer, "result");
    const auto* data = result ? find_member(*result, "data") : nullptr;
    const auto* rows = data ? find_member(*data, "messages") : nullptr;
    if (!rows || find_bool(*result, "success") != true) wrong(search.name + ": " + body);
    const auto& expected = *find_member(ours, "messages");
    const auto theirs_total = exact_total(*data), our_total = exact_total(ours);
    bool same = rows->Size() == expected.Size() && (theirs_total == our_total || theirs_total == 0 || our_total == 0);
    for (rapidjson::SizeType i = 0; same && i < expected.Size(); ++i)
      same = find_string((*rows)[i], "id") == find_string(expected[i], "id");
    if (!same) wrong(search.name + ": the gateway's answer is not that of the replica");
    const auto end = here.rfind(",\"total\":");
    search.found = here.substr(0, end);
    // A lower bound ends where its time was up, which is elsewhere each time.
    search.total = our_total > 0 ? here.substr(end, here.find_first_of(",}", end + 1) - end) : "";
    const auto at = body.find(search.found);
    if (at == std::string::npos) wrong(search.name + ": the gateway's rows are not those of the replica");
    search.expected = body.substr(0, at + search.found.size());
  }
}

/// The rows are the expected ones, and so is the total, unless the answer says that counting ended early (on a busy
/// machine its time may be up). An answer that says of its rows that the time was up is counted, not compared.
bool holds(std::string_view text, std::string_view rows, std::string_view total) {
  if (is_cut(text)) return ++cut_answers > 0;
  if (!text.starts_with(rows)) return false;
  text.remove_prefix(rows.size());
  return text.starts_with(total) || text.substr(0, 64).find("\"total_is_lower_bound\":true") != std::string_view::npos;
}

/// Searches a second of `threads` threads that each run `body` over and over.
double rate(int threads, const std::function<int(int)>& body) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  const auto start = now_s();
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      std::int64_t count = 0;
      while (now_s() - start < kSliceSeconds) count += body(t);
      counts[static_cast<std::size_t>(t)] = count;
    });
  }
  for (auto& thread : running) thread.join();
  std::int64_t sum = 0;
  for (const auto count : counts) sum += count;
  return static_cast<double>(sum) / (now_s() - start);
}

Rounds compare(const std::vector<AgentSearch>& all, const LocalSearch& local,
               std::vector<std::unique_ptr<RpcClient>>& clients, int rounds) {
  const auto threads = static_cast<int>(clients.size());
  Rounds measured;
  for (int round = 0; round < rounds; ++round) {
    const auto here = rate(threads, [&](int) {
      for (const auto& search : all) {
        if (!holds(local.run(search.query).json, search.found, search.total))
          wrong(search.name + ": the replica has changed");
      }
      return static_cast<int>(all.size());
    });
    const auto there = rate(threads, [&](int t) {
      for (const auto& search : all) {
        if (!holds(clients[static_cast<std::size_t>(t)]->call(search.request), search.expected, search.total))
          wrong(search.name + ": the gateway's answer has changed");
      }
      return static_cast<int>(all.size());
    });
    measured.add(there, here);
  }
  return measured;
}

/// Rows for `threads` connections on as many workers, and, for one, each search by itself.
void search_rows(HostRig& host, const std::string& key, int threads, double target) {
  const auto plugins = PluginRegistry::discover(host.adapters(), {});
  const auto* slack = plugins.find("slack");
  if (!slack) wrong("the adapter cannot be loaded: " + plugins.all().front().reason);
  const LocalSearch local(host.replica(), slack->collections);
  std::vector<std::unique_ptr<RpcClient>> clients;
  for (int t = 0; t < threads; ++t) clients.push_back(std::make_unique<RpcClient>(host.port(), key));
  auto all = searches();
  check_answers(all, local, *clients[0]);
  compare(all, local, clients, 1);  // warms both up
  print_rates(fmt::format("slack.search, {0} connection{1} on {0} worker{1}", threads, threads > 1 ? "s" : ""),
              compare(all, local, clients, kRounds), target);
  if (threads > 1) return;
  for (const auto& search : all)
    print_rates(fmt::format("  \"{}\"", search.name), compare({search}, local, clients, kRounds / 5), target);
}

double median_start(HostRig& host, std::int64_t messages) {
  std::vector<double> times;
  for (int i = 0; i < kStarts; ++i) {
    times.push_back(host.start(8));
    host.await_sync(messages);
    host.stop();
  }
  return median(times);
}

void fill_ledger(const std::filesystem::path& file, std::int64_t pending) {
  constexpr std::int64_t kBatch = 100'000;
  SystemClock clock;
  const auto db = open_database(file, kLedgerKind);
  for (std::int64_t done = 0; done < pending; done += kBatch)
    add_pending(*db, {"slack", "T0OTHER", 1}, done, std::min(kBatch, pending - done), clock.wall_ms() + 3'600'000);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t messages = argc > 1 ? std::stoll(argv[1]) : 100'000;
  const std::int64_t pending = argc > 2 ? std::stoll(argv[2]) : 1'000'000;
  configure_sqlite();
  HostRig host(scratch_directory());
  seed(host.slack(), messages);
  print_header();
  host.start(1);
  const auto begun = now_s();
  host.connect();
  host.await_sync(messages);
  print_figure(fmt::format("first sync of {} messages", messages), static_cast<double>(messages) / (now_s() - begun),
               "/s");
  print_bound("  RssAnon after it", host.host_figures().private_mb, "MB", kMostMb);
  const auto key = host.new_agent();
  search_rows(host, key, 1, 0.9);
  host.stop();
  host.start(2);
  host.await_sync(messages);
  search_rows(host, key, 2, 0.8);
  print_figure("  answers of all of these, on either side, that ran out of time", static_cast<double>(cut_answers), "");
  print_bound(fmt::format("RssAnon with {} messages, after searches", messages), host.host_figures().private_mb, "MB",
              kMostMb);
  host.stop();
  print_bound(fmt::format("ready with {} messages", messages), median_start(host, messages), "ms", kMostReadyMs);
  fill_ledger(host.ledger(), pending);
  print_bound(fmt::format("ready with {} messages, {} pending writes", messages, pending), median_start(host, messages),
              "ms", kMostReadyMs);
}
