// Accents are left out of what is searched, and of what an earlier version has put.
#include "core/replica/refold.hpp"

#include <catch2/catch.hpp>

#include "core/replica/replica_fixture.hpp"
#include "core/replica/row_texts.hpp"
#include "core/util/text.hpp"

namespace krux::KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

using Ids = std::vector<std::string>;

Ids found(ReplicaFixture& r, const std::string& text) {
  auto ids = ask(*r.store->reader(), messages_where(text_is(text))).ids;
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// `count` messages as an earlier version has put them: their texts with accents, one of them kept apart.
void put_earlier(ReplicaFixture& r, const std::vector<std::pair<std::string, std::string>>& texts) {
  {
    auto session = r.store->begin_session();
    std::int64_t ms = 1;
    for (const auto& [id, text] : texts) session->put(message(id, ms++, text));
    session->keep_text("messages", texts.front().first, "Caf\u00e9 gardien");
    session->commit();
  }
  r.store.reset();
  {
    SQLite::Database db(r.file.string(), SQLite::OPEN_READWRITE);
    register_gram_tokenizer(db.getHandle());
    StatementCache statements(db.getHandle());
    RowTexts rows(statements);
    const CollectionTable table(mail_collections().front());
    for (const auto& [id, text] : texts) {
      auto& key = statements.get("SELECT key FROM c_messages WHERE id = ?1");
      key.bind(1, id);
      REQUIRE(key.step());
      const auto row = key.integer(0);
      key.reset();
      SearchedText earlier{fold(text, true), 0};
      earlier.own_bytes = earlier.all.size();
      if (id == texts.front().first) earlier.set_kept(fold("Caf\u00e9 gardien"));
      rows.update(table, row, rows.of(table, row), earlier);
    }
    db.exec("UPDATE collections SET refolded_through = -9223372036854775807");
  }
  r.open();
}

std::int64_t left(ReplicaFixture& r) {
  SQLite::Database db(r.file.string(), SQLite::OPEN_READONLY);
  return db.execAndGet("SELECT count(*) FROM collections WHERE refolded_through IS NOT NULL").getInt64();
}

}  // namespace

TEST_CASE("a word is found with its accents and without, whichever were written") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  session->put(message("a", 1, "Z\u00fcrich office"));
  session->put(message("b", 2, "zurich"));
  session->put(
      message("c", 3, "\u0141\u00f3d\u017a, Sm\u00f8rrebr\u00f8d, \u039a\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1"));
  session->put(message("d", 4, "\u0439 \u0438 \u0451\u043b\u043a\u0430 \u304c \u304b"));
  session->keep_text("messages", "b", "les \u0153uvres compl\u00e8tes");
  session->commit();
  for (const char* word : {"zurich", "Z\u00dcRICH", "zu\u0308rich"}) CHECK(found(r, word) == Ids{"a", "b"});
  for (const char* word : {"lodz", "\u0142\u00f3d\u017a", "smorrebrod", "sm\u00f8rrebr\u00f8d",
                           "\u03ba\u03b1\u03bb\u03b7\u03bc\u03b5\u03c1\u03b1"})
    CHECK(found(r, word) == Ids{"c"});
  CHECK(found(r, "oeuvres completes") == Ids{"b"});
  CHECK(found(r, "\u0435\u043b\u043a\u0430") == Ids{"d"});
  // What makes another letter of it in its script is no accent.
  CHECK(found(r, "\u0438\u0438").empty());
  CHECK(found(r, "\u304b\u304b").empty());
  CHECK(left(r) == 0);
  check_index(r.file);
}

TEST_CASE("what an earlier version has put is found as before, then without accents too, and nothing is synced") {
  ReplicaFixture r;
  std::vector<std::pair<std::string, std::string>> texts{{"first", "Z\u00fcrich"}};
  for (int i = 0; i < 500; ++i) texts.emplace_back("m" + std::to_string(i), i % 2 ? "Gen\u00e8ve" : "Bern");
  put_earlier(r, texts);
  CHECK(left(r) == 2);
  CHECK(found(r, "z\u00fcrich") == Ids{"first"});
  CHECK(found(r, "caf\u00e9") == Ids{"first"});
  CHECK(found(r, "zurich").empty());
  auto session = r.store->begin_session();
  session->put(message("new", 9000, "Z\u00fcrich again"));
  session->put(message("first", 1, "Z\u00fcrich, changed"));  // its kept text too
  session->commit();
  CHECK(found(r, "z\u00fcrich") == Ids{"first", "new"});
  CHECK(found(r, "zurich") == Ids{"first", "new"});
  CHECK(found(r, "cafe") == Ids{"first"});
  CHECK(found(r, "gen\u00e8ve").size() == 250);
  r.store->idle();
  CHECK(left(r) == 0);
  CHECK(found(r, "geneve").size() == 250);
  CHECK(found(r, "gen\u00e8ve").size() == 250);
  CHECK(found(r, "bern").size() == 250);
  CHECK(everything(r).size() == 502);
  check_index(r.file);
}

TEST_CASE("a host that is stopped half-way goes on where it was") {
  ReplicaFixture r;
  std::vector<std::pair<std::string, std::string>> texts;
  for (int i = 0; i < 450; ++i) texts.emplace_back("m" + std::to_string(i), "Gen\u00e8ve");
  put_earlier(r, texts);
  r.store.reset();
  {
    SQLite::Database db(r.file.string(), SQLite::OPEN_READWRITE);
    register_gram_tokenizer(db.getHandle());
    StatementCache statements(db.getHandle());
    CHECK(refold_some(statements, CollectionTable(mail_collections().front())));
  }
  check_index(r.file);
  r.open();
  CHECK(found(r, "geneve").size() == 200);
  CHECK(found(r, "gen\u00e8ve").size() == 450);
  r.store->idle();
  CHECK(found(r, "geneve").size() == 450);
  CHECK(left(r) == 0);
  check_index(r.file);
}

TEST_CASE("a part is bounded by what it changes, not by rows alone") {
  ReplicaFixture r;
  std::string pages;
  for (int i = 0; i < 400; ++i) pages += fmt::format("Gen\u00e8ve {} and more of it. ", i);
  std::vector<std::pair<std::string, std::string>> texts;
  for (int i = 0; i < 20; ++i) texts.emplace_back("m" + std::to_string(i), pages);
  put_earlier(r, texts);
  r.store.reset();
  {
    SQLite::Database db(r.file.string(), SQLite::OPEN_READWRITE);
    register_gram_tokenizer(db.getHandle());
    StatementCache statements(db.getHandle());
    CHECK(refold_some(statements, CollectionTable(mail_collections().front())));
  }
  r.open();
  const auto done = found(r, "geneve").size();
  CHECK(done > 0);
  CHECK(done < 20);
  r.store->idle();
  CHECK(found(r, "geneve").size() == 20);
  check_index(r.file);
}

}  // namespace krux::KRUXOS_TEST_FILE
