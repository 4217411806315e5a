// Searches through the gateway of a real host against the same in this process, in turn; what the host adds to the
// machine's own loopback; how soon it is ready, and what memory it takes. Every answer is compared before its figure
// counts.
//   bench-gateway [MESSAGES [PENDING [PAIRS]]]   default: 100,000 messages, 1,000,000 pending writes for the last row,
//                                                11 pairs of each ratio
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "bench/added_latency.hpp"
#include "bench/host_rig.hpp"
#include "bench/local_mail.hpp"
#include "bench/local_search.hpp"
#include "bench/mail_host.hpp"
#include "bench/pending_writes.hpp"
#include "bench/report.hpp"
#include "bench/search_pairs.hpp"
#include "bench/slack_corpus.hpp"
#include "core/storage/database.hpp"
#include "core/storage/statement.hpp"
#include "core/util/clock.hpp"
#include "core/util/json.hpp"

using namespace krux;
using namespace krux::bench;

namespace {

constexpr int kStarts = 5;
int pairs = Rounds::kPairs;
constexpr double kMostReadyMs = 300, kMostMb = 60, kLeastOfOne = 0.8;

/// A workspace and a mailbox.
class SearchHost : public HostRig {
 public:
  SearchHost(const std::filesystem::path& directory, std::unique_ptr<test::GmailEmulator> gmail)
      : HostRig(directory, "  gmail:\n" + mail_settings(*gmail) + "    sync_interval_seconds: 86400\n"),
        gmail_(std::move(gmail)) {
    add_service("gmail", KRUXOS_BENCH_MAIL_ADAPTER, KRUXOS_BENCH_MAIL_DEFINITION);
  }

  /// An empty one, and synced.
  void connect_mailbox() {
    connect_mail(*this);
    for (int i = 0; i < 6000; ++i) {
      if (find_int(sync_status("gmail"), "passes").value_or(0) > 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    wrong("the mailbox was not synced");
  }

 private:
  const std::unique_ptr<test::GmailEmulator> gmail_;
};

Condition text_condition(std::string term) {
  Condition condition;
  condition.kind = Condition::Kind::kText;
  condition.text = std::move(term);
  return condition;
}

PairedSearch slack_search(const LocalSearch& local, const std::string& term, const std::string& channel = {}) {
  Query query;
  query.collection = "messages";
  if (!channel.empty()) {
    Condition in;
    in.kind = Condition::Kind::kField;
    in.field = "channel_id";
    in.text = channel;
    query.where.children.push_back(std::move(in));
  }
  query.where.children.push_back(text_condition(term));
  const auto phrase = json_string("\"" + term + "\"");  // as it stands, like the condition
  const auto arguments = channel.empty() ? fmt::format(R"({{"query":{}}})", phrase)
                                         : fmt::format(R"({{"query":{},"channel":"{}"}})", phrase, channel);
  return {channel.empty() ? term : term + " in a channel", "slack.search", arguments,
          [&local, query] { return local.run(query).json; }};
}

std::vector<PairedSearch> slack_searches(const LocalSearch& local) {
  std::vector<PairedSearch> all;
  for (const char* term : {"meeting", "invoice", "team and", "the", "zyxwquark", "nothing of this"})
    all.push_back(slack_search(local, term));
  all.push_back(slack_search(local, "project", channel_id(0)));
  return all;
}

std::vector<PairedSearch> mail_searches(const LocalMail& local) {
  std::vector<PairedSearch> all;
  for (const char* query : {"meeting", "invoice", "\"team and\"", "the", "subject:project is:unread", "zyxwquark"}) {
    const auto arguments = fmt::format(R"({{"query":{},"limit":20,"offset":0}})", json_string(query));
    all.push_back({query, "email.search", arguments, [&local, arguments] { return local.read(arguments); }});
  }
  return all;
}

/// Against the same searches behind sockets that do nothing else, which are the limit of any gateway.
void rows_beside_bare_sockets(const std::vector<PairedSearch>& all, Clients& clients, double target,
                              const std::string& indent = "  ") {
  BareServers bare(all, clients);
  print_rates(indent + "the same / the same in process behind a bare socket",
              compare_with(
                  all, clients, [&](const PairedSearch&, std::size_t thread) { bare.ask(thread); }, pairs),
              target);
}

/// The same searches as calls of tools, whose answers say everything twice.
void rows_as_tools(std::vector<PairedSearch> all, Clients& clients, double target) {
  for (auto& search : all) search.as_tool = true;
  check_answers(all, *clients[0]);
  print_rates("  the same over /mcp / in process", compare(all, clients, pairs), target);
  BareServers bare(all, clients);
  print_rates("    the same / the same in process behind a bare socket",
              compare_with(
                  all, clients, [&](const PairedSearch&, std::size_t thread) { bare.ask(thread); }, pairs),
              target);
}

/// Rows for `clients`, and, for one, each search by itself.
void search_rows(std::vector<PairedSearch> all, Clients& clients, const std::string& connections,
                 const std::string& baseline, double target) {
  const auto what = all[0].capability;
  check_answers(all, *clients[0]);
  compare(all, clients, 1);  // warms both up
  print_rates(fmt::format("{}, {} / {}", what, connections, baseline), compare(all, clients, pairs), target);
  rows_beside_bare_sockets(all, clients, target);
  rows_as_tools(all, clients, target);
  if (clients.size() > 1) return;
  for (const auto& search : all) {
    print_rates(fmt::format("  \"{}\"", search.name), compare({search}, clients, pairs), kLeastOfOne);
    rows_beside_bare_sockets({search}, clients, kLeastOfOne, "    ");
  }
}

/// A connection for each key.
Clients connect(const HostRig& host, const std::vector<std::string>& keys) {
  Clients clients;
  for (const auto& key : keys) clients.push_back(std::make_unique<RpcClient>(host.port(), key));
  return clients;
}

std::vector<CollectionSpec> slack_collections(const HostRig& host) {
  const auto plugins = PluginRegistry::discover(host.adapters(), {});
  const auto* slack = plugins.find("slack");
  if (!slack) wrong("the adapter cannot be loaded: " + plugins.all().front().reason);
  return slack->collections;
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

void rows_of_searches(const HostRig& host, const std::vector<std::string>& keys, const std::string& connections,
                      double target) {
  const LocalSearch slack(host.replica("slack"), slack_collections(host));
  const LocalMail mail(host.adapters(), host.replica("gmail"));
  auto clients = connect(host, keys);
  search_rows(slack_searches(slack), clients, connections, "in process", target);
  auto mails = mail_searches(mail);
  search_rows(mails, clients, connections, "the adapter in process", target);
  check_answers(mails, *clients[0]);
  print_rates(
      fmt::format("email.search, {} / its SQL alone", connections),
      compare_with(
          mails, clients, [&](const PairedSearch& search, std::size_t) { mail.query(search.arguments); }, pairs),
      target);
  if (clients.size() == 1) added_latency_rows(slack_search(slack, kOnlyWord), clients, pairs);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t messages = argc > 1 ? std::stoll(argv[1]) : 100'000;
  const std::int64_t pending = argc > 2 ? std::stoll(argv[2]) : 1'000'000;
  if (argc > 3) pairs = std::stoi(argv[3]);
  configure_sqlite();
  test::GmailEmulatorOptions mailbox;
  mailbox.driven_clock = false;
  SearchHost host(scratch_directory(), std::make_unique<test::GmailEmulator>(mailbox));
  seed(host.slack(), messages);
  print_header();
  host.start(1);
  const auto begun = now_s();
  host.connect();
  host.await_sync(messages);
  print_figure(fmt::format("first sync of {} messages", messages), static_cast<double>(messages) / (now_s() - begun),
               "/s");
  print_bound("  RssAnon after it", host.host_figures().private_mb, "MB", kMostMb);
  const auto key = host.new_agent(), other_key = host.new_agent("another");
  host.connect_mailbox();
  host.stop();
  fill_mail(host.adapters(), host.replica("gmail"), messages);
  host.start(1);
  host.await_sync(messages);
  rows_of_searches(host, {key}, "1 connection", 0.9);
  host.stop();
  host.start(2);
  host.await_sync(messages);
  rows_of_searches(host, {key, key}, "2 connections of one agent", 0.8);
  rows_of_searches(host, {key, other_key}, "2 connections of two agents", 0.8);
  print_figure("  answers of all of these, on either side, that ran out of time", static_cast<double>(cut_answers()),
               "");
  print_bound(fmt::format("RssAnon with {} messages and as many mails, after searches", messages),
              host.host_figures().private_mb, "MB", kMostMb);
  host.stop();
  print_bound(fmt::format("ready with {} messages", messages), median_start(host, messages), "ms", kMostReadyMs);
  fill_ledger(host.ledger(), pending);
  print_bound(fmt::format("ready with {} messages, {} pending writes", messages, pending), median_start(host, messages),
              "ms", kMostReadyMs);
}
