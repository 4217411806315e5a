// What waits for the operator, live, and how approvals go.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "core/util/clock.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/watching.hpp"
#include "host/cli/write_output.hpp"

namespace krux::cli {
namespace {

constexpr std::int64_t kEnoughToTell = 10;
constexpr const char* kClear = "\x1b[2J\x1b[H";

class Watching {
 public:
  explicit Watching(const Session& session) : session_(session) {}

  int run() {
    session_.host.get_grant_if_needed();
    const Keys keys(session_.console, true);
    for (;;) {
      load();
      draw();
      const auto key = session_.console.key_within(kLookEveryMs);
      if (key == 'q') break;
      said_.clear();
      const auto last = writes_.empty() ? 0 : writes_.size() - 1;
      if (key == 'j') at_ = std::min(at_ + 1, last);
      if (key == 'k' && at_ > 0) --at_;
      const bool enter = key && (*key == '\n' || *key == '\r');
      if (enter && at_ < writes_.size()) open(writes_[at_]);
    }
    return kOk;
  }

 private:
  std::ostream& out() { return session_.console.out(); }
  Session now() const {
    auto session = session_;
    session.now_ms = SystemClock().wall_ms();
    return session;
  }

  void load() {
    const auto answer = session_.host.get("/v1/writes?needs_operator=1&limit=50");
    const auto marked = at_ < writes_.size() ? writes_[at_] : std::string();
    writes_.clear();
    rows_.clear();
    for (const auto& write : items(answer.json, "writes").GetArray()) {
      if (text(write, "state") != "pending_approval" || flag(write, "held_as_copy")) continue;
      writes_.push_back(text(write, "write_id"));
      const auto so_far = acceptances_so_far(write);
      rows_.push_back(fmt::format("{}{}  {}  {}  {}", so_far.empty() ? "" : so_far + "  ",
                                  relative(number(write, "created_at_ms"), SystemClock().wall_ms()),
                                  text(write, "agent"), text(write, "operation"), text(write, "summary")));
    }
    // What one looks at stays marked, whatever comes before it.
    const auto again = std::find(writes_.begin(), writes_.end(), marked);
    if (again != writes_.end()) at_ = static_cast<std::size_t>(again - writes_.begin());
    at_ = std::min(at_, writes_.empty() ? 0 : writes_.size() - 1);
  }

  void draw() {
    out() << kClear
          << styled(session_.console, fmt::format("Waiting for your approval: {}", writes_.size()), Style::kBold)
          << "\n\n";
    const auto width = std::max(20, session_.console.width() - 3);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      out() << (i == at_ ? "> " : "  ") << fit(printable(rows_[i]), width) << "\n";
    if (!said_.empty()) out() << "\n" << printable(said_) << "\n";
    out() << "\nj, k: next, previous   Enter: look at it   q: end\n" << std::flush;
  }

  /// Shows it whole; what is decided then is what was shown.
  void open(const std::string& id) {
    const auto answer = session_.host.get(write_path(id));
    const auto& write = part(answer.json, "write");
    out() << kClear;
    print_write(now(), write);
    print_edits(now(), items(write, "edits"), number(write, "edits_total"));
    out() << "\na: accept   r: reject, with a reason   any other key: back\n" << std::flush;
    std::optional<char> key;
    while (!key) key = session_.console.key_within(kLookEveryMs);
    if (*key == 'a')
      decide(id, "/accept", fmt::format(R"({{"content_hash":{}}})", json_string(text(write, "content_hash"))));
    if (*key == 'r') reject(id);
  }

  void reject(const std::string& id) {
    const auto reason = [&] {
      const Keys lines(session_.console, false);
      return session_.console.read_line("Why (its agent is told; empty: no reason; Ctrl-D: not rejected): ");
    }();
    if (!reason) return;
    decide(id, "/reject", reason->empty() ? "{}" : "{\"reason\":" + json_string(*reason) + "}");
  }

  void decide(const std::string& id, const char* action, const std::string& body) {
    // The passphrase may be asked for once more.
    const Keys lines(session_.console, false);
    try {
      const auto answer = session_.host.post(write_path(id, action), body);
      const auto& write = part(answer.json, "write");
      const auto people = text(write, "state") == "pending_approval" ? " " + acceptances(write) : std::string();
      said_ = fmt::format("{} is now {}.{}", id, text(write, "state"), people);
    } catch (const CliError& error) {
      if (error.code() == kNotRunning) throw;
      said_ = error.what();
    }
  }

  const Session& session_;
  std::vector<std::string> writes_, rows_;
  std::size_t at_ = 0;
  std::string said_;
};

}  // namespace

int watch_writes(const Session& session) {
  if (!session.console.reads_terminal() || !session.console.writes_terminal() || session.json)
    throw CliError(kUsage, "This is for a terminal. Elsewhere kruxos approve list shows what waits.");
  return Watching(session).run();
}

int show_approval_figures(const Session& session) {
  const auto answer = session.host.get("/v1/approvals/figures");
  if (session.printed(answer)) return kOk;
  const auto& figures = part(answer.json, "approvals");
  const auto accepted = number(figures, "accepted"), all = accepted + number(figures, "rejected");
  if (all == 0) {
    session.console.out() << "Nothing was accepted or rejected in the last seven days.\n";
    return kOk;
  }
  Listing listing;
  listing.add("Decided", fmt::format("{} in seven days, {} in the last hour", all, number(figures, "last_hour")));
  listing.add("Accepted", fmt::format("{} of 100", 100 * accepted / all));
  listing.add("From asking to deciding", fmt::format("{} (median)", duration(number(figures, "median_ms"))));
  const auto at_once = number(figures, "at_once");
  const bool habit = all >= kEnoughToTell && 2 * at_once > all;
  listing.add("Within 5 s", {fmt::format("{} of 100", 100 * at_once / all), habit ? Style::kWarn : Style::kPlain});
  listing.print(session.console);
  if (habit)
    session.console.out() << "Most were decided before they could be read. A policy that lets the harmless ones "
                             "through leaves you those that matter (docs/policies.md).\n";
  return kOk;
}

}  // namespace krux::cli
