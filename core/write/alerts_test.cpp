// Alerts in agents' own words.
#include "core/write/alerts.hpp"

#include <catch2/catch.hpp>
#include <future>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace write_test;

namespace {

struct AlertFixture : LedgerFixture {
  AlertStore alerts{store, clock};

  std::variant<Alert, Error> send(const std::string& message, const std::string& agent = "agent_1",
                                  const std::string& severity = "info") {
    std::promise<std::variant<Alert, Error>> sent;
    alerts.send(agent, severity, message, [&](auto outcome) { sent.set_value(std::move(outcome)); });
    return sent.get_future().get();
  }
  std::variant<Alert, Error> acknowledge(std::int64_t id, const std::string& agent) {
    std::promise<std::variant<Alert, Error>> done;
    alerts.acknowledge_own(id, agent, [&](auto outcome) { done.set_value(std::move(outcome)); });
    return done.get_future().get();
  }
};

std::string type_of(const std::variant<Alert, Error>& outcome) {
  const auto* error = std::get_if<Error>(&outcome);
  return error ? std::string(error->type().name()) : "none";
}

}  // namespace

TEST_CASE("an agent's alert is its own words, and the same words are one alert while it is open") {
  AlertFixture f;
  const auto sent = std::get<Alert>(f.send("The report failed.", "agent_1", "warning"));
  CHECK(std::get<Alert>(f.send("The report failed.", "agent_1", "warning")).id == sent.id);
  CHECK(std::get<Alert>(f.send("The report failed.", "agent_2", "warning")).id != sent.id);
  const auto all = f.alerts.list(true);
  REQUIRE(all.size() == 2);
  CHECK(all[1].in_agents_words());
  CHECK(all[1].agent_id == "agent_1");
  CHECK(all[1].severity == "warning");
  CHECK_FALSE(f.alerts.any_critical());
  CHECK(type_of(f.acknowledge(sent.id, "agent_2")) == "InvalidInput");
  CHECK(type_of(f.acknowledge(sent.id + 100, "agent_1")) == "InvalidInput");
  CHECK(std::get<Alert>(f.acknowledge(sent.id, "agent_1")).acknowledged_at_ms == f.clock.wall_ms());
  CHECK(type_of(f.acknowledge(sent.id, "agent_1")) == "none");
  CHECK(std::get<Alert>(f.send("The report failed.", "agent_1", "warning")).id != sent.id);
}

TEST_CASE("what an agent sends is limited in an hour and while it is open") {
  AlertFixture f;
  for (int i = 0; i < kAgentAlertsPerHour; ++i) CHECK(type_of(f.send("No. " + std::to_string(i))) == "none");
  const auto refused = f.send("One more.");
  CHECK(type_of(refused) == "RateLimited");
  CHECK(std::get<Error>(refused).retry_after_ms() == 3'600'000);
  CHECK(type_of(f.send("No. 0")) == "none");  // which is open
  CHECK(type_of(f.send("One more.", "agent_2")) == "none");
  f.clock.jump_wall(-7'200'000);
  CHECK(std::get<Error>(f.send("One more.")).retry_after_ms() == 3'600'000);
  f.clock.jump_wall(7'200'000);
  for (int hour = 0; hour < 4; ++hour) {
    f.clock.advance(3'600'000);
    for (int i = 0; i < 10; ++i) f.send(std::to_string(hour) + "/" + std::to_string(i));
  }
  CHECK(f.alerts.list_for("agent_1", true, 100).size() == kOpenAgentAlerts);
  f.clock.advance(3'600'000);
  CHECK(type_of(f.send("Too many are open.")) == "RateLimited");
  CHECK(type_of(f.acknowledge(f.alerts.list_for("agent_1", true, 1)[0].id, "agent_1")) == "none");
  CHECK(type_of(f.send("Too many are open.")) == "none");
}

TEST_CASE("an agent is told of its own alerts and of those about its writes") {
  AlertFixture f;
  const auto id = f.submit(new_write("a")).write.write_id;
  f.alerts.raise({"critical", "retries_used_up", "notes", "N1", id, "Decide.", false});
  f.alerts.raise({"critical", "vault_locked", "", "", "", "Unlock it.", false});
  f.send("Mine.");
  f.send("Theirs.", "agent_2");
  const auto mine = f.alerts.list_for("agent_1", true, 10);
  REQUIRE(mine.size() == 2);
  CHECK(mine[0].message == "Mine.");
  CHECK(mine[1].write_id == id);
  CHECK_FALSE(mine[1].in_agents_words());
  CHECK(type_of(f.acknowledge(mine[1].id, "agent_1")) == "InvalidInput");
  CHECK(f.alerts.list_for("agent_1", true, 10, mine[0].id).size() == 1);
  CHECK(f.alerts.list_for("agent_3", false, 10).empty());
}

}  // namespace KRUXOS_TEST_FILE
