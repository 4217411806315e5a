// A search asks each segment of its index: between passes they become one.
#include "core/replica/index_merge.hpp"

#include <catch2/catch.hpp>

#include "core/replica/gram_index.hpp"
#include "core/replica/replica_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

struct Indexed {
  support::Scratch scratch;
  DrivenClock clock;
  std::filesystem::path file = scratch.path() / "r.db";
  std::unique_ptr<Replica> store = std::make_unique<Replica>(file, mail_collections(), clock);

  /// Each commit makes a segment.
  void put(int from, int to, const std::string& text = "hello") {
    for (int i = from; i < to; ++i) {
      const auto session = store->begin_session();
      REQUIRE(session->put(message(fmt::format("m{}", i), i, fmt::format("{} {}", text, i))).empty());
      session->commit();
    }
  }
  /// As docs/storage-format.md has it.
  int segments() const {
    SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
    const auto structure = db.execAndGet("SELECT block FROM t_messages_data WHERE id = 10").getString();
    REQUIRE(structure.size() > 5);
    REQUIRE(structure[5] >= 0);  // one byte
    return structure[5];
  }
  void let_idle() const {
    for (int i = 0; i < 1'000; ++i) {
      if (!store->idle()) return;
    }
    FAIL("it is never done");
  }
  std::vector<std::string> found(const std::string& text) const {
    Query query;
    query.collection = "messages";
    query.where = group(Condition::Kind::kAllOf, {text_is(text)});
    query.limit = 5'000;
    std::vector<std::string> ids;
    store->reader()->query(query, [&](const RowView& row) {
      ids.emplace_back(row.id);
      return true;
    });
    return ids;
  }
};

}  // namespace

TEST_CASE("merge: a replica that was filled has one segment, and finds what it found") {
  Indexed r;
  r.put(0, 30);
  REQUIRE(r.segments() > 1);
  const auto before = r.found("hello");
  r.let_idle();
  CHECK(r.segments() == 1);
  CHECK(r.found("hello") == before);
  CHECK(r.found("hello 17") == std::vector<std::string>{"m17"});
}

TEST_CASE("merge: what a pass changes is not worth to write all anew, until it is much") {
  Indexed r;
  // FTS5 itself takes small segments together; this one has several pages.
  std::string various;
  for (int i = 0; i < 2'000; ++i) various += fmt::format(" {:x}", i * 2'654'435'761U);
  r.put(0, 30, "hello" + various);
  r.let_idle();
  r.put(30, 32);
  r.put(0, 1, "other");
  r.let_idle();
  CHECK(r.segments() > 1);
  CHECK(r.found("hello").size() == 31);
  CHECK(r.found("other") == std::vector<std::string>{"m0"});
  // The count goes on over a restart.
  r.store.reset();
  r.store = std::make_unique<Replica>(r.file, mail_collections(), r.clock);
  r.put(32, 1'020);
  r.let_idle();
  CHECK(r.segments() > 1);
  r.put(1'020, 1'032);
  r.let_idle();
  CHECK(r.segments() == 1);
  CHECK(r.found("hello").size() == 1'031);
  CHECK_FALSE(is_worth_merging(999, 10));
  CHECK(is_worth_merging(1'000, 10));
  CHECK_FALSE(is_worth_merging(4'999, 100'000));
  CHECK(is_worth_merging(5'000, 100'000));
}

TEST_CASE("merge: what a killed host has begun is searched, changed and ended by the next one") {
  Indexed r;
  // Many pages: each record has words of its own.
  std::uint32_t seed = 1;
  for (int i = 0; i < 40; ++i) {
    std::string words = "common text";
    for (int j = 0; j < 1'500; ++j) words += fmt::format(" {:08x}", seed = seed * 1'664'525U + 1'013'904'223U);
    r.put(i, i + 1, words);
  }
  r.store.reset();
  {
    SQLite::Database db(r.file.string(), SQLite::OPEN_READWRITE);
    register_gram_tokenizer(db.getHandle());
    begin_merge(db.getHandle(), "t_messages");
    REQUIRE(continue_merge(db.getHandle(), "t_messages"));
  }
  r.store = std::make_unique<Replica>(r.file, mail_collections(), r.clock);
  CHECK(r.segments() > 1);
  CHECK(r.found("common text").size() == 40);
  {
    const auto session = r.store->begin_session();
    session->erase("messages", "m3");
    (void)session->put(message("m4", 4, "other"));
    (void)session->put(message("new", 100, "common text of the new one"));
    session->commit();
  }
  CHECK(r.found("common text").size() == 39);
  r.let_idle();
  CHECK(r.segments() == 1);
  CHECK(r.found("common text").size() == 39);
  CHECK(r.found("other") == std::vector<std::string>{"m4"});
}

}  // namespace KRUXOS_TEST_FILE
