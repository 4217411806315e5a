// The adapter without a host: what it asks the service, and what it makes of the answers.
#include "notes_adapter.hpp"

#include <kruxos/testing.hpp>

using namespace kruxos::testing;
using notes::NotesAdapter;

namespace {

const std::string kNote = R"({"id":"n1","text":"hello","marker":"w_1","updated_ms":1000})";

std::string page(const std::string& notes, const std::string& next = "") {
  return "{\"notes\":[" + notes + "]" + (next.empty() ? "" : ",\"next\":\"" + next + "\"") + "}";
}

FakeWrite create() {
  return {"notes.create", R"({"text":"hello"})"};
}

void syncs_page_by_page_and_sweeps() {
  Workbench<NotesAdapter> bench;
  bench.host.expect("GET", "notes?limit=50&since=0&after=").answers(200, page(kNote, "n1"));
  bench.host.expect("GET", "notes?limit=50&since=0&after=n1")
      .answers(200, page(R"({"id":"n2","text":"Two","updated_ms":2000})"));
  bench.sync();
  KRUXOS_REQUIRE(bench.store.rows("notes").size() == 2);
  KRUXOS_REQUIRE(bench.read("notes.search", R"({"query":"TWO","limit":20,"offset":0})").find("\"n2\"") !=
                 std::string::npos);
  KRUXOS_REQUIRE(bench.read("notes.read", R"({"note_id":"n1"})") == "{\"note\":" + kNote + "}");
}

void goes_on_where_it_was_killed() {
  Workbench<NotesAdapter> bench(R"({"page_size":1})");
  bench.host.expect("GET", "notes?limit=1&since=0&after=").answers(200, page(kNote, "n1"));
  bench.full_step();
  bench.restart();
  bench.host.expect("GET", "notes?limit=1&since=0&after=n1").answers(200, page(""));
  bench.sync();
  KRUXOS_REQUIRE(bench.store.rows("notes").size() == 1);
}

void writes_with_its_marker_and_finds_it() {
  Workbench<NotesAdapter> bench;
  auto write = create();
  bench.host.expect("POST", "notes").with_body(R"({"text":"hello","marker":"w_1"})").answers(FakeAnswer::dropped());
  KRUXOS_REQUIRE(bench.execute(write).outcome == Outcome::kUnknown);
  bench.host.expect("GET", "notes?marker=w_1").answers(200, page(kNote));
  KRUXOS_REQUIRE(bench.find_effect(write).result_json == kNote);
  bench.host.expect("GET", "notes?marker=w_1").answers(200, page(""));
  KRUXOS_REQUIRE(bench.find_effect(write).answer == KRUX_EFFECT_ABSENT);
}

void tells_refused_from_unknown() {
  Workbench<NotesAdapter> bench;
  const std::pair<FakeAnswer, Outcome> rows[] = {
      {FakeAnswer::json(400, "{}"), Outcome::kRefused},
      {FakeAnswer::rate_limited(30), Outcome::kRetried},
      {FakeAnswer::unreachable(), Outcome::kRetried},
      {FakeAnswer::json(503, "{}"), Outcome::kUnknown},
      {FakeAnswer::never(), Outcome::kUnknown},
      {FakeAnswer::truncated(FakeAnswer::json(201, kNote), 9), Outcome::kUnknown},
      {FakeAnswer::json(201, "<html>"), Outcome::kUnknown}};
  for (const auto& [answer, outcome] : rows) {
    auto write = create();
    bench.host.expect("POST", "notes").answers(answer);
    KRUXOS_REQUIRE(bench.execute(write).outcome == outcome);
  }
}

void undoes_what_nobody_has_changed() {
  Workbench<NotesAdapter> bench;
  auto write = create();
  bench.host.expect("POST", "notes").answers(201, kNote);
  const auto made = bench.execute(write);
  KRUXOS_REQUIRE(made.outcome == Outcome::kDone);
  bench.host.expect("GET", "notes/n1").answers(200, R"({"id":"n1","text":"changed"})");
  const auto refused = bench.rollback(write, made.result_json);
  KRUXOS_REQUIRE(refused.failure && refused.failure->status == KRUX_CONFLICT);
  bench.host.expect("DELETE", "notes/n1").answers(204, "");
  KRUXOS_REQUIRE(bench.rollback(write, made.result_json, true).outcome == Outcome::kDone);
  bench.host.expect("GET", "notes/n1").answers(404, "{}");
  KRUXOS_REQUIRE(bench.find_rollback(write, made.result_json).answer == KRUX_EFFECT_FOUND);
}

void knows_its_account() {
  Workbench<NotesAdapter> bench;
  bench.host.expect("GET", "me").answers(200, R"({"id":"u1","name":"Ann"})");
  KRUXOS_REQUIRE(bench.verify().account_id == "u1");
  bench.host.expect("DELETE", "token").answers(204, "");
  bench.revoke();
}

}  // namespace

int main() {
  return run({{"syncs page by page and sweeps what is gone", syncs_page_by_page_and_sweeps},
              {"goes on where it was killed", goes_on_where_it_was_killed},
              {"writes with its marker and finds by it what may have happened", writes_with_its_marker_and_finds_it},
              {"tells what was refused from what may have happened", tells_refused_from_unknown},
              {"undoes what nobody has changed", undoes_what_nobody_has_changed},
              {"knows its account", knows_its_account}});
}
