#include "core/capability/approvals.hpp"

#include <catch2/catch.hpp>

#include "core/capability/handler_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

struct ApprovalHost : Host {
  using Outcome = std::variant<std::string, Error>;

  ApprovalHost() : Host({}, {}, asking()) { connect(); }
  static std::string asking() {
    std::string text = kDefinition;
    return text.replace(text.find("tier: notify"), 12, "tier: approval_required");
  }
  std::string pending(const std::string& title = "a") {
    const auto asked = call("notes.add", R"({"title":")" + title + "\"}");
    REQUIRE(type_of(asked) == "ApprovalRequired");
    return asked["error"]["context"]["write_id"].GetString();
  }
  std::future<Outcome> ask(const std::string& id, std::int64_t wait_ms = 0, const std::string& agent = "agent_1") {
    const auto answered = std::make_shared<std::promise<Outcome>>();
    handler.approval(agent, id, wait_ms, [answered](Outcome outcome) { answered->set_value(std::move(outcome)); });
    return answered->get_future();
  }
  JsonDocument told(std::future<Outcome> future) { return parse_json(std::get<std::string>(future.get()), "told"); }
  void accept(const std::string& id) {
    std::promise<void> done;
    writes.ledger.accept(id, writes.ledger.get(id)->content_hash, "operator:ann", [&](auto) { done.set_value(); });
    done.get_future().get();
  }
  void reject(const std::string& id, const std::string& reason) {
    std::promise<void> done;
    writes.ledger.reject(id, reason, "operator:ann", [&](auto) { done.set_value(); });
    done.get_future().get();
  }
};

std::string refusal(ApprovalHost& host, const std::string& id, const std::string& agent = "agent_1") {
  const auto outcome = host.ask(id, 1'000, agent).get();
  const auto* error = std::get_if<Error>(&outcome);
  return error ? std::string(error->type().name()) : "none";
}

bool waits(const std::future<ApprovalHost::Outcome>& future) {
  return future.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout;
}

}  // namespace

TEST_CASE("what a person has to decide about is found by the agent whose write it is, and by nobody else") {
  ApprovalHost host;
  const auto id = host.pending();
  const auto asked = [&](const std::string& agent, const std::string& write_id) {
    std::promise<std::optional<AskedApproval>> found;
    host.handler.asked_approval(agent, write_id, [&](auto what) { found.set_value(approval_in(what)); });
    return found.get_future().get();
  };
  const auto mine = asked("agent_1", id);
  REQUIRE(mine);
  CHECK(mine->write_id == id);
  CHECK(mine->capability == "notes.add");
  CHECK(mine->content_hash == host.writes.ledger.get(id)->content_hash);
  CHECK_FALSE(asked("agent_2", id));
  CHECK_FALSE(asked("agent_1", "w_01234567-89ab-7cde-8f01-23456789abcd"));
  CHECK_FALSE(asked("agent_1", "nonsense"));
  host.accept(id);
  CHECK_FALSE(asked("agent_1", id));
}

TEST_CASE("an agent sees how a person has decided") {
  ApprovalHost host;
  const auto id = host.pending();
  const auto open = host.told(host.ask(id));
  CHECK(find_string(open, "approval_id") == id);
  CHECK(find_string(open, "status") == "pending");
  CHECK(find_bool(open, "resolved") == false);
  CHECK(find_bool(open, "approved") == false);
  CHECK(find_string(open["write"], "status") == "pending_approval");
  SECTION("accepted") {
    host.accept(id);
    const auto told = host.told(host.ask(id));
    CHECK(find_string(told, "status") == "approved");
    CHECK(find_bool(told, "approved") == true);
    CHECK(find_string(told["write"], "status") == "buffered");
  }
  SECTION("rejected") {
    host.reject(id, "Not today.");
    const auto told = host.told(host.ask(id));
    CHECK(find_string(told, "status") == "rejected");
    CHECK(find_bool(told, "resolved") == true);
    CHECK(find_bool(told, "approved") == false);
    CHECK_THAT(std::string(*find_string(told, "reason")), Catch::Contains("Not today."));
  }
  SECTION("taken back") {
    host.call("proxy.cancel_write", "{\"write_id\":\"" + id + "\"}");
    CHECK(find_string(host.told(host.ask(id)), "status") == "cancelled");
  }
}

TEST_CASE("when the host stops nobody waits for a decision") {
  ApprovalHost host;
  const auto id = host.pending();
  auto before = host.ask(id, 600'000);
  CHECK(waits(before));
  host.writes.settled.end_waiting();
  const auto told_before = host.told(std::move(before));
  CHECK(find_string(told_before, "status") == "pending");
  CHECK(find_string(host.told(host.ask(id, 600'000)), "status") == "pending");
}

TEST_CASE("who waits for a decision is answered when it is taken, or after his time") {
  ApprovalHost host;
  const auto accepted = host.pending("a"), rejected = host.pending("b"), open = host.pending("c");
  auto first = host.ask(accepted, 600'000), second = host.ask(rejected, 600'000), third = host.ask(open, 20'000);
  CHECK(waits(first));
  CHECK(waits(third));
  host.accept(accepted);
  const auto told_first = host.told(std::move(first));
  CHECK(find_string(told_first, "status") == "approved");
  CHECK(waits(second));
  host.reject(rejected, "");
  const auto told_second = host.told(std::move(second));
  CHECK(find_string(told_second, "status") == "rejected");
  host.clock.advance(20'000);
  const auto told_third = host.told(std::move(third));
  CHECK(find_string(told_third, "status") == "pending");
  CHECK(find_string(host.told(host.ask(accepted, 600'000)), "status") == "approved");
}

TEST_CASE("what is another agent's, or waits for nobody, is no approval") {
  ApprovalHost host;
  const auto id = host.pending();
  CHECK(refusal(host, id, "agent_2") == "InvalidInput");
  CHECK(refusal(host, "w_01900000-0000-7000-8000-000000000000") == "InvalidInput");
  CHECK(refusal(host, "") == "InvalidInput");
  CHECK(refusal(host, "appr_1") == "InvalidInput");
  const auto plain = text_of(host.call("notes.plain"), "write_id");
  CHECK(refusal(host, plain) == "InvalidInput");
}

}  // namespace KRUXOS_TEST_FILE
