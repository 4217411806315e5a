#include "core/state/operator_secret.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <span>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Place = OperatorSecret::Place;
using Present = OperatorSecret::Present;

namespace {

constexpr PassphraseCost kCheap{1, 8192};

ErrorCode refused_as(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    return error.type().code();
  }
  return ErrorCode::kNone;
}

}  // namespace

TEST_CASE("the operator's passphrase is kept as what it is checked by, also over a restart") {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  {
    OperatorSecret secret(store, clock, kCheap);
    CHECK_FALSE(secret.status().is_set());
    CHECK_FALSE(secret.status().of_before);
    CHECK(refused_as([&] { secret.check(Secret("anything"), Place::kSocket); }) == ErrorCode::kConflictError);
    CHECK(refused_as([&] { secret.set(Secret(), Secret("short"), Present::kNeeded); }) == ErrorCode::kInvalidInput);
    CHECK(refused_as([&] { secret.set(Secret(), Secret(std::string(1025, 'x')), Present::kNeeded); }) ==
          ErrorCode::kInvalidInput);
    secret.set(Secret(), Secret("a good passphrase"), Present::kNeeded);
    CHECK(secret.status().set_at_ms == clock.wall_ms());
  }
  OperatorSecret secret(store, clock, kCheap);
  secret.check(Secret("a good passphrase"), Place::kSocket);
  CHECK(refused_as([&] { secret.set(Secret("a wrong one"), Secret("another one"), Present::kNeeded); }) ==
        ErrorCode::kNotAuthenticated);
  clock.advance(60'000);
  secret.set(Secret("a good passphrase"), Secret("another one"), Present::kNeeded);
  secret.check(Secret("another one"), Place::kPage);
  // Root, for whom it was forgotten.
  secret.set(Secret(), Secret("the third of them"), Present::kNotNeeded);
  secret.check(Secret("the third of them"), Place::kPage);
  store.run([](SQLite::Database& db) {
    Statement row(db.getHandle(), "SELECT verifier FROM operators");
    REQUIRE(row.step());
    CHECK(row.text(0).starts_with("$argon2id$"));
    CHECK(row.text(0).find("third") == std::string_view::npos);
  });
}

TEST_CASE("wrong passphrases of the operator are slowed down and told, each place for itself") {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  OperatorSecret secret(store, clock, kCheap);
  secret.set(Secret(), Secret("a good passphrase"), Present::kNeeded);
  std::vector<int> told;
  secret.when_wrong([&](Place place, int in_a_row) { told.push_back(place == Place::kPage ? in_a_row : -in_a_row); });
  const auto guess = [&] { return refused_as([&] { secret.check(Secret("a guess"), Place::kPage); }); };
  std::int64_t wait = 1000;
  for (int i = 0; i < 8; ++i) {
    CHECK(guess() == ErrorCode::kNotAuthenticated);
    CHECK(secret.wait_ms(Place::kPage) == wait);
    CHECK(guess() == ErrorCode::kRateLimited);
    // The right one has to wait as well, at this place alone.
    CHECK(refused_as([&] { secret.check(Secret("a good passphrase"), Place::kPage); }) == ErrorCode::kRateLimited);
    secret.check(Secret("a good passphrase"), Place::kSocket);
    clock.advance(wait);
    wait = std::min<std::int64_t>(2 * wait, 60'000);
  }
  CHECK(told == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
  secret.check(Secret("a good passphrase"), Place::kPage);
  CHECK(guess() == ErrorCode::kNotAuthenticated);
  CHECK(secret.wait_ms(Place::kPage) == 1000);
  CHECK(told.back() == 1);
}

TEST_CASE("operators are known by name, each by a passphrase of his own, also over a restart") {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  std::int64_t anns = 0;
  {
    OperatorSecret secret(store, clock, kCheap, "Ann");
    CHECK(refused_as([&] { secret.add("bob", Secret("bob has one too"), "operator:ann"); }) ==
          ErrorCode::kConflictError);
    secret.set(Secret(), Secret("a good passphrase"), Present::kNeeded);
    secret.add("bob", Secret("bob has one too"), "operator:ann");
    CHECK(refused_as([&] { secret.add("bob", Secret("bob has another"), "operator:ann"); }) ==
          ErrorCode::kConflictError);
    for (const auto* odd : {"", "Bob", "-bob", "b b", "b/c", "a23456789012345678901234567890123", "b\nc", "\xc3\xa4"})
      CHECK(refused_as([&] { secret.add(odd, Secret("a good passphrase"), ""); }) == ErrorCode::kInvalidInput);
    CHECK(refused_as([&] { secret.check(Secret("a good passphrase"), Place::kSocket); }) == ErrorCode::kInvalidInput);
    anns = secret.check(Secret("a good passphrase"), Place::kSocket, "ann").passphrase;
  }
  OperatorSecret secret(store, clock, kCheap, "somebody-else");
  const auto all = secret.list();
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "ann");
  CHECK(all[1].name == "bob");
  CHECK(all[1].added_by == "operator:ann");
  const auto bob = secret.check(Secret("bob has one too"), Place::kPage, "bob");
  CHECK(bob.name == "bob");
  CHECK(bob.operator_id == all[1].operator_id);
  CHECK(bob.passphrase != anns);
  CHECK(secret.is_present(anns));
  secret.set(Secret("bob has one too"), Secret("and another one"), Present::kNeeded, "bob");
  CHECK_FALSE(secret.is_present(bob.passphrase));
  CHECK(secret.is_present(anns));
  secret.remove("ann");
  CHECK_FALSE(secret.is_present(anns));
  CHECK(refused_as([&] { secret.remove("ann"); }) == ErrorCode::kNotFound);
  CHECK(refused_as([&] { secret.remove("bob"); }) == ErrorCode::kConflictError);
  // With one left no name is needed; one who comes back is somebody else.
  CHECK(secret.check(Secret("and another one"), Place::kSocket).name == "bob");
  secret.add("ann", Secret("a good passphrase"), "operator:bob");
  CHECK(secret.check(Secret("a good passphrase"), Place::kSocket, "ann").operator_id != all[0].operator_id);
}

TEST_CASE("guessing at one name is no way around the waits of another, nor is an own passphrase in between") {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  OperatorSecret secret(store, clock, kCheap, "ann");
  secret.set(Secret(), Secret("a good passphrase"), Present::kNeeded);
  secret.add("bob", Secret("bob has one too"), "operator:ann");
  const auto tried = [&](const char* name, const char* passphrase) {
    return refused_as([&] { secret.check(Secret(passphrase), Place::kSocket, name); });
  };
  CHECK(tried("ann", "a guess") == ErrorCode::kNotAuthenticated);
  for (const auto* name : {"ann", "bob", "nobody"}) CHECK(tried(name, "a guess") == ErrorCode::kRateLimited);
  std::int64_t wait = 1000;
  for (int i = 0; i < 5; ++i) {
    CHECK(secret.wait_ms(Place::kSocket) == wait);
    clock.advance(wait);
    if (i % 2 == 1) CHECK(tried("bob", "bob has one too") == ErrorCode::kNone);
    CHECK(tried(i == 2 ? "nobody" : "ann", "a guess") == ErrorCode::kNotAuthenticated);
    wait *= 2;
  }
  clock.advance(wait);
  // Nor to set his own anew.
  secret.set(Secret("bob has one too"), Secret("and another one"), Present::kNeeded, "bob");
  CHECK(tried("ann", "a guess") == ErrorCode::kNotAuthenticated);
  CHECK(secret.wait_ms(Place::kSocket) == 60'000);
  clock.advance(60'000);
  CHECK(tried("ann", "a good passphrase") == ErrorCode::kNone);
  CHECK(tried("bob", "a guess") == ErrorCode::kNotAuthenticated);
  CHECK(secret.wait_ms(Place::kSocket) == 1000);
}

TEST_CASE("the operator of before is called as the user of his host, and keeps his passphrase") {
  support::Scratch scratch;
  DrivenClock clock;
  const auto file = scratch.path() / "kruxos.db";
  const std::span all = kLedgerKind.migrations;
  const auto at =
      std::find_if(all.begin(), all.end(), [](const Migration& m) { return m.name.ends_with("operators"); });
  REQUIRE(at != all.end());
  const DatabaseKind before{kLedgerKind.what, kLedgerKind.application_id,
                            all.first(static_cast<std::size_t>(at - all.begin())), true};
  std::string verifier;
  {
    GroupCommit made(scratch.path() / "other.db", kLedgerKind);
    OperatorSecret secret(made, clock, kCheap);
    secret.set(Secret(), Secret("a good passphrase"), Present::kNeeded);
    made.run([&](SQLite::Database& db) {
      Statement row(db.getHandle(), "SELECT verifier FROM operators");
      REQUIRE(row.step());
      verifier = row.text(0);
    });
  }
  {
    GroupCommit store(file, before);
    store.run([&](SQLite::Database& db) {
      db.exec("UPDATE operator_secret SET set_at_ms = 7, verifier = '" + verifier + "'");
    });
  }
  GroupCommit store(file, kLedgerKind);
  OperatorSecret secret(store, clock, kCheap, "Kruxos Host");
  REQUIRE(secret.list().size() == 1);
  CHECK(secret.list()[0].name == "kruxos_host");
  CHECK(secret.status().set_at_ms == 7);
  const auto known = secret.check(Secret("a good passphrase"), Place::kSocket);
  CHECK(known.name == "kruxos_host");
  CHECK(known.passphrase == 7);
  CHECK(secret.check(Secret("a good passphrase"), Place::kPage, "kruxos_host").operator_id == known.operator_id);
  store.run([](SQLite::Database& db) {
    Statement row(db.getHandle(), "SELECT verifier FROM operator_secret");
    REQUIRE(row.step());
    CHECK(row.text(0).empty());
  });
}

TEST_CASE("a data directory of before goes on without a passphrase of the operator until one is set") {
  support::Scratch scratch;
  DrivenClock clock;
  const auto file = scratch.path() / "kruxos.db";
  const std::span all = kLedgerKind.migrations;
  const auto at =
      std::find_if(all.begin(), all.end(), [](const Migration& m) { return m.name.ends_with("operator-secret"); });
  REQUIRE(at != all.end());
  const DatabaseKind before{kLedgerKind.what, kLedgerKind.application_id,
                            all.first(static_cast<std::size_t>(at - all.begin())), true};
  const bool in_use = GENERATE(false, true);
  {
    GroupCommit store(file, before);
    if (in_use)
      store.run([](SQLite::Database& db) {
        db.exec("INSERT INTO agents (agent_id, name, key_hash, created_at_ms) VALUES ('agent_1', 'a', 'h', 1)");
      });
  }
  GroupCommit store(file, kLedgerKind);
  OperatorSecret secret(store, clock, kCheap);
  CHECK(secret.status().of_before == in_use);
}

}  // namespace KRUXOS_TEST_FILE
