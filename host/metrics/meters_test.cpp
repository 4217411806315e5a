#include "host/metrics/meters.hpp"

#include <catch2/catch.hpp>

#include "core/capability/handler_test_support.hpp"
#include "core/net/account_http.hpp"
#include "core/net/request_meters.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;

namespace {

/// Counts each look at the clock as a millisecond.
struct Counted {
  std::atomic<std::int64_t> us{0};
  Meters meters{[this] { return us.fetch_add(1000); }};
  std::string text() const { return meters.registry.text({}); }
};

HandlerOptions into(Meters& meters) {
  HandlerOptions options;
  options.call_meters = &meters.calls;
  options.write_meters = &meters.writes;
  return options;
}

}  // namespace

TEST_CASE("calls of capabilities are counted by how they ended") {
  Counted counted;
  handler_test::Host host(into(counted.meters));
  host.connect();
  host.call("notes.search");
  host.call("notes.search", R"({"nonsense":1})");
  host.call("notes.wipe");
  host.call("no.such \" capability");
  host.call("another");
  CHECK_THAT(
      counted.text(),
      Contains(R"(kruxos_capability_calls_total{capability="notes.search",outcome="ok",service="notes"} 1)") &&
          Contains(
              R"(kruxos_capability_calls_total{capability="notes.search",outcome="InvalidInput",service="notes"} 1)") &&
          Contains(
              R"(kruxos_capability_calls_total{capability="notes.wipe",outcome="OperationBlocked",service="notes"} 1)") &&
          Contains(R"({capability="unknown",outcome="InvalidInput",service="unknown"} 2)") &&
          Contains(R"(kruxos_read_seconds_count{capability="notes.search",service="notes"} 2)"));
  CHECK_THAT(counted.text(), !Contains("another") && !Contains("no.such"));
}

TEST_CASE("an error type of an adapter's own is no label") {
  Counted counted;
  handler_test::Host host(into(counted.meters));
  host.connect();
  host.adapter->on_read = [](auto&, auto, auto) {
    return CallFailure{KRUX_REFUSED, true, ErrorType::named("SecretPlan"), "x", {}};
  };
  CHECK(handler_test::type_of(host.call("notes.search")) == "SecretPlan");
  CHECK_THAT(counted.text(),
             Contains(R"({capability="notes.search",outcome="other",service="notes"} 1)") && !Contains("SecretPlan"));
}

TEST_CASE("acknowledgements are counted by what the ledger answered") {
  Counted counted;
  handler_test::Host host(into(counted.meters));
  host.connect();
  host.call("notes.add", R"({"title":"one"})");
  host.call("notes.add", R"({"title":"one"})");
  host.call("notes.ask");
  host.call("notes.add", R"({"title":"two"})", "agent_1", "key");
  host.call("notes.add", R"({"title":"three"})", "agent_1", "key");
  const auto text = counted.text();
  for (const char* outcome :
       {"buffered\",service=\"notes\"} 2", "duplicate\",service=\"notes\"} 1", "conflict\",service=\"notes\"} 1"}) {
    CHECK_THAT(text,
               Contains(std::string("kruxos_write_acks_total{operation=\"notes.add\",outcome=\"") + outcome + "\n"));
  }
  CHECK_THAT(text, Contains(R"({operation="notes.ask",outcome="pending_approval",service="notes"} 1)") &&
                       Contains(R"(kruxos_write_ack_seconds_count{service="notes"} 5)") && !Contains("title"));
}

TEST_CASE("decisions are counted by who made them, without his name") {
  Counted counted;
  handler_test::Host host;
  host.writes.ledger.count_into(&counted.meters.writes);
  host.connect();
  const auto id = handler_test::text_of(host.call("notes.add", R"({"title":"one"})"), "write_id");
  const auto cancel = R"({"write_id":")" + id + "\"}";
  host.call("notes.cancel", cancel);
  host.call("notes.cancel", cancel);
  std::promise<void> resolved;
  host.writes.ledger.decide_outcome(id, WriteEvent::kOperatorDiscard, std::nullopt, "operator:ann",
                                    [&](const auto&) { resolved.set_value(); });
  resolved.get_future().wait();
  const auto text = counted.text();
  CHECK_THAT(text,
             Contains(R"(kruxos_write_decisions_total{by="agent",decision="cancel",outcome="done"} 1)") &&
                 Contains(R"(kruxos_write_decisions_total{by="agent",decision="cancel",outcome="refused"} 1)") &&
                 Contains(R"(kruxos_write_decisions_total{by="operator",decision="discard",outcome="refused"} 1)"));
  CHECK_THAT(text, !Contains("ann") && !Contains("agent_1"));
}

TEST_CASE("attempts and looks have an outcome each") {
  Counted counted;
  auto& meter = counted.meters.writes.of("notes", "notes.add");
  meter.attempted(WriteEvent::kDone, 20'000);
  meter.attempted(WriteEvent::kRefusedForGood, 20'000);
  meter.attempted(WriteEvent::kCertainlyNotDone, 20'000);
  meter.attempted(WriteEvent::kScheduleUsedUp, 20'000);
  meter.attempted(WriteEvent::kMayBeDone, 20'000);
  meter.looked(WriteEvent::kEffectFound);
  meter.looked(WriteEvent::kEffectAbsentAsk);
  meter.looked(WriteEvent::kEffectAbsentResend);
  meter.looked(WriteEvent::kScheduleUsedUp);
  meter.looked(WriteEvent::kEffectUnclear);
  meter.looked(WriteEvent::kLooksUsedUp);
  const auto text = counted.text();
  for (const char* outcome : {"completed", "failed", "retry", "dead_lettered", "unknown"}) {
    CHECK_THAT(text, Contains(std::string("kruxos_write_executions_total{operation=\"notes.add\",outcome=\"") +
                              outcome + "\",service=\"notes\"} 1\n"));
  }
  for (const char* outcome : {"found", "absent", "resend", "disproved", "cannot_tell", "gave_up"}) {
    CHECK_THAT(text, Contains(std::string("kruxos_write_looks_total{operation=\"notes.add\",outcome=\"") + outcome +
                              "\",service=\"notes\"} 1\n"));
  }
}

TEST_CASE("requests to a service are counted by the class of their status") {
  Counted counted;
  RequestMeter meter(counted.meters.registry, "notes", "me@example.com");
  RequestRecord record{"GET", "secret/path", 200, 1500, 500};
  meter.sent(record);
  record.status = 429;
  meter.sent(record);
  record.status = 0;
  record.outcome = KRUX_RATE_LIMITED;
  meter.sent(record);
  record.outcome = KRUX_NETWORK;
  meter.sent(record);
  RequestMeter(counted.meters.registry, "notes", "").sent(record);
  const auto text = counted.text();
  for (const char* status : {"2xx", "4xx", "held_back", "none"}) {
    CHECK_THAT(text, Contains("kruxos_service_requests_total{account=\"id-8c2a47d3bdb8\",service=\"notes\",status=\"" +
                              std::string(status) + "\"} 1\n"));
  }
  CHECK_THAT(text, Contains(R"({account="connecting",service="notes",status="none"} 1)") &&
                       Contains(R"(kruxos_quota_wait_seconds_total{account="id-8c2a47d3bdb8",service="notes"} 2)") &&
                       Contains(R"(kruxos_service_request_seconds_bucket{service="notes",le="1"} 2)") &&
                       Contains(R"(kruxos_service_request_seconds_bucket{service="notes",le="0.5"} 0)"));
  CHECK_THAT(text, !Contains("secret") && !Contains("example.com"));
}

TEST_CASE("what happens at sign-in is counted, and what has not happened yet stands there") {
  Counted counted;
  auto& sign_in = counted.meters.sign_in;
  sign_in.count(SignInMeters::Request::kBegun);
  sign_in.count(SignInMeters::Request::kRejected);
  sign_in.count(SignInMeters::Tokens::kReplayed);
  sign_in.count(SignInMeters::Tokens::kReplayed);
  CHECK_THAT(counted.text(), Contains(R"(kruxos_sign_in_requests_total{outcome="begun"} 1)") &&
                                 Contains(R"(kruxos_sign_in_requests_total{outcome="accepted"} 0)") &&
                                 Contains(R"(kruxos_sign_in_requests_total{outcome="rejected"} 1)") &&
                                 Contains(R"(kruxos_sign_in_tokens_total{outcome="issued"} 0)") &&
                                 Contains(R"(kruxos_sign_in_tokens_total{outcome="refreshed"} 0)") &&
                                 Contains(R"(kruxos_sign_in_tokens_total{outcome="revoked"} 0)") &&
                                 Contains(R"(kruxos_sign_in_tokens_total{outcome="replayed"} 2)"));
}

TEST_CASE("requests of agents are counted by method") {
  Counted counted;
  auto& agents = counted.meters.agents;
  agents.requested("session.create", 0);
  agents.requested("capabilities.invoke", -32000);
  agents.requested("capabilities.list", -32602);
  agents.requested("rm -rf", -32601);
  agents.requested("capabilities.list", -32603);
  agents.refused(AgentMeters::Refusal::kLockedOut);
  CHECK_THAT(counted.text(),
             Contains(R"(kruxos_agent_requests_total{method="session.create",outcome="ok"} 1)") &&
                 Contains(R"(kruxos_agent_requests_total{method="capabilities.invoke",outcome="rate_limited"} 1)") &&
                 Contains(R"(kruxos_agent_requests_total{method="capabilities.list",outcome="invalid_params"} 1)") &&
                 Contains(R"(kruxos_agent_requests_total{method="capabilities.list",outcome="error"} 1)") &&
                 Contains(R"(kruxos_agent_requests_total{method="unknown",outcome="unknown_method"} 1)") &&
                 Contains(R"(kruxos_agent_auth_failures_total{reason="wrong_key"} 0)") &&
                 Contains(R"(kruxos_agent_auth_failures_total{reason="locked_out"} 1)") && !Contains("rm -rf"));
}

}  // namespace KRUXOS_TEST_FILE
