#include "core/state/agent_words.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

constexpr std::int64_t kHours = 3'600'000;
const std::string kEight = "the offer is four hundred thousand and final";
const ReadSource kMail{"mail", "amy@example.com", "mail.read", "m1"},
    kOther{"mail", "amy@example.com", "mail.read", "m2"};

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  AgentWords::Limits limits{8 * kHours, 100, 5, 60, 60'000};
  std::optional<AgentWords> words;

  Fixture() { restart(); }
  void restart() {
    words.reset();
    words.emplace(store, clock, limits);
  }
  void read(const std::string& text, const ReadSource& source = kMail, const std::string& agent = "a1") {
    words->note(agent, source, "{\"body\":\"" + text + "\"}");
  }
  std::vector<AgentWords::Found> find(const std::string& text, const std::string& agent = "a1", std::int64_t at_ms = 0,
                                      std::size_t most = 10) {
    return words->find(agent, runs_in(text, 1000), at_ms, most);
  }
  std::int64_t rows() {
    return store.run([](SQLite::Database& db) {
      Statement row(db.getHandle(), "SELECT count(*) FROM agent_words");
      row.step();
      return row.integer(0);
    });
  }
  static std::string text_of(int number) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += "n" + std::to_string(number) + "w" + std::to_string(i) + " ";
    return text;
  }
};

}  // namespace

TEST_CASE("words that an agent has read are found with where they stood, over restarts") {
  Fixture f;
  f.read("Dear Amy, " + kEight);
  f.read("nothing of it", kOther);
  f.read(kEight + " or not", kOther);
  f.read(kEight, kMail, "a2");
  for (int i = 0; i < 2; ++i) {
    const auto found = f.find("I heard that " + kEight);
    REQUIRE(found.size() == 2);
    CHECK(found[0].source == kOther);
    CHECK(found[1].source == kMail);
    CHECK(found[1].runs.size() == 1);
    CHECK(f.find(kEight, "a1", 0, 1).size() == 1);
    CHECK(f.find(kEight, "a2").size() == 1);
    CHECK(f.find(kEight, "a3").empty());
    CHECK(f.find("the offer is four hundred thousand and no").empty());
    CHECK_FALSE(f.words->has_forgotten("a1", 0));
    f.restart();
  }
}

TEST_CASE("words are kept for some hours since they were read last, and known by when they were read first") {
  Fixture f;
  const auto before = f.clock.wall_ms();
  f.clock.advance(1000);
  f.read(kEight);
  CHECK(f.find(kEight, "a1", before).empty());
  CHECK(f.find(kEight, "a1", before + 1000).size() == 1);
  f.clock.advance(5 * kHours);
  f.read(kEight);
  CHECK(f.rows() == 1);
  f.clock.advance(5 * kHours);
  CHECK(f.find(kEight).size() == 1);
  f.restart();
  CHECK(f.find(kEight).size() == 1);
  f.clock.advance(4 * kHours);
  CHECK(f.find(kEight).empty());
  f.restart();
  CHECK(f.rows() == 0);
}

TEST_CASE("of more than is kept it is known that there was more") {
  Fixture f;
  for (int i = 0; i < 5; ++i) f.read(Fixture::text_of(i), {"mail", "a", "mail.read", std::to_string(i)});
  CHECK_FALSE(f.words->has_forgotten("a1", 0));
  SECTION("of words") {
    f.limits.reads = 100;
    f.restart();
    for (int i = 5; i < 9; ++i) f.read(Fixture::text_of(i), {"mail", "a", "mail.read", std::to_string(i)});
    CHECK(f.rows() == 9);
  }
  SECTION("of reads") {
    f.read(Fixture::text_of(8), {"mail", "a", "mail.read", "8"});
    CHECK(f.rows() == 5);
  }
  for (int i = 0; i < 2; ++i) {
    CHECK(f.words->has_forgotten("a1", 0));
    CHECK(f.find(Fixture::text_of(0)).empty());
    CHECK(f.find(Fixture::text_of(8)).size() == 1);
    f.restart();
  }
}

TEST_CASE("of one long read the beginning is kept, and known not to be all") {
  Fixture f;
  std::string text;
  for (int i = 0; i < 10; ++i) text += Fixture::text_of(i);
  f.read(text);
  CHECK(f.find(Fixture::text_of(0)).size() == 1);
  CHECK(f.find(Fixture::text_of(9)).empty());
  CHECK(f.words->has_forgotten("a1", 0));
}

TEST_CASE("of answers that differ by little what is new is kept alone, and all that is shared is found") {
  Fixture f;
  f.read(Fixture::text_of(1));
  f.clock.advance(3'600'000);
  f.read(Fixture::text_of(1) + Fixture::text_of(2));
  CHECK(f.rows() == 2);
  const auto found = f.find(Fixture::text_of(1) + Fixture::text_of(2));
  REQUIRE(found.size() == 1);
  CHECK(found[0].runs.size() == 13 + 20);
  CHECK(found[0].first_ms == f.clock.wall_ms() - 3'600'000);
  f.clock.advance(7 * kHours + 1);  // what was read again counts from then
  CHECK(f.find(Fixture::text_of(1)).size() == 1);
}

TEST_CASE("rows that nobody could have written harm nobody") {
  Fixture f;
  f.store.run([](SQLite::Database& db) {
    for (const char* runs : {"", "a", "!!!!", "AAAAAAA", "AAAAAAAAAAAA"})
      Statement(
          db.getHandle(),
          "INSERT INTO agent_words (agent_id, number, first_ms, last_ms, service, account_id, capability, target, "
          "runs) SELECT 'a1', COALESCE(MAX(number), 0) + 1, 1, 9000000000000, '', '', '', '', ?1 FROM agent_words")
          .bind_all(runs)
          .run();
  });
  f.restart();
  CHECK(f.find(kEight).empty());
  f.read(kEight);
  CHECK(f.find(kEight).size() == 1);
}

}  // namespace KRUXOS_TEST_FILE
