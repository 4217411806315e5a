// What a well-behaved agent gets while another one does its worst: searches at an even pace, and as many as there can
// be; each in turn with the same alone.
//   bench-fairness [MESSAGES [ROUNDS [OFFENCE]]]    default: 20,000 messages, 3 rounds of each offence; OFFENCE: a part
//   of
//                                                   the name of one that is to be tried alone
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "bench/corpus.hpp"
#include "bench/host_rig.hpp"
#include "bench/mail_host.hpp"
#include "bench/offender.hpp"
#include "bench/report.hpp"
#include "bench/rpc_client.hpp"
#include "core/util/clock.hpp"

using namespace krux;
using namespace krux::bench;

namespace {

constexpr double kOffered = 50;  // searches a second
constexpr double kPacedSeconds = 4, kSaturatedSeconds = 2, kWarmSeconds = 0.5;
constexpr double kMostSlower = 4, kLeastShare = 0.4;
constexpr int kConnections = 4;  // of the well-behaved agent
constexpr std::int64_t kChannels = 20;
constexpr int kMails = 64;

void seed_messages(test::SlackEmulator& slack, std::int64_t messages) {
  SystemClock clock;
  const auto end_ms = clock.wall_ms() - 3'600'000;
  slack.seed(R"({"users":[{"id":"U0BENCH0000","name":"person"}]})");
  Corpus corpus(messages);
  for (std::int64_t c = 0; c < kChannels; ++c) {
    std::string list;
    for (auto i = c; i < messages; i += kChannels) {
      list += fmt::format(R"({}{{"user":"U0BENCH0000","at_ms":{},"text":{}}})", list.empty() ? "" : ",",
                          end_ms - i * 60'000, json_string(corpus.body(i)));
    }
    slack.seed(fmt::format(R"({{"channels":[{{"id":"C0BENCH{:04}","name":"team-{}","messages":[{}]}}]}})", c, c, list));
  }
}

test::GmailEmulatorOptions mailbox_options() {
  test::GmailEmulatorOptions options;
  options.driven_clock = false;
  return options;
}

/// The Slack adapter with its replica, and a mailbox whose reads can be made to hang.
class FairHost : public HostRig {
 public:
  FairHost(const std::filesystem::path& directory, std::unique_ptr<test::GmailEmulator> gmail)
      : HostRig(directory, "  gmail:\n" + mail_settings(*gmail) + "    sync_interval_seconds: 86400\n"),
        gmail_(std::move(gmail)) {
    add_service("gmail", KRUXOS_BENCH_MAIL_ADAPTER, KRUXOS_BENCH_MAIL_DEFINITION);
  }

  void connect_mailbox() {
    const auto seeded =
        gmail_->control("POST", "seed", fmt::format(R"({{"generate":{{"messages":{},"spacing_ms":60000}}}})", kMails));
    connect_mail(*this);
    for (int i = 0; i < 6000; ++i) {
      const auto account = sync_status("gmail");
      if (find_int(account, "passes").value_or(0) > 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    wrong("the mailbox was not synced");
  }
  void hang() { gmail_->fault(R"({"method":"gmail.users.messages.get","kind":"hang","count":0})"); }
  void let_go() {
    gmail_->clear_faults();
    for (int i = 0; i < 3000; ++i) {
      gmail_->release();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (i > 100 && gmail_->hanging() == 0) return;
    }
  }
  std::vector<std::string> mails(RpcClient& agent) const {
    const auto answer = parse_json(std::string(agent.call(agent.request("email.search", R"({"limit":50})"))), "it");
    const auto* result = find_member(answer, "result");
    const auto* data = result ? find_member(*result, "data") : nullptr;
    const auto* rows = data ? find_member(*data, "messages") : nullptr;
    if (!rows || rows->Size() < 50) wrong("there are no mails");
    std::vector<std::string> ids;
    for (const auto& row : rows->GetArray()) ids.emplace_back(find_string(row, "id").value_or(""));
    return ids;
  }

 private:
  const std::unique_ptr<test::GmailEmulator> gmail_;
};

/// One agent's searches, each over one of its connections.
class Searcher {
 public:
  Searcher(std::uint16_t port, const std::string& key) {
    for (int i = 0; i < kConnections; ++i) clients_.push_back(std::make_unique<RpcClient>(port, key));
    for (const char* term : {"meeting", "invoice", R"(\"team and\")", "zyxwquark"})
      requests_.push_back(clients_[0]->request("slack.search", fmt::format(R"({{"query":"{}"}})", term)));
  }

  /// Milliseconds from the moment when each was to be sent to its answer. Failures are counted.
  std::vector<double> paced(double seconds) {
    std::vector<double> all;
    std::mutex mutex;
    const auto begun = now_s();
    each([&](std::size_t t) {
      std::vector<double> mine;
      for (auto i = t; static_cast<double>(i) / kOffered < seconds; i += clients_.size()) {
        const auto due = begun + static_cast<double>(i) / kOffered;
        std::this_thread::sleep_for(std::chrono::duration<double>(std::max(0.0, due - now_s())));
        search(t, i);
        mine.push_back((now_s() - due) * 1000);
      }
      const std::lock_guard lock(mutex);
      all.insert(all.end(), mine.begin(), mine.end());
    });
    return all;
  }

  /// A second, all connections busy.
  double saturated(double seconds) {
    std::atomic<std::int64_t> count{0};
    const auto begun = now_s();
    each([&](std::size_t t) {
      for (std::size_t i = t; now_s() - begun < seconds; ++i) {
        search(t, i);
        ++count;
      }
    });
    return static_cast<double>(count) / (now_s() - begun);
  }

  std::int64_t failed() const { return failed_; }

 private:
  void search(std::size_t connection, std::size_t number) {
    const auto reply = clients_[connection]->ask(requests_[number % requests_.size()]);
    if (reply.status != 200 || reply.body.find(R"("success":true)") == std::string_view::npos) ++failed_;
  }
  template <class Body>
  void each(Body body) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < clients_.size(); ++t) threads.emplace_back([&body, t] { body(t); });
    for (auto& thread : threads) thread.join();
  }

  std::vector<std::unique_ptr<RpcClient>> clients_;
  std::vector<std::string> requests_;
  std::atomic<std::int64_t> failed_{0};
};

double percentile(std::vector<double> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[(values.size() * percent - 1) / 100];
}

/// Valid JSON of nearly a MiB that no capability takes.
std::string heavy_arguments() {
  std::string list = "[";
  while (list.size() < 1'000'000) list += R"("a","b","c","d","e","f","g","h",)";
  return R"({"query":)" + list + R"("z"]})";
}

std::vector<Offence> offences(FairHost& host, const std::string& key) {
  RpcClient client(host.port(), key);
  for (int i = 0; i < 100; ++i) {
    const auto text = fmt::format("{} {}", i, std::string(2000, 'x'));
    const auto body = client.call(
        client.request("slack.send", fmt::format(R"({{"channel":"team-{}","text":"{}"}})", i % kChannels, text)));
    if (body.find("write_id") == std::string_view::npos) wrong("no write: " + std::string(body));
  }
  const auto mails = host.mails(client);
  const auto read = [&](std::size_t mail) { return fmt::format(R"({{"message_id":"{}"}})", mails.at(mail)); };
  client.call(client.request("email.read", read(0)));  // which keeps it
  // What has been read is kept: in each round another mail is asked for.
  Offence hanging("reads that hang at the service", std::vector<std::string>(), 8);
  for (std::size_t i = 1; i < mails.size(); ++i) hanging.requests.push_back(client.batch("email.read", read(i), 60));
  return {std::move(hanging),
          {"reads of a mail that is kept", client.batch("email.read", read(0), 60), 8},
          {"searches", client.request("slack.search", R"({"query":"the"})"), 32},
          {"proxy.list_writes", client.request("proxy.list_writes", R"({"limit":100})"), 32},
          {"arguments of 1 MB", client.request("slack.search", heavy_arguments()), 16},
          {"batches of 60 searches", client.batch("slack.search", R"({"query":"meeting"})", 60), 8},
          {"messages of one byte", client.post("{"), 200},
          {"paths that there are not", client.get("/nothing"), 200}};
}

/// What the offender got and took, of all rounds together.
struct Taken {
  double seconds = 0, cpu_s = 0;
  std::int64_t answered = 0;
};

class Under {
 public:
  Under(FairHost& host, const std::string& key, const Offence& offence, std::size_t round, bool hangs, Taken& taken)
      : host_(host), hangs_(hangs), taken_(taken) {
    if (hangs_) host_.hang();
    offender_ = std::make_unique<Offender>(host.port(), key, offence, round);
    std::this_thread::sleep_for(std::chrono::duration<double>(kWarmSeconds));
  }
  ~Under() {
    std::thread letting_go([this] {
      if (hangs_) host_.let_go();
    });
    taken_.seconds += now_s() - begun_;
    taken_.answered += offender_->answered();
    offender_->stop();
    taken_.cpu_s += offender_->cpu_s();
    letting_go.join();
  }

 private:
  FairHost& host_;
  const bool hangs_;
  Taken& taken_;
  const double begun_ = now_s();
  std::unique_ptr<Offender> offender_;
};

void rows(FairHost& host, Searcher& searcher, const std::string& bad_key, const Offence& offence, int count,
          bool hangs) {
  std::vector<double> alone, with;
  Rounds rates;
  Taken taken;
  for (std::size_t round = 0; round < static_cast<std::size_t>(count); ++round) {
    const auto quiet = searcher.paced(kPacedSeconds);
    const auto quiet_rate = searcher.saturated(kSaturatedSeconds);
    const Under under(host, bad_key, offence, round, hangs, taken);
    const auto loud = searcher.paced(kPacedSeconds);
    rates.add(searcher.saturated(kSaturatedSeconds), quiet_rate);
    alone.insert(alone.end(), quiet.begin(), quiet.end());
    with.insert(with.end(), loud.begin(), loud.end());
  }
  Rounds times;
  times.add(percentile(with, 99), percentile(alone, 99));
  print_times(fmt::format("p99 of {} searches/s beside {}", kOffered, offence.what), times, "ms", kMostSlower);
  print_figure("  p50 of these; alone", percentile(with, 50), "ms", percentile(alone, 50));
  print_rates(fmt::format("  searches, both saturating"), rates, kLeastShare);
  print_figure("  answers that the offender got", static_cast<double>(taken.answered) / taken.seconds, "/s");
  print_figure("  processors that its clients took", taken.cpu_s / taken.seconds, "");
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t messages = argc > 1 ? std::stoll(argv[1]) : 20'000;
  const int rounds = argc > 2 ? std::stoi(argv[2]) : 3;
  const std::string only = argc > 3 ? argv[3] : "";
  FairHost host(scratch_directory(), std::make_unique<test::GmailEmulator>(mailbox_options()));
  seed_messages(host.slack(), messages);
  host.start(8);
  host.connect();
  host.await_sync(messages);
  host.connect_mailbox();
  const auto good = host.new_agent("good"), bad = host.new_agent("bad");
  const auto all = offences(host, bad);
  Searcher searcher(host.port(), good);
  searcher.saturated(kSaturatedSeconds);  // warms it up
  print_header();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].what.find(only) != std::string::npos) rows(host, searcher, bad, all[i], rounds, i == 0);
  }
  print_bound("searches of these that failed", static_cast<double>(searcher.failed()), "", 0);
  host.stop();
}
