// Adapters that break the rules below kruxos/adapter.hpp.
#include <catch2/catch.hpp>

#include "host/plugins/testdata/fakes.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using test::Bridge;
using test::failed;
using test::good;

TEST_CASE("Odd statuses and failures cost their call only") {
  const Bridge bridge;
  const auto adapter = bridge.make("stray");
  const auto failure = [&](const char* capability) {
    return failed(adapter->ask<"read">(bridge.call(), bridge.reader, capability, "{}"));
  };
  CHECK_THAT(failure("stray.status").message, Catch::Contains("4711"));
  CHECK(failure("stray.negative").status == KRUX_INTERNAL);
  CHECK(failure("stray.silent").status == KRUX_REFUSED);
  CHECK_THAT(failure("stray.null_bytes").message, Catch::Contains("larger than"));
  CHECK(failure("stray.null_failure").status == KRUX_REFUSED);
  const auto first = failure("stray.long_failure");
  CHECK(first.status == KRUX_REFUSED);
  CHECK(first.message.size() <= 4096);
  CHECK_FALSE(first.type);
  CHECK_FALSE(first.effect_none);
  CHECK_FALSE(first.retry_after_ms);
}

TEST_CASE("A table that ends before an appended field is not read behind its end") {
  const Bridge bridge;
  const auto adapter = bridge.make("stray");
  CHECK(good(adapter->ask<"resolve">(bridge.call(), bridge.reader, "stray.send", "{\"p\":1}")) == "{\"p\":1}");
}

TEST_CASE("Roles that an adapter lacks are refused with certainly no effect") {
  const Bridge bridge;
  const auto adapter = bridge.make("stray");
  const auto roles = adapter->roles();
  CHECK((roles.read && !roles.sync && !roles.write && !roles.rollback && !roles.account));
  const auto refused = failed(adapter->ask<"execute_write">(bridge.call("w_1"), AdapterWrite{}));
  CHECK((refused.status == KRUX_UNSUPPORTED && refused.effect_none));
  CHECK(failed(adapter->ask<"full_sync">(bridge.call(), bridge.session)).status == KRUX_UNSUPPORTED);
  CHECK(failed(adapter->ask<"find_effect">(bridge.call(), AdapterWrite{})).status == KRUX_UNSUPPORTED);
  CHECK(failed(adapter->ask<"rollback">(bridge.call(), RollbackRequest{})).status == KRUX_UNSUPPORTED);
  CHECK(failed(adapter->ask<"verify">(bridge.call())).status == KRUX_UNSUPPORTED);
  CHECK_FALSE(good(adapter->ask<"supports_rollback">(bridge.call(), "stray.send")));
}

TEST_CASE("Truncated tables and missing functions are refused when the adapter is made") {
  const Bridge bridge;
  CHECK_THROWS_WITH(bridge.make("truncated"),
                    Catch::Contains("krux.write-executor/1 is truncated: it has 16 bytes, 24 are needed"));
  CHECK_THROWS_WITH(bridge.make("nullwrite"), Catch::Contains("krux.write-executor/1 lacks execute_write: it is NULL"));
}

TEST_CASE("Null pointers, short records and circles are refused by the lent tables") {
  const Bridge bridge;
  const auto adapter = bridge.make("stray");
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.reader, "stray.reader", "{}")) == R"({"all":[5,5,5,5,5]})");
}

TEST_CASE("Requests that make no sense are not sent, and a call that was kept too long does no harm") {
  const Bridge bridge;
  const auto adapter = bridge.make("stray");
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.reader, "stray.keep_call", "{}")) == "{}");
  // The first request names the kept call. Its table may by now be another call's, of the same adapter.
  CHECK_THAT(good(adapter->ask<"read">(bridge.call(), bridge.reader, "stray.http", "{}")),
             Catch::Contains(",5,5,5,1,1]}"));
  CHECK(bridge.http->requests().size() <= 1);
}

}  // namespace KRUXOS_TEST_FILE
