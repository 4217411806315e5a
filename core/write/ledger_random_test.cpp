// The ledger against a few lines of plain C++ that say what it should do: long random histories, every state compared.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "core/write/write_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;

namespace {

struct ModelWrite {
  std::string agent, content, key;
  State state = State::kBuffered;
  bool irrevocable = false, told = false;
  std::int64_t due = 0, ended_at = 0;  ///< due 0: none
  std::uint32_t attempts = 0;
  bool mine = false;     ///< the present run of the host claimed it last
  bool settles = false;  ///< a further start begins its settle time anew
  bool first = false;    ///< looked for before it is claimed
};

bool live(State s) {
  return s == State::kBuffered || s == State::kExecuting || s == State::kUnknown || s == State::kDeadLetter;
}

class Differential {
 public:
  explicit Differential(unsigned seed) : random_(seed) { restart(); }

  void step() {
    switch (random_() % 12) {
      case 0:
      case 1:
      case 2:
        return submit();
      case 3:
        return cancel();
      case 4:
      case 5:
        return take();
      case 6:
      case 7:
        return record();
      case 8:
        return look();
      case 9:
        return resolve();
      case 10:
        return pass_time();
      default:
        if (random_() % 10 == 0) restart();
    }
  }

  void compare() {
    WriteCounts counts;
    for (const auto& [id, expected] : model_) {
      const auto real = ledger_->get(id);
      REQUIRE(real);
      INFO(id << " is " << to_string(real->state) << ", should be " << to_string(expected.state));
      REQUIRE(real->state == expected.state);
      REQUIRE(real->irrevocable == expected.irrevocable);
      REQUIRE(real->escalated == expected.told);
      REQUIRE(real->attempts == expected.attempts);
      REQUIRE(real->due_at_ms == expected.due);
      REQUIRE(real->ended_at_ms == expected.ended_at);
      counts.buffered += expected.state == State::kBuffered;
      counts.executing += expected.state == State::kExecuting;
      counts.unknown += expected.state == State::kUnknown;
      counts.dead_letter += expected.state == State::kDeadLetter;
      counts.completed += expected.state == State::kCompleted;
      counts.failed += expected.state == State::kFailed;
      counts.needs_operator += expected.told;
    }
    const auto real = ledger_->counts();
    REQUIRE(std::tie(real.buffered, real.executing, real.unknown, real.dead_letter, real.completed, real.failed,
                     real.needs_operator) == std::tie(counts.buffered, counts.executing, counts.unknown,
                                                      counts.dead_letter, counts.completed, counts.failed,
                                                      counts.needs_operator));
  }

 private:
  using Entry = std::pair<const std::string, ModelWrite>;

  std::int64_t now() const { return clock_.wall_ms(); }
  Entry* any() {
    if (model_.empty()) return nullptr;
    return &*std::next(model_.begin(), static_cast<std::ptrdiff_t>(random_() % model_.size()));
  }
  static void end(ModelWrite& w, State state, std::int64_t at) {
    w.state = state;
    w.ended_at = at;
    w.due = 0;
    w.told = w.first = false;
  }

  /// Which write answers, or none.
  Entry* same(const NewWrite& asked, bool* conflicting) {
    for (auto& entry : model_) {
      auto& w = entry.second;
      if (asked.idempotency_key.empty() || w.agent != asked.agent_id || w.key != asked.idempotency_key) continue;
      *conflicting = w.content != asked.params_json;
      return &entry;
    }
    Entry* newest = nullptr;
    for (auto& entry : model_) {
      auto& w = entry.second;
      if (asked.allow_duplicate || w.agent != asked.agent_id || w.content != asked.params_json) continue;
      if (live(w.state) || (w.state == State::kCompleted && w.ended_at >= now() - 600'000)) newest = &entry;
    }
    return newest;
  }

  void submit() {
    auto asked = new_write(std::to_string(random_() % 6));
    asked.agent_id = random_() % 2 ? "agent_1" : "agent_2";
    asked.delay_ms = static_cast<std::int64_t>(random_() % 3) * 1000;
    asked.allow_duplicate = random_() % 4 == 0;
    if (random_() % 4 == 0) asked.idempotency_key = "k" + std::to_string(random_() % 3);
    bool conflicting = false;
    const auto* existing = same(asked, &conflicting);
    Answer<Submitted> answer;
    ledger_->submit(asked, answer.slot());
    const auto result = answer.wait();
    if (conflicting) {
      REQUIRE(std::get<Error>(result).type() == ErrorCode::kConflictError);
      return;
    }
    const auto& submitted = std::get<Submitted>(result);
    REQUIRE(submitted.duplicate == (existing != nullptr));
    if (existing) {
      // Several live writes of one content exist where allow_duplicate was used: the newest answers.
      if (!asked.idempotency_key.empty() || !asked.allow_duplicate)
        REQUIRE(model_.count(submitted.write.write_id) == 1);
      return;
    }
    model_[submitted.write.write_id] = {asked.agent_id, asked.params_json, asked.idempotency_key};
    model_[submitted.write.write_id].due = now() + asked.delay_ms;
  }

  void cancel() {
    auto* entry = any();
    if (!entry) return;
    auto& w = entry->second;
    Answer<WriteRecord> answer;
    ledger_->cancel(entry->first, w.agent, "agent:" + w.agent, answer.slot());
    const bool may = !w.irrevocable && (w.state == State::kBuffered || w.state == State::kDeadLetter);
    REQUIRE(std::holds_alternative<WriteRecord>(answer.wait()) == may);
    if (may) end(w, State::kCancelled, now());
  }

  void take() {
    std::size_t due = 0;
    for (auto& [id, w] : model_) due += w.due && w.due <= now();
    const std::size_t limit = 1 + random_() % 4;
    const auto taken = ledger_->take(accounts_, {limit, limit}, {}).writes;
    REQUIRE(taken.size() == std::min(limit, due));
    for (const auto& write : taken) {
      auto& w = model_.at(write.write_id);
      REQUIRE((w.due && w.due <= now()));
      if (w.state == State::kUnknown || w.first) continue;
      w.state = State::kExecuting;
      w.due = 0;
      w.mine = w.settles = true;
      ++w.attempts;
    }
  }

  bool report(const std::string& id, std::uint32_t attempt, WriteEvent event, bool of_look,
              std::optional<std::int64_t> due) {
    WriteReport r;
    r.of = of_look ? WriteReport::Of::kLook : WriteReport::Of::kAttempt;
    r.write_id = id;
    r.attempt = attempt;
    r.event = event;
    r.due_in_ms = due;
    r.keeps_due = event == WriteEvent::kFirstReconcileOver;
    r.result_json = "{}";
    Answer<WriteRecord> answer;
    ledger_->record(r, answer.slot());
    return std::holds_alternative<WriteRecord>(answer.wait());
  }

  void record() {
    auto* entry = any();
    if (!entry) return;
    auto& w = entry->second;
    const bool stale = random_() % 8 == 0;
    const auto attempt = w.attempts - (stale && w.attempts ? 1 : 0);
    const bool right = w.state == State::kExecuting && w.mine && attempt == w.attempts;
    constexpr WriteEvent events[] = {WriteEvent::kDone, WriteEvent::kRefusedForGood, WriteEvent::kCertainlyNotDone,
                                     WriteEvent::kScheduleUsedUp, WriteEvent::kMayBeDone};
    const auto event = events[random_() % 5];
    const bool ask_again = event == WriteEvent::kCertainlyNotDone || event == WriteEvent::kMayBeDone;
    REQUIRE(report(entry->first, attempt, event, false, ask_again ? std::optional<std::int64_t>(2000) : std::nullopt) ==
            right);
    if (!right) return;
    if (event == WriteEvent::kDone) return end(w, State::kCompleted, now());
    if (event == WriteEvent::kRefusedForGood) return end(w, State::kFailed, now());
    w.state = event == WriteEvent::kMayBeDone ? State::kUnknown : State::kDeadLetter;
    w.told = event == WriteEvent::kScheduleUsedUp;
    w.due = ask_again ? now() + 2000 : 0;
  }

  void look() {
    auto* entry = any();
    if (!entry) return;
    auto& w = entry->second;
    const int kind = static_cast<int>(random_() % 6);
    constexpr WriteEvent events[] = {WriteEvent::kEffectFound,        WriteEvent::kEffectAbsentAsk,
                                     WriteEvent::kEffectAbsentResend, WriteEvent::kEffectDisproved,
                                     WriteEvent::kEffectUnclear,      WriteEvent::kFirstReconcileOver};
    const bool found_late = kind == 0 && w.state == State::kBuffered && (w.irrevocable || w.first);
    const bool not_made = kind == 4 && w.first;
    const bool right = kind == 5 ? w.first : w.state == State::kUnknown || found_late || not_made;
    const auto due = kind == 1 ? std::nullopt : std::optional<std::int64_t>(kind == 2 ? 0 : 3000);
    REQUIRE(report(entry->first, w.attempts, events[kind], true, due) == right);
    if (!right) return;
    if (kind == 0) return end(w, State::kCompleted, now());
    if (kind == 5) {
      w.first = false;
      return;
    }
    if (not_made) {
      w.due = std::max(w.due, now() + *due);
      return;
    }
    w.due = due ? now() + *due : 0;
    w.settles = false;
    w.told = kind == 1 || (kind == 4 && w.told);
    if (kind == 2) {
      w.state = State::kBuffered;
      w.irrevocable = true;
    }
    if (kind == 3) w.state = State::kDeadLetter;
  }

  void resolve() {
    auto* entry = any();
    if (!entry) return;
    auto& w = entry->second;
    const int kind = static_cast<int>(random_() % 3);
    constexpr WriteEvent events[] = {WriteEvent::kOperatorResend, WriteEvent::kOperatorDiscard,
                                     WriteEvent::kOperatorHappened};
    const bool dead = w.state == State::kDeadLetter, unknown = w.state == State::kUnknown;
    const bool asked = unknown && w.told;
    const bool right = asked || (unknown && kind != 0) || (dead && kind < 2) ||
                       (kind == 1 && w.state == State::kBuffered && w.irrevocable);
    Answer<WriteRecord> answer;
    ledger_->decide_outcome(entry->first, events[kind], {}, "operator:ann", answer.slot());
    REQUIRE(std::holds_alternative<WriteRecord>(answer.wait()) == right);
    if (!right) return;
    if (kind == 1) return end(w, State::kDiscarded, now());
    if (kind == 2) return end(w, State::kCompleted, now());
    w.due = now();
    w.told = false;
    if (asked) {
      w.state = State::kBuffered;
      w.irrevocable = true;
    }
  }

  void pass_time() { clock_.advance(static_cast<std::int64_t>(random_() % 2000)); }

  void restart() {
    ledger_.reset();
    ledger_ = std::make_unique<Ledger>(store_, clock_, "boot-1");
    ledger_->recover(true, {}, {});
    for (auto& [id, w] : model_) {
      w.mine = false;
      w.first = w.first || (w.state == State::kBuffered && w.attempts == 0 && w.due && w.due <= now());
      if (w.state == State::kExecuting)
        w.state = State::kUnknown;
      else if (w.state != State::kUnknown || !w.due || !w.settles)
        continue;
      w.due = now() + 60'000;
      w.settles = false;
    }
  }

  support::Scratch scratch_;
  std::mt19937 random_;
  DrivenClock clock_;
  GroupCommit store_{scratch_.path() / "kruxos.db", kLedgerKind};
  std::unique_ptr<Ledger> ledger_;
  const std::vector<AccountRef> accounts_{kAccount};
  std::map<std::string, ModelWrite> model_;
};

}  // namespace

TEST_CASE("random histories leave the ledger as a simple model says") {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    INFO("seed " << seed);
    Differential world(seed);
    for (int i = 0; i < 400; ++i) {
      world.step();
      if (i % 5 == 0) world.compare();
    }
    world.compare();
  }
}

}  // namespace KRUXOS_TEST_FILE
