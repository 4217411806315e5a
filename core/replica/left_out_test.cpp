// Records that the replica cannot take: they end nothing, and are counted until they fit or are gone.
#include "core/replica/left_out.hpp"

#include <catch2/catch.hpp>

#include "core/replica/replica_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

using Ids = std::vector<std::string>;

void put_spoilt(ReplicaFixture& r, const std::string& id, const std::function<void(Record&)>& spoil) {
  const auto session = r.store->begin_session();
  auto record = message(id, 1000, "text");
  spoil(record);
  session->put(record);
  session->put(message("good", 2000, "stays"));
  session->commit();
}

/// Why the record of that id is left out; empty: it is not.
std::string left_out_why(const ReplicaFixture& r, const std::string& id) {
  for (const auto& record : r.store->left_out(1000)) {
    if (record.id.starts_with(id)) return record.collection + ": " + record.reason;
  }
  return {};
}

std::vector<std::string> left_out_ids(const ReplicaFixture& r) {
  std::vector<std::string> ids;
  for (const auto& record : r.store->left_out(1000)) ids.push_back(record.id);
  return ids;
}

void too_long(Record& record) {
  record.text = std::string((1 << 20) + 1, 'a');
}

}  // namespace

TEST_CASE("a record that the replica cannot take is left out, with the reason, and the others stay") {
  using Catch::Contains;
  struct Case {
    const char* id;
    std::function<void(Record&)> spoil;
    const char* why;
  };
  const std::vector<Case> cases{
      {"", [](Record&) {}, "its id is empty"},
      {"a\\x00b", [](Record& x) { x.id = std::string("a\0b", 3); }, "its id contains a NUL"},
      {"\\xc3(", [](Record& x) { x.id = "\xc3("; }, "its id is not valid UTF-8"},
      {"aaa", [](Record& x) { x.id = std::string(1025, 'a'); }, "its id is longer than 1024 bytes"},
      {"the-id", [](Record& x) { x.scope = std::string(1025, 'a'); }, "its scope is longer"},
      {"the-id", [](Record& x) { x.json = "[]"; }, "its json: it is not a JSON object"},
      {"the-id", [](Record& x) { x.json = "{\"a\":\"\x1b\"}"; }, "its json"},
      {"the-id", [](Record& x) { x.json = "{\"a\":\"" + std::string(1 << 20, 'a') + "\"}"; },
       "its json: it has 1048584"},
      {"the-id", too_long, "its text is longer than 1 MiB"},
      {"the-id", [](Record& x) { x.order_ms = INT64_MIN; }, "its order_ms -9223372036854775808 is not a time"},
      {"the-id", [](Record& x) { x.order_ms = std::int64_t{1} << 44; }, "not a time"},
      {"the-id",
       [](Record& x) {
         x.fields = {{"channel", std::string(65'537, 'c')}};
       },
       "its field \"channel\" is longer than 65536 bytes"},
  };
  for (const auto& one : cases) {
    ReplicaFixture r;
    INFO(one.why);
    put_spoilt(r, one.id, one.spoil);
    CHECK(everything(r) == Ids{"good"});
    REQUIRE(r.store->state().left_out == 1);
    const auto record = r.store->left_out(10).front();
    CHECK(record.collection == "messages");
    CHECK_THAT(record.id, Catch::StartsWith(one.id));
    CHECK_THAT(record.reason, Contains(one.why));
    CHECK(record.since_ms == r.clock.wall_ms());
    check_index(r.file);
  }
}

TEST_CASE(
    "NULs, halves of surrogate pairs and invalid bytes become U+FFFD and are counted, and other characters stay") {
  ReplicaFixture r;
  const auto session = r.store->begin_session();
  std::string controls;
  for (char c = 1; c < 0x20; ++c) controls += c;
  auto record = message("a", 1000, std::string("nul\0here \xff ", 11) + controls);
  record.json = R"({"a":"x\u0000y \ud800 \u001b)"
                "\xff"
                R"("})";
  record.fields = {{"channel", std::string("c\0", 2)}};
  session->put(record);
  CHECK(session->replaced() == 6);
  session->keep_text("messages", "a", std::string("kept\0text", 9));
  CHECK(session->replaced() == 7);
  session->commit();
  CHECK(r.store->state().left_out == 0);
  std::string json;
  r.store->reader()->get("messages", "a", [&](const RowView& row) {
    json = row.json;
    return true;
  });
  CHECK(json == "{\"a\":\"x\\ufffdy \\ufffd \\u001b\uFFFD\"}");
  const auto finds = [&](Condition where) { return ask(*r.store->reader(), messages_where(std::move(where))).ids; };
  CHECK(finds(text_is("nul\uFFFDhere")) == Ids{"a"});
  CHECK(finds(text_is("kept\uFFFDtext")) == Ids{"a"});
  CHECK(finds(field_is("channel", "c\uFFFD")) == Ids{"a"});
  CHECK(finds(text_is("\x1a\x1b")) == Ids{"a"});
  CHECK(finds(text_is("\x01\x02\x03")) == Ids{"a"});
}

TEST_CASE("what is left out leaves the count when it fits, is erased, or is swept") {
  ReplicaFixture r;
  for (const char* id : {"fits", "erased", "swept", "elsewhere", "later"}) put_spoilt(r, id, too_long);
  put_spoilt(r, "", [](Record& x) { x.id = std::string(2000, 'x'); });
  CHECK(r.store->state().left_out == 6);
  auto session = r.store->begin_session();
  session->put(message("fits", 1000, "short", "general", 2));
  session->erase("messages", "erased");
  session->erase("messages", std::string(2000, 'x'));
  auto elsewhere = message("elsewhere", 1000, "", "random");
  too_long(elsewhere);
  session->put(elsewhere);
  auto later = message("later", 9000, "");
  too_long(later);
  session->put(later);
  session->sweep("messages", "general", 2, INT64_MIN, 5000);
  CHECK(r.store->state().left_out == 6);  // nothing of it before the commit
  session->commit();
  CHECK(left_out_ids(r) == Ids{"elsewhere", "later"});
  CHECK(r.store->state().left_out == 2);
  CHECK(everything(r) == Ids{"fits"});

  session->put(message("later", 9000, "short"));
  session->sweep("messages", "", 2, INT64_MIN, INT64_MAX);
  session->put(message("new", 9500, "short", "general", 2));
  session->commit();
  CHECK(r.store->state().left_out == 0);
  CHECK(everything(r) == Ids{"new", "fits"});
}

TEST_CASE("a record that no longer fits goes, and what was left out is known after a restart") {
  ReplicaFixture r;
  put_spoilt(r, "a", [](Record&) {});
  CHECK(everything(r) == Ids{"good", "a"});
  r.clock.advance(1000);
  const auto since = r.clock.wall_ms();
  put_spoilt(r, "a", too_long);
  CHECK(everything(r) == Ids{"good"});
  CHECK(r.store->counts().at("messages") == 1);
  r.clock.advance(5000);
  put_spoilt(r, "a", too_long);
  r.open();
  CHECK(r.store->state().left_out == 1);
  CHECK(left_out_why(r, "a") == "messages: its text is longer than 1 MiB");
  CHECK(r.store->left_out(1).front().since_ms == since);
  CHECK(r.store->left_out(1).front().seen_ms == since + 5000);
  r.store->finish_pass(true, 1);
  r.open(mail_collections(2));  // built anew, beside the one that is read
  put_spoilt(r, "a", [](Record&) {});
  put_spoilt(r, "b", too_long);
  CHECK(left_out_ids(r) == Ids{"a"});
  CHECK(r.store->reader()->freshness().left_out == 1);
  r.store->finish_pass(true, 2);
  CHECK(left_out_ids(r) == Ids{"b"});
  CHECK(r.store->state().left_out == 1);
  r.store->idle();
  CHECK(SQLite::Database(r.file.string()).execAndGet("SELECT count(*) FROM left_out").getInt() == 1);
}

TEST_CASE("what is left out of collections that are no longer declared is forgotten") {
  ReplicaFixture r;
  put_spoilt(r, "a", too_long);
  auto specs = mail_collections();
  specs.erase(specs.begin());
  r.open(std::move(specs));
  CHECK(r.store->state().left_out == 0);
}

TEST_CASE("an uncommitted or closed session leaves nothing out") {
  ReplicaFixture r;
  {
    const auto session = r.store->begin_session();
    auto record = message("a", 1000, "");
    too_long(record);
    session->put(record);
  }
  r.store->begin_session()->commit();
  CHECK(r.store->state().left_out == 0);
}

TEST_CASE("more records of one millisecond than there are keys are left out, and the page is kept") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  const auto put_many = [&](int from, int count) {
    for (int i = from; i < from + count; ++i) session->put(message(std::to_string(i), 7, ""));
    session->commit();
  };
  for (int i = 0; i < 65'536; i += 8192) put_many(i, 8192);
  CHECK(r.store->state().left_out == 0);
  session->put(message("other", 8, ""));
  session->put(message("0", 8, ""));  // moves away, and makes no place: it was not the last
  put_many(65'536, 1);
  CHECK(r.store->counts().at("messages") == 65'537);
  CHECK_THAT(left_out_why(r, "65536"), Catch::Contains("more than 65536 records"));
  session->put(message("1", 7, "changed in its place"));
  session->put(message("65536", 9, ""));
  session->commit();
  CHECK(r.store->state().left_out == 0);
  CHECK(ask(*r.store->reader(), messages_where(text_is("changed"))).ids == Ids{"1"});
}

TEST_CASE("a kept text that is too long is left out, and its record stays") {
  ReplicaFixture r;
  const auto session = r.store->begin_session();
  const auto keep = [&](const std::string& id, std::size_t size) {
    session->keep_text("messages", id, std::string(size, 'k'));
    session->commit();
  };
  session->put(message("a", 1000, "own"));
  session->put(message("b", 1000, "own"));
  keep("a", 5);
  keep("a", (1 << 20) + 1);
  keep("b", (1 << 20) + 1);
  keep("nobody", (1 << 20) + 1);
  CHECK(left_out_ids(r) == Ids{"a", "b"});
  CHECK(left_out_why(r, "a") == "messages: the text kept with it is longer than 1 MiB");
  CHECK(ask(*r.store->reader(), messages_where(text_is("kkk"))).ids.empty());
  CHECK(everything(r).size() == 2);
  session->put(message("a", 1000, "own, changed"));  // says nothing of the kept text
  session->commit();
  CHECK(r.store->state().left_out == 2);
  keep("a", 3);
  CHECK(left_out_ids(r) == Ids{"b"});
  session->erase("messages", "b");
  session->commit();
  CHECK(r.store->state().left_out == 0);
  check_index(r.file);
}

}  // namespace KRUXOS_TEST_FILE
