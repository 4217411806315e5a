#include <catch2/catch.hpp>

#include "core/capability/handler_test_support.hpp"
#include "core/util/durations.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

struct PolicyHost : Host {
  PolicyHost() {
    connect();
    writes.ledger.ask_terms(handler.terms());
  }
  /// As a reload does.
  void puts_in_force(const std::function<void(ServiceDefinition&)>& change) {
    auto changed = std::make_shared<ServiceDefinition>(*definition);
    change(*changed);
    definition = changed;
    accounts.set_services({{definition, "1.0.0"}});
    connect();
  }
  CapabilityDefinition& of(ServiceDefinition& changed, const std::string& name) {
    return const_cast<CapabilityDefinition&>(*changed.find(name));
  }
  std::string id_of(const std::string& capability, const std::string& arguments) {
    return text_of(call(capability, arguments), "write_id");
  }
  WriteRecord when_due(const std::string& id) {
    clock.advance(kHour);
    writes.ledger.take({{"notes", "N1", 1}}, {10, 10}, {});
    return *writes.ledger.get(id);
  }
};

}  // namespace

TEST_CASE("a write is claimed under the policy that is in force by then") {
  PolicyHost host;
  const auto id = host.id_of("notes.add", R"({"title":"Plan"})");
  SECTION("the same") {
    CHECK(host.when_due(id).state == WriteState::kExecuting);
  }
  SECTION("blocked") {
    host.puts_in_force([&](auto& d) { host.of(d, "notes.add").tier = Tier::kBlocked; });
    const auto write = host.when_due(id);
    CHECK(write.state == WriteState::kFailed);
    const auto told = host.call("proxy.write_status", "{\"write_id\":\"" + id + "\"}");
    CHECK(to_json(told["data"]["error"]) == R"({"type":"OperationBlocked","message":"notes.add is blocked by now."})");
  }
  SECTION("taken out of the definition") {
    host.puts_in_force([&](auto& d) { host.of(d, "notes.add").name = "notes.write"; });
    CHECK_THAT(host.when_due(id).error_message, Catch::Contains("no capability notes.add"));
  }
  SECTION("to be approved") {
    host.puts_in_force([&](auto& d) { host.of(d, "notes.add").tier = Tier::kApprovalRequired; });
    const auto write = host.when_due(id);
    CHECK(write.state == WriteState::kPendingApproval);
    CHECK(write.approval_reason == "Every notes.add needs a person's approval.");
  }
}

TEST_CASE("what a write counts as, and limits of a key, are asked by its content") {
  PolicyHost host;
  host.puts_in_force([&](auto& d) { host.of(d, "notes.wipe").tier = Tier::kAutonomous; });
  const auto counted = host.id_of("notes.file", R"({"room":"secret"})");
  const auto plain = host.id_of("notes.file", R"({"tags":["other"]})");
  const auto first = host.id_of("notes.add", R"({"title":"a","room":"R1"})");
  const auto second = host.id_of("notes.add", R"({"title":"b","room":"R1"})");
  const auto elsewhere = host.id_of("notes.add", R"({"title":"c","room":"R2"})");
  host.puts_in_force([&](auto& d) {
    host.of(d, "notes.wipe").tier = Tier::kBlocked;
    d.limits = {{{"notes.add"}, 1, kDay, "room"}};
  });
  CHECK(host.when_due(counted).state == WriteState::kFailed);
  const auto state = [&](const std::string& id) { return host.writes.ledger.get(id)->state; };
  CHECK(state(plain) == WriteState::kExecuting);
  CHECK(state(first) == WriteState::kExecuting);
  CHECK(state(second) == WriteState::kPendingApproval);
  CHECK(state(elsewhere) == WriteState::kExecuting);
}

TEST_CASE("a limit of a key that was tightened stops what is beyond it") {
  PolicyHost host;
  host.puts_in_force([&](auto& d) { d.limits = {{{"notes.add"}, 5, kDay, "room"}}; });
  const auto first = host.id_of("notes.add", R"({"title":"a","room":"R1"})");
  const auto second = host.id_of("notes.add", R"({"title":"b","room":"R1"})");
  const auto elsewhere = host.id_of("notes.add", R"({"title":"c","room":"R2"})");
  host.puts_in_force([&](auto& d) { d.limits = {{{"notes.add"}, 1, kDay, "room"}}; });
  CHECK(host.when_due(first).state == WriteState::kExecuting);
  CHECK(host.writes.ledger.get(second)->state == WriteState::kPendingApproval);
  CHECK(host.writes.ledger.get(elsewhere)->state == WriteState::kExecuting);
}

TEST_CASE("what counts as something else by now has the limits of that, of those that were set since too") {
  PolicyHost host;
  std::vector<std::string> ids;
  for (const auto* tag : {"1", "2", "3"})
    ids.push_back(host.id_of("notes.file", R"({"room":"R1","tags":["x",")" + std::string(tag) + "\"]}"));
  host.puts_in_force([&](auto& d) {
    host.of(d, "notes.file").counts_as = {{"tags", {"x"}, "notes.stamp"}};
    d.limits = {{{"notes.stamp"}, 1, kDay, ""}};
  });
  CHECK(host.when_due(ids[0]).state == WriteState::kExecuting);
  for (const auto& id : {ids[1], ids[2]}) {
    const auto write = *host.writes.ledger.get(id);
    CHECK(write.state == WriteState::kPendingApproval);
    CHECK(write.counted_as == "notes.stamp");
  }
}

}  // namespace KRUXOS_TEST_FILE
