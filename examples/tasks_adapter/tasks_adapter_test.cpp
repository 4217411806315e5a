// The adapter without a host: what it asks the service, and what it makes of the answers.
#include "tasks_adapter.hpp"

#include <kruxos/testing.hpp>

using namespace kruxos::testing;
using tasks::TasksAdapter;

namespace {

std::string task(int id, const std::string& state = "open", const std::string& at = "2026-11-21T09:30:00.000Z") {
  return R"({"id":)" + std::to_string(id) + R"(,"title":"Hello","notes":"","state":")" + state +
         R"(","ref":"w_1","updated_at":")" + at + "\"}";
}

FakeAnswer page(const std::string& tasks, const std::string& next = {}) {
  kruxos::Headers headers{{"Date", "Sat, 21 Nov 2026 09:40:00 GMT"}};
  if (!next.empty()) headers.emplace_back("Link", "<" + next + ">; rel=\"next\"");
  return FakeAnswer::with(200, "[" + tasks + "]", headers);
}

FakeWrite create() {
  return {"tasks.create", R"({"title":"Hello","notes":""})"};
}
FakeWrite close() {
  return {"tasks.close", R"({"task_id":"1"})"};
}

void syncs_page_by_page_and_asks_for_changes() {
  Workbench<TasksAdapter> bench(R"({"page_size":2})");
  bench.host.expect("GET", "tasks?per_page=2").answers(page(task(1) + "," + task(2), "tasks?per_page=2&after=2"));
  bench.full_step();
  bench.restart();
  bench.host.expect("GET", "tasks?per_page=2&after=2").answers(page(task(3, "closed")));
  bench.sync();
  KRUXOS_REQUIRE(bench.store.rows("tasks").size() == 3);
  // A minute before the first page's Date: the service's own clock, and its servers need not agree.
  bench.host.expect("GET", "tasks?per_page=2&updated_since=2026-11-21T09%3A39%3A00.000Z")
      .answers(page(R"({"id":2,"deleted":true})"));
  bench.sync();
  KRUXOS_REQUIRE(bench.store.rows("tasks").size() == 2);
  const auto found = bench.read("tasks.search", R"({"query":"HELL","state":"closed","limit":20,"offset":0})");
  KRUXOS_REQUIRE(found.find(R"({"id":"3",)") != std::string::npos && found.find(R"("total":1)") != std::string::npos);
  KRUXOS_REQUIRE(bench.read("tasks.read", R"({"task_id":"1"})").find(R"("updated_ms":1795253400000)") !=
                 std::string::npos);
}

void finds_by_its_marker_what_may_have_happened() {
  Workbench<TasksAdapter> bench;
  auto write = create();
  bench.host.expect("POST", "tasks")
      .with_body(R"({"title":"Hello","notes":"","ref":"w_1"})")
      .answers(FakeAnswer::dropped());
  KRUXOS_REQUIRE(bench.execute(write).outcome == Outcome::kUnknown);
  bench.host.expect("GET", "tasks?ref=w_1").answers(page(task(7)));
  KRUXOS_REQUIRE(bench.find_effect(write).result_json.starts_with(R"({"id":"7",)"));
  bench.host.expect("GET", "tasks?ref=w_1").answers(page(""));
  KRUXOS_REQUIRE(bench.find_effect(write).answer == KRUX_EFFECT_ABSENT);
  auto other = close();
  bench.host.expect("GET", "tasks/1").answers(200, task(1, "closed"));
  KRUXOS_REQUIRE(bench.find_effect(other).answer == KRUX_EFFECT_FOUND);
}

void tells_refused_from_unknown() {
  Workbench<TasksAdapter> bench;
  const std::pair<FakeAnswer, Outcome> rows[] = {
      {FakeAnswer::json(400, "{}"), Outcome::kRefused},
      {FakeAnswer::rate_limited(30), Outcome::kRetried},
      {FakeAnswer::unreachable(), Outcome::kRetried},
      {FakeAnswer::json(503, "{}"), Outcome::kUnknown},
      {FakeAnswer::never(), Outcome::kUnknown},
      {FakeAnswer::truncated(FakeAnswer::json(201, task(1)), 9), Outcome::kUnknown},
      {FakeAnswer::json(201, "{}"), Outcome::kUnknown}};
  for (const auto& [answer, outcome] : rows) {
    auto write = create();
    bench.host.expect("POST", "tasks").answers(answer);
    KRUXOS_REQUIRE(bench.execute(write).outcome == outcome);
  }
}

void undoes_what_nobody_has_changed() {
  Workbench<TasksAdapter> bench;
  auto made = create();
  bench.host.expect("POST", "tasks").answers(201, task(1));
  const auto created = bench.execute(made);
  bench.host.expect("GET", "tasks/1").answers(200, task(1, "open", "2026-11-21T09:31:00Z"));
  const auto refused = bench.rollback(made, created.result_json);
  KRUXOS_REQUIRE(refused.failure && refused.failure->status == KRUX_CONFLICT);
  bench.host.expect("DELETE", "tasks/1").answers(204, "");
  KRUXOS_REQUIRE(bench.rollback(made, created.result_json, true).outcome == Outcome::kDone);
  bench.host.expect("GET", "tasks/1").answers(404, "{}");
  KRUXOS_REQUIRE(bench.find_rollback(made, created.result_json).answer == KRUX_EFFECT_FOUND);
}

void opens_again_what_was_open() {
  Workbench<TasksAdapter> bench;
  auto write = close();
  bench.host.expect("GET", "tasks/1").answers(200, task(1));
  bench.host.expect("PATCH", "tasks/1").with_body(R"({"state":"closed"})").answers(200, task(1, "closed"));
  const auto closed = bench.execute(write);
  KRUXOS_REQUIRE(closed.outcome == Outcome::kDone);
  bench.host.expect("GET", "tasks/1").answers(200, task(1, "closed"));
  bench.host.expect("PATCH", "tasks/1").with_body(R"({"state":"open"})").answers(200, task(1));
  KRUXOS_REQUIRE(bench.rollback(write, closed.result_json).outcome == Outcome::kDone);
  bench.host.expect("GET", "tasks/1").answers(200, task(1, "closed"));
  KRUXOS_REQUIRE(bench.find_rollback(write, closed.result_json).answer == KRUX_EFFECT_ABSENT);
}

void knows_its_account() {
  Workbench<TasksAdapter> bench;
  bench.host.expect("GET", "user").answers(200, R"({"id":41,"name":"Ann"})");
  KRUXOS_REQUIRE(bench.verify().account_id == "41");
  bench.host.expect("DELETE", "token").answers(204, "");
  bench.revoke();
}

}  // namespace

int main() {
  return run({{"syncs page by page and asks for what has changed", syncs_page_by_page_and_asks_for_changes},
              {"finds by its marker what may have happened", finds_by_its_marker_what_may_have_happened},
              {"tells what was refused from what may have happened", tells_refused_from_unknown},
              {"undoes what nobody has changed", undoes_what_nobody_has_changed},
              {"opens again what was open", opens_again_what_was_open},
              {"knows its account", knows_its_account}});
}
