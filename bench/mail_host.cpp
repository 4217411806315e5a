#include "bench/mail_host.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <thread>

#include "bench/report.hpp"
#include "support/at_rest.hpp"
#include "support/oauth_browser.hpp"

namespace krux::bench {
namespace {

namespace fs = std::filesystem;
using test::milliseconds;

constexpr std::int64_t kStartMs = 1'700'000'000'000, kBootMs = 50'000'000;
// The emulator's own client, whose address to return to may be any of this machine.
constexpr const char* kClient =
    R"({"client_id":"krux-test.apps.googleusercontent.com","client_secret":"GOCSPX-krux-test"})";

test::GmailEmulatorOptions gmail_options() {
  test::GmailEmulatorOptions options;
  options.start_ms = kStartMs;
  return options;
}

}  // namespace

std::string mail_settings(const test::GmailEmulator& gmail) {
  return fmt::format(
      "    api_base_url: {0}/\n    oauth: {{callback_port: 0, authorize_url: {0}/o/oauth2/v2/auth, "
      "token_url: {0}/token, revoke_url: {0}/revoke}}\n",
      gmail.origin());
}

MailHost::MailHost(const fs::path& directory, std::int64_t units_per_minute)
    : BenchHost(directory, "gmail"), gmail_(gmail_options()) {
  configure(mail_settings(gmail_));
  gmail_.quota(fmt::format(R"({{"units_per_minute":{},"costs":{{"gmail.users.messages.get":20}}}})", units_per_minute));
}

void MailHost::start() {
  launch({}, {{"KRUXOS_TEST_CLOCK", fmt::format("driven:{}:{}", kStartMs, kBootMs)}});
}

void connect_mail(const BenchHost& host) {
  const auto begun = host.operate("POST", "/connections/gmail/oauth", kClient);
  const auto* attempt = find_member(begun, "attempt");
  if (!attempt) wrong("no attempt to connect began: " + to_json(begun));
  test::browse(std::string(find_string(*attempt, "authorize_url").value_or("")));
  const auto path = fmt::format("/connections/gmail/oauth/{}", find_string(*attempt, "attempt_id").value_or(""));
  for (int i = 0; i < 1000; ++i) {
    const auto now = host.operate("GET", path);
    const auto* known = find_member(now, "attempt");
    if (known && find_string(*known, "state") == "connected") return;
    std::this_thread::sleep_for(milliseconds(10));
  }
  wrong("the account was not connected");
}

void MailHost::connect() {
  connect_mail(*this);
}

MailHost::Sync MailHost::sync() const {
  const auto account = sync_status();
  Sync sync;
  if (const auto* records = find_member(account, "records")) sync.messages = find_int(*records, "messages").value_or(0);
  sync.done = find_int(account, "passes").value_or(0) > 0;
  if (find_int(account, "failures_in_a_row").value_or(0) > 0) sync.problem = to_json(account);
  return sync;
}

void MailHost::settle() {
  constexpr double kLongestS = 20;
  const auto give_up = now_s() + kLongestS;
  std::optional<std::uint64_t> before;
  for (int rests = 0; rests < 2;) {
    const auto host = test::family_at_rest(host_->pid());
    const auto service = test::at_rest(gmail_.process().pid());
    const auto now = host && service ? std::optional(*host + *service) : std::nullopt;
    rests = now && now == before ? rests + 1 : 0;
    before = now;
    if (now_s() > give_up) wrong("the host never rests");
    if (rests < 2) std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
}

void MailHost::advance(std::int64_t ms) {
  gmail_.advance_ms(ms);
  host_->write_stdin(fmt::format("advance {}\n", ms));
  if (!host_->wait_for_line("clock ", milliseconds(20'000)))
    wrong("the host has ended: " + host_->output(test::Stream::err));
  driven_ms_ += ms;
  settle();
}

}  // namespace krux::bench
