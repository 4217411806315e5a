// A search asks each segment of its index: between passes they become one.
#include "core/replica/index_merge.hpp"

#include <catch2/catch.hpp>

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

TEST_CASE("merge: records that are put, changed and erased while it goes on are found as they are") {
  Indexed r;
  for (int i = 0; i < 20; ++i) {
    const auto session = r.store->begin_session();
    for (int j = 0; j < 200; ++j)
      (void)session->put(
          message(fmt::format("m{}", i * 200 + j), i, fmt::format("word{} common text of mails {}", j, i)));
    session->commit();
  }
  for (int i = 0; i < 10; ++i) {
    const bool more = r.store->idle();
    const auto session = r.store->begin_session();
    session->erase("messages", fmt::format("m{}", i));
    (void)session->put(message(fmt::format("n{}", i), i, "between"));
    session->commit();
    if (!more) continue;
    CHECK(r.found("between").size() == static_cast<std::size_t>(i + 1));
  }
  r.let_idle();
  CHECK(r.found("between").size() == 10);
  CHECK(r.found("common text").size() == 3'990);
  CHECK(r.found("word7 common").size() == 19);
}

}  // namespace KRUXOS_TEST_FILE
