// No write goes out above a limit that holds when it does, whatever was edited, rescheduled or configured since it was
// admitted, unless a person lets it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>

#include "core/util/durations.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;

namespace {

constexpr std::int64_t kDelay = 30'000;

LimitRule within_an_hour(std::int64_t limit, const std::string& channel = {}) {
  return {{{"notes.add"}, limit, kHour, channel.empty() ? "" : "channel"}, channel, false};
}

std::string params(const std::string& channel, const std::string& text) {
  return R"({"channel":")" + channel + R"(","text":")" + text + "\"}";
}

struct LimitsFixture : LedgerFixture {
  LimitsFixture() {
    ledger->ask_terms([this](const WriteRecord& write) { return terms(write); });
  }
  std::function<PresentTerms(const WriteRecord&)> terms = [](const WriteRecord&) { return PresentTerms{}; };

  void hold_to(LimitRule rule, const std::string& counted_as = {}) {
    terms = [rule, counted_as](const WriteRecord&) {
      PresentTerms now{{}, {}, {rule}};
      now.counted_as = counted_as;
      return now;
    };
  }
  WriteRecord say(const std::string& channel, const std::string& text, std::vector<LimitRule> limits,
                  std::int64_t send_at_ms = 0) {
    auto write = new_write(text);
    write.params_json = params(channel, text);
    write.limits = std::move(limits);
    write.send_at_ms = send_at_ms;
    return submit(std::move(write)).write;
  }
  std::variant<WriteRecord, Error> move(const WriteRecord& write, const std::string& channel,
                                        std::vector<LimitRule> limits) {
    NewContent content;
    content.params_json = params(channel, write.summary + " moved");
    content.summary = write.summary;
    content.tier = "notify";
    content.limits = std::move(limits);
    return edit(write, std::move(content), "agent_1");
  }
  std::size_t executing() { return ledger->list({.states = {State::kExecuting}, .limit = 500}).size(); }
  State state(const WriteRecord& write) { return ledger->get(write.write_id)->state; }
};

}  // namespace

TEST_CASE("A limit that is set where there was none holds for what waits already, and counts it") {
  LimitsFixture f;
  for (const auto* text : {"1", "2", "3"}) f.say("a", text, {});
  f.hold_to(within_an_hour(2));
  f.say("a", "4", {within_an_hour(2)});
  f.clock.advance(kDelay);
  f.take();
  CHECK(f.executing() == 2);
  CHECK(f.ledger->counts().pending_approval == 2);
  CHECK(f.ledger->limit_use("agent_1", within_an_hour(3)).at("").counted == 3);
}

TEST_CASE("An edited write counts from its edit on, and what was asked for over hours does not go out at once") {
  LimitsFixture f;
  std::vector<WriteRecord> writes;
  for (int i = 0; i < 6; ++i) {
    const auto channel = "c" + std::to_string(i);
    const auto in_days = f.clock.wall_ms() + (i + 1) * kDay;
    writes.push_back(f.say(channel, std::to_string(i), {within_an_hour(3, channel)}, in_days));
    f.clock.advance(kHour);
  }
  std::size_t moved = 0;
  for (const auto& write : writes) {
    const auto answer = f.move(write, "a", {within_an_hour(3, "a")});
    moved += std::holds_alternative<WriteRecord>(answer);
    if (const auto* error = std::get_if<Error>(&answer)) CHECK(error->type() == ErrorCode::kBatchProtection);
  }
  CHECK(moved == 3);
  SECTION("nor under a limit that was tightened since: what counts before it is what it follows") {
    f.clock.advance(kDelay / 2);
    f.hold_to(within_an_hour(2, "a"));
  }
  SECTION("and for an hour from then on there is no room for others") {
    f.clock.advance(kHour - 1);
    CHECK(f.refused([] {
             auto write = new_write("7");
             write.params_json = params("a", "7");
             write.limits = {within_an_hour(3, "a")};
             return write;
           }())
              .type() == ErrorCode::kBatchProtection);
    f.hold_to(within_an_hour(2, "a"));
  }
  f.clock.advance(kDelay);
  f.take();
  CHECK(f.executing() == 2);
  CHECK(f.state(writes[2]) == State::kPendingApproval);
}

TEST_CASE("What counts as something else by now counts anew, in whatever order it goes out") {
  LimitsFixture f;
  std::vector<WriteRecord> writes;
  for (int i = 0; i < 4; ++i) writes.push_back(f.say("a", std::to_string(i), {within_an_hour(9)}));
  const auto late = f.say("a", "late", {within_an_hour(9)}, f.clock.wall_ms() + 2 * kHour);
  auto rule = within_an_hour(2);
  rule.operations = {"notes.wipe"};
  f.hold_to(rule, "notes.wipe");
  f.clock.advance(kDelay);
  // The last goes first.
  f.take(10, {writes[0].seq, writes[1].seq, writes[2].seq});
  f.take();
  CHECK(f.executing() == 2);
  CHECK(f.state(writes[3]) == State::kExecuting);
  CHECK(f.ledger->get(writes[3].write_id)->counted_as == "notes.wipe");
  CHECK(f.ledger->get(late.write_id)->counted_as == "notes.add");
  f.clock.advance(2 * kHour);
  f.take();
  CHECK(f.state(late) == State::kExecuting);
}

TEST_CASE("Writes without a limit's parameter count together, and what will never happen counts no more") {
  LimitsFixture f;
  auto write = new_write("1");
  write.limits = {{{{"notes.add"}, 1, kHour, "channel"}, "", false}};
  const auto first = f.submit(write).write;
  write.params_json = R"({"text":"2"})";
  const auto refused = f.refused(write);
  CHECK_THAT(refused.what(), Catch::Contains("for notes.add without channel is reached"));
  f.cancel(first.write_id, "agent_1");
  CHECK(f.ledger->get(first.write_id)->counted_as.empty());
  CHECK_FALSE(f.submit(write).duplicate);
}

namespace {

/// What the agent has asked for, as a few lines would keep it.
struct Asked {
  std::string channel;
  std::int64_t at_ms = 0;
  bool waits = true, went = false;
};

/// Random writes and edits, and claims whenever something is due. `tightens`: so do the limits, on the way.
void live(unsigned seed, bool tightens) {
  LimitsFixture f;
  std::mt19937 random(seed);
  std::int64_t each = 4, all = 6;
  std::map<std::string, Asked> asked;
  const auto rules = [&](const std::string& channel) {
    return std::vector<LimitRule>{within_an_hour(each, channel), within_an_hour(all)};
  };
  f.terms = [&](const WriteRecord& write) { return PresentTerms{{}, {}, rules(asked.at(write.write_id).channel)}; };
  const auto channel = [&] { return std::string(1, static_cast<char>('a' + random() % 2)); };
  const auto claim = [&] {
    const auto taken = f.ledger->take(f.accounts, {1, 1}, {});
    for (const auto& stopped : taken.stopped) asked.at(stopped.write_id).waits = false;
    if (!tightens) REQUIRE(taken.stopped.empty());
    for (const auto& write : taken.writes) {
      auto& mine = asked.at(write.write_id);
      mine.waits = false;
      std::int64_t in_channel = 0, together = 0;
      for (const auto& [id, other] : asked) {
        if (!other.went || other.at_ms <= mine.at_ms - kHour || other.at_ms > mine.at_ms) continue;
        ++together;
        in_channel += other.channel == mine.channel;
      }
      REQUIRE(together < all);
      REQUIRE(in_channel < each);
      mine.went = true;
    }
    return !taken.empty();
  };
  for (int step = 0; step < 400; ++step) {
    f.clock.advance(1 + random() % (10 * kMinute));
    while (claim()) {
    }
    if (random() % 3 > 0) {
      auto write = new_write(std::to_string(step));
      const auto to = channel();
      write.params_json = params(to, std::to_string(step));
      write.limits = rules(to);
      write.delay_ms = random() % 2 ? 0 : 3 * kHour;
      if (random() % 4 == 0) write.send_at_ms = f.clock.wall_ms() + random() % kDay;
      const auto answer = LedgerFixture::ask<Submitted>([&](auto done) { f.ledger->submit(write, std::move(done)); });
      if (const auto* done = std::get_if<Submitted>(&answer)) asked[done->write.write_id] = {to, f.clock.wall_ms()};
    } else if (!asked.empty()) {
      auto& [id, one] = *std::next(asked.begin(), random() % asked.size());
      if (!one.waits) continue;
      const auto to = channel();
      if (std::holds_alternative<WriteRecord>(f.move(*f.ledger->get(id), to, rules(to)))) one = {to, f.clock.wall_ms()};
    }
    if (tightens && random() % 40 == 0 && all > 2) {
      --all;
      each = std::min(each, all - 1);
    }
  }
  REQUIRE(std::count_if(asked.begin(), asked.end(), [](auto& one) { return one.second.went; }) > 10);
}

}  // namespace

TEST_CASE("Whatever is asked for, edited and tightened, what goes out keeps to the limits of that moment") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    live(seed, true);
    live(seed, false);
  }
}

}  // namespace KRUXOS_TEST_FILE
