#include <kruxos/kit/list_sync.hpp>
#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;
using kruxos::ErrorKind;
using kruxos::ProxyError;
using kruxos::testing::FakeAnswer;

namespace {

kruxos::Record record_of(const Json& row) {
  if (flag_of(row, "bad")) throw ProxyError(ErrorKind::kUnavailable, "This row is bad.");
  kruxos::Record record;
  record.id = digits_of(row, "id");
  record.json = "{}";
  return record;
}

struct Desk {
  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store{host.clock, {{"tasks"}}};
  kruxos::testing::FakeCall fake{host.clock};
  kruxos::Call call = fake.call();
  kruxos::SyncStore face = store.store();
  RestClient api{host.host(), "The tasks service"};
  ListSync tasks{.collection = "tasks",
                 .list = {"tasks?size=2", Paging::by_cursor("next", "after"), "tasks"},
                 .since = "since",
                 .record = record_of,
                 .is_gone = [](const Json& row) { return flag_of(row, "gone"); }};

  void answers(const std::string& url, const std::string& rows, const std::string& next = {}, bool dated = true) {
    kruxos::Headers headers;
    if (dated) headers.emplace_back("Date", "Sat, 21 Nov 2026 09:30:00 GMT");
    host.expect("GET", url)
        .answers(FakeAnswer::with(200, "{\"tasks\":[" + rows + "],\"next\":\"" + next + "\"}", headers));
  }
  bool full() { return done(tasks.full_step(api, call, face)); }
  bool next() { return done(tasks.next_step(api, call, face)); }
  std::string ids() const {
    std::string all;
    for (const auto& [id, row] : store.rows("tasks")) all += id;
    return all;
  }
  static bool done(const kruxos::SyncStep& step) { return step.next == KRUX_SYNC_DONE; }
};

const char* const kSince = "tasks?size=2&since=2026-11-21T09%3A29%3A00.000Z";

}  // namespace

TEST_CASE("a whole pass goes page by page and sweeps what it did not see") {
  Desk desk;
  desk.answers("tasks?size=2", R"({"id":1},{"id":2})", "2");
  CHECK_FALSE(desk.full());
  CHECK(desk.ids() == "12");
  desk.answers("tasks?size=2&after=2", R"({"id":3})");
  CHECK(desk.full());
  CHECK(desk.ids() == "123");
  desk.answers("tasks?size=2", R"({"id":3})");
  CHECK(desk.full());
  CHECK(desk.ids() == "3");
}

TEST_CASE("later passes ask since a minute before the last one began, by the service's clock") {
  Desk desk;
  desk.answers("tasks?size=2", R"({"id":1},{"id":2})", "2");
  desk.answers("tasks?size=2&after=2", R"({"id":3})", "", false);
  desk.full();
  desk.full();
  desk.host.clock.now_ms = 7;  // the host's own says nothing
  desk.answers(kSince, R"({"id":4},{"id":2,"gone":true})");
  CHECK(desk.next());
  CHECK(desk.ids() == "134");
  desk.tasks.overlap_ms = 0;
  desk.tasks.format_since = [](std::int64_t ms) { return std::to_string(ms); };
  desk.answers("tasks?size=2&since=1795253340000", "");
  CHECK(desk.next());
  desk.answers("tasks?size=2&since=1795253400000", "", "", false);
  CHECK(desk.next());
  desk.answers("tasks?size=2&since=1795253400000", "");  // the time was not said: it stays
  CHECK(desk.next());
  CHECK(desk.ids() == "134");
}

TEST_CASE("where the service never says what time it is everything is listed each time") {
  Desk desk;
  desk.answers("tasks?size=2", R"({"id":1})", "2", false);
  desk.answers("tasks?size=2&after=2", R"({"id":2})");  // its time is later than the pass's beginning
  desk.full();
  desk.full();
  desk.answers("tasks?size=2", R"({"id":2})", "", false);
  CHECK(desk.next());
  CHECK(desk.ids() == "2");
}

TEST_CASE("a list that says nothing of what is gone is listed anew from time to time") {
  Desk desk;
  desk.tasks.whole_every_ms = 1'000;
  desk.answers("tasks?size=2", R"({"id":1},{"id":2})");
  CHECK(desk.full());
  desk.host.clock.advance(999);
  desk.answers(kSince, "");
  CHECK(desk.next());
  desk.host.clock.advance(1);
  desk.answers("tasks?size=2", R"({"id":2})", "9");
  CHECK_FALSE(desk.next());
  desk.answers("tasks?size=2&after=9", R"({"id":3})");
  CHECK(desk.next());
  CHECK(desk.ids() == "23");
}

TEST_CASE("a pass that was cut goes on, and a full one does not go on with another's pages") {
  Desk desk;
  desk.answers("tasks?size=2", R"({"id":1})");
  desk.full();
  desk.answers(kSince, R"({"id":2})", "2");
  CHECK_FALSE(desk.next());
  desk.answers(std::string(kSince) + "&after=2", R"({"id":3})", "3");
  CHECK_FALSE(desk.next());
  desk.answers("tasks?size=2", R"({"id":3})");
  CHECK(desk.full());
  CHECK(desk.ids() == "3");
  // All cursors are gone, the rows are not: the next pass is still later than the last one.
  desk.store.cursors.clear();
  desk.host.clock.advance(10);
  desk.answers("tasks?size=2", R"({"id":4})");
  CHECK(desk.full());
  CHECK(desk.ids() == "4");
}

TEST_CASE("a page that fails takes nothing, and is asked for again") {
  Desk desk;
  desk.answers("tasks?size=2", R"({"id":1})", "2");
  desk.full();
  for (const char* rows : {R"({"id":2},{"bad":true,"id":3})", R"({"id":2},{"id":null})"}) {
    desk.answers("tasks?size=2&after=2", rows);
    CHECK_THROWS_AS(desk.full(), ProxyError);
    desk.store.drop_uncommitted();
    CHECK(desk.ids() == "1");
  }
  desk.answers("tasks?size=2&after=2", R"({"id":2})");
  CHECK(desk.full());
  CHECK(desk.ids() == "12");
}

TEST_CASE("a page that the service no longer knows does not stop the sync for ever") {
  Desk desk;
  desk.answers("tasks?size=2", R"({"id":1})", "2");
  desk.full();
  desk.host.expect("GET", "tasks?size=2&after=2").answers(410, "");
  CHECK_THROWS_AS(desk.full(), ProxyError);
  desk.answers("tasks?size=2", R"({"id":1})");
  CHECK(desk.full());
  CHECK(desk.ids() == "1");
}

TEST_CASE("a whole pass that the service forgets half way is still due") {
  Desk desk;
  desk.tasks.whole_every_ms = 1'000;
  desk.answers("tasks?size=2", R"({"id":1},{"id":2})");
  CHECK(desk.full());
  desk.host.clock.advance(1'000);
  desk.answers("tasks?size=2", R"({"id":2})", "2");
  CHECK_FALSE(desk.next());
  desk.host.expect("GET", "tasks?size=2&after=2").answers(404, "");
  CHECK_THROWS_AS(desk.next(), ProxyError);
  desk.host.clock.advance(1);
  desk.answers("tasks?size=2", R"({"id":2})");
  CHECK(desk.next());
  CHECK(desk.ids() == "2");
}

TEST_CASE(
    "a row that moved between pages by place is not taken for gone, and one that is gone goes with the next pass") {
  Desk desk;
  desk.tasks.list.paging = Paging::by_offset("at");
  const auto pass = [&](const std::string& first, const std::string& second_url, const std::string& second) {
    desk.host.clock.advance(10);
    desk.answers("tasks?size=2", first);
    CHECK_FALSE(desk.full());
    desk.answers(second_url, second);
    if (!second.empty()) {
      CHECK_FALSE(desk.full());
      desk.answers("tasks?size=2&at=3", "");
    }
    CHECK(desk.full());
  };
  pass(R"({"id":1},{"id":2})", "tasks?size=2&at=2", R"({"id":3})");
  CHECK(desk.ids() == "123");
  pass(R"({"id":1},{"id":2})", "tasks?size=2&at=2", "");  // 1 went after the first page: 3 has its place there
  CHECK(desk.ids() == "123");
  pass(R"({"id":2},{"id":3})", "tasks?size=2&at=2", "");
  CHECK(desk.ids() == "123");  // seen in the pass before this
  pass(R"({"id":2},{"id":3})", "tasks?size=2&at=2", "");
  CHECK(desk.ids() == "23");
}

}  // namespace KRUXOS_TEST_FILE
