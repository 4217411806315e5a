#include "host/plugins/metered_adapter.hpp"

#include <catch2/catch.hpp>

#include "core/adapter/adapter_meters.hpp"
#include "core/replica/replica.hpp"
#include "core/write/write_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;

namespace {

struct Rig {
  DrivenClock clock;
  std::int64_t us = 0;
  MetricRegistry registry{[this] { return us; }};
  AdapterMeters meters{registry};
  std::shared_ptr<write_test::ScriptedAdapter> adapter = std::make_shared<write_test::ScriptedAdapter>();
  std::shared_ptr<ServiceAdapter> counted = metered(adapter, "notes", &meters);

  CallContextPtr call() {
    return std::make_shared<CallContext>(CallOwner{"notes", "N1", 1, "w_1", 1}, clock, clock.boot_ms() + 1000);
  }
  std::string line(const std::string& function, const std::string& outcome) {
    return "kruxos_adapter_calls_total{function=\"" + function + "\",outcome=\"" + outcome +
           "\",service=\"notes\"} 1\n";
  }
  std::string text() const { return registry.text({}); }
};

}  // namespace

TEST_CASE("a call into an adapter is counted with its time, and its answer handed on") {
  Rig rig;
  rig.adapter->on_execute = [&](auto&, auto& write) {
    rig.us += 40'000;
    return "{\"id\":\"" + write.write_id + "\"}";
  };
  AdapterWrite write;
  write.write_id = "w_7";
  const auto answer = rig.counted->ask<"execute_write">(rig.call(), write);
  CHECK(std::get<std::string>(answer) == "{\"id\":\"w_7\"}");
  CHECK(rig.counted->roles().write);
  CHECK(std::get<bool>(rig.counted->ask<"supports_rollback">(rig.call(), "notes.add")));
  CHECK_THAT(rig.text(),
             Contains(rig.line("execute_write", "ok")) &&
                 Contains(R"(kruxos_adapter_call_seconds_sum{function="execute_write",service="notes"} 0.04)"));
}

TEST_CASE("a failure is counted by its kind, a deadline and a crash as such") {
  Rig rig;
  krux_status said = KRUX_RATE_LIMITED;
  bool crash = false, late = false;
  rig.adapter->on_execute = [&](auto& call, auto&) {
    if (crash) call->note_cut_off();
    if (late) rig.clock.advance(1000);
    return CallFailure{said, true, {}, "m3ssage", {}};
  };
  const auto run = [&] { rig.counted->ask<"execute_write">(rig.call(), AdapterWrite{}); };
  run();
  said = 4711;
  run();
  said = KRUX_UNAVAILABLE;
  crash = true;
  run();
  late = true;
  run();
  CHECK_THAT(rig.text(), Contains(rig.line("execute_write", "rate_limited")) &&
                             Contains(rig.line("execute_write", "internal")) &&
                             Contains(rig.line("execute_write", "crash")) &&
                             Contains(rig.line("execute_write", "deadline")) && !Contains("m3ssage"));
}

TEST_CASE("every function of an adapter is counted under its name") {
  Rig rig;
  const auto call = rig.call();
  const support::Scratch scratch;
  Replica store(scratch.path() / "replica.db", {{"note", 1, CollectionSpec::Order::kTime, true, {}}}, rig.clock);
  rig.counted->ask<"full_sync">(call, store.begin_session());
  rig.counted->ask<"incremental_sync">(call, store.begin_session(), 0);
  rig.counted->ask<"read">(call, nullptr, "", "");
  rig.counted->ask<"resolve">(call, nullptr, "", "");
  rig.counted->ask<"verify">(call);
  rig.counted->ask<"revoke">(call);
  rig.counted->ask<"find_effect">(call, AdapterWrite{});
  rig.counted->ask<"create_rollback_point">(call, AdapterWrite{});
  rig.counted->ask<"rollback">(call, RollbackRequest{});
  rig.counted->ask<"find_rollback">(call, RollbackRequest{});
  for (const char* function : {"full_sync", "incremental_sync", "read", "resolve", "verify", "revoke"})
    CHECK_THAT(rig.text(), Contains(rig.line(function, "unsupported")));
  for (const char* function : {"find_effect", "create_rollback_point", "rollback", "find_rollback"})
    CHECK_THAT(rig.text(), Contains(rig.line(function, "ok")));
}

TEST_CASE("without metrics an adapter stays what it is") {
  Rig rig;
  CHECK(metered(rig.adapter, "notes", nullptr) == rig.adapter);
}

}  // namespace KRUXOS_TEST_FILE
