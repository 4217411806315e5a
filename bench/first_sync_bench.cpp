// bench-first-sync [MESSAGES]: the first sync of a Gmail mailbox, by a clock that stands still while anybody works: how
// much longer than the quota alone it takes, when recent mail is found, and what the host needs meanwhile. Default:
// 100,000, which is six hours of that clock.
#include <fmt/format.h>

#include <algorithm>

#include "bench/mail_host.hpp"
#include "bench/report.hpp"
#include "bench/rpc_client.hpp"

using namespace krux;
using namespace krux::bench;

namespace {

constexpr double kUnitsAMinute = 5'400;       // what the definition lets reading take
constexpr std::int64_t kGoogleUnits = 6'000;  // the emulator refuses what goes beyond
constexpr double kMessageUnits = 20, kListUnits = 5;
constexpr std::int64_t kListed = 500;
constexpr std::int64_t kStepMs = 1'000, kLookMs = 15'000;
constexpr std::int64_t kRecent = 100;
constexpr double kMostMb = 80, kMostRecentS = 30;

double quota_s(std::int64_t messages) {
  const std::int64_t lists = (messages + kListed - 1) / kListed;
  const double units = static_cast<double>(messages) * kMessageUnits + static_cast<double>(lists) * kListUnits;
  return units / kUnitsAMinute * 60;
}

std::int64_t found(RpcClient& agent) {
  const auto body = agent.call(agent.request("email.search", R"({"limit":100})"));
  const auto answer = parse_json(std::string(body), "the answer");
  const auto* result = find_member(answer, "result");
  const auto* data = result ? find_member(*result, "data") : nullptr;
  const auto* messages = data ? find_member(*data, "messages") : nullptr;
  if (!messages || !messages->IsArray()) wrong("the search failed: " + std::string(body));
  return messages->Size();
}

struct Run {
  double first_s = 0, recent_s = 0, whole_s = 0;  ///< of the driven clock
  double real_s = 0;
  ProcessFigures host, before;
  double most_private_mb = 0;
  double gmail_cpu_s = 0;
};

Run sync(MailHost& mail, RpcClient& agent, std::int64_t messages) {
  Run run;
  run.before = mail.host_figures();
  const auto gmail_before = mail.gmail_figures().cpu_s, real = now_s();
  const auto driven_s = [&] { return static_cast<double>(mail.driven_ms()) / 1000; };
  const auto limit = quota_s(messages) * 1.5 + 600;
  mail.connect();
  mail.advance(0);
  for (bool done = false; !done; mail.advance(kStepMs)) {
    if (run.recent_s == 0) {
      const auto known = found(agent);
      if (known > 0 && run.first_s == 0) run.first_s = driven_s();
      if (known >= std::min(kRecent, messages)) run.recent_s = driven_s();
    }
    if (mail.driven_ms() % kLookMs != 0) continue;
    run.host = mail.host_figures();
    run.most_private_mb = std::max(run.most_private_mb, run.host.private_mb);
    const auto state = mail.sync();
    if (!state.problem.empty()) wrong("the sync failed: " + state.problem);
    done = state.done;
    if (done && state.messages != messages) wrong(fmt::format("{} messages are there", state.messages));
    if (done) run.whole_s = driven_s();
    if (driven_s() > limit) wrong(fmt::format("the sync does not end: {} of {}", state.messages, messages));
  }
  run.real_s = now_s() - real;
  run.gmail_cpu_s = mail.gmail_figures().cpu_s - gmail_before;
  return run;
}

void print(MailHost& mail, const Run& run, std::int64_t messages) {
  constexpr double kMostOver = 1.1;
  Rounds time;
  time.add(run.whole_s / 60, quota_s(messages) / 60);
  print_times(fmt::format("first sync of {} messages / the quota alone", messages), time, "min", kMostOver);
  const auto cpu = run.host.cpu_s - run.before.cpu_s;
  print_figure("  the host's own processor time", cpu, "s");
  print_figure("  the same, of the whole time", cpu / run.whole_s * 100, "%");
  print_figure("  the same, a message", cpu / static_cast<double>(messages) * 1e6, "us");
  print_figure("  the emulator's processor time", run.gmail_cpu_s, "s");
  print_figure("  messages fetched twice",
               static_cast<double>(mail.gmail().calls("gmail.users.messages.get") - messages), "");
  print_figure("  most units in any minute, of 6,000", static_cast<double>(mail.gmail().units_per_minute()), "");
  print_figure("  this run, by the clock on the wall", run.real_s, "s");
  print_bound("first message found after", run.first_s, "s", kMostRecentS);
  print_bound(fmt::format("newest {} messages found after", std::min(kRecent, messages)), run.recent_s, "s",
              kMostRecentS);
  print_bound("most RssAnon while syncing", run.most_private_mb, "MB", kMostMb);
  print_bound("most resident at once, mapped pages included", run.host.peak_mb, "MB", kMostMb);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t messages = argc > 1 ? std::stoll(argv[1]) : 100'000;
  MailHost mail(scratch_directory(), kGoogleUnits);
  mail.gmail().seed(fmt::format(R"({{"generate":{{"messages":{},"spacing_ms":300000,"thread_length":3}}}})", messages));
  mail.start();
  RpcClient agent(mail.port(), mail.new_agent());
  print_header();
  const auto run = sync(mail, agent, messages);
  print(mail, run, messages);
  mail.stop();
}
