#include "host/plugins/abi_bridge/edge.hpp"

#include <catch2/catch.hpp>

#include "core/util/clock.hpp"
#include "host/plugins/abi_bridge/lent_call.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

CallContextPtr make_call(const Clock& clock, CallContext::Remember remember = {}) {
  return std::make_shared<CallContext>(CallOwner{"mock", "T1", 1, "w_1", 2}, clock, clock.boot_ms() + 500,
                                       std::move(remember));
}

krux_failure failure(krux_status status, std::int32_t effect, std::string_view type, std::string_view message) {
  return {sizeof(krux_failure), status, effect, 0, to_abi(type), to_abi(message), -1};
}

}  // namespace

TEST_CASE("Bytes and texts of an adapter are checked") {
  CHECK(bytes_of({nullptr, 0}, "It", 5).empty());
  CHECK(bytes_of(to_abi("a\xff"), "It", 5) == "a\xff");
  CHECK_THROWS_WITH(bytes_of({nullptr, 1}, "It", 5), Catch::Contains("no bytes"));
  CHECK_THROWS_WITH(bytes_of(to_abi("abcdef"), "It", 5), Catch::Contains("at most 5"));
  CHECK(text_of(to_abi("\xc3\xa4"), "It", 5) == "\xc3\xa4");
  CHECK_THROWS_WITH(text_of(to_abi("a\xff"), "It", 5), Catch::Contains("UTF-8"));
  CHECK_THROWS_WITH(text_of({"a\0b", 3}, "It", 5), Catch::Contains("NUL"));
  krux_failure record{};
  CHECK_THROWS_WITH(required(static_cast<const krux_failure*>(nullptr), "It"), Catch::Contains("missing"));
  record.size = sizeof record - 1;
  CHECK_THROWS_WITH(required(&record, "It"), Catch::Contains("truncated"));
  record.size = sizeof record + 8;
  CHECK(&required(&record, "It") == &record);
}

TEST_CASE("A sink takes no more than its limit") {
  BoundedSink sink(5);
  const auto* table = sink.table();
  CHECK(table->write(table->self, to_abi("abc")) == 0);
  CHECK(table->write(table->self, {nullptr, 0}) == 0);
  CHECK(table->write(table->self, to_abi("abc")) != 0);
  CHECK(table->write(table->self, to_abi("a")) != 0);  // it stays at "stop"
  CHECK(sink.overflowed());
  CHECK(sink.text() == "abc");
  BoundedSink other(5);
  CHECK(other.table()->write(other.table()->self, {nullptr, 3}) != 0);
  BoundedSink huge(5);
  CHECK(huge.table()->write(huge.table()->self, {"x", SIZE_MAX}) != 0);
}

TEST_CASE("A lent call shows its context") {
  DrivenClock clock;
  const auto context = make_call(clock);
  LentCall lent(context);
  const auto* table = lent.table();
  CHECK(table->size == sizeof(krux_call));
  CHECK(table->attempt == 2);
  CHECK(std::string_view(table->write_id.ptr, table->write_id.len) == "w_1");
  CHECK(table->now_ms(table->self) == clock.wall_ms());
  CHECK(table->deadline_ms == clock.wall_ms() + 500);
  CHECK(table->cancelled(table->self) == 0);
  context->cancel();
  CHECK(table->cancelled(table->self) != 0);
}

TEST_CASE("A table that is handed back leads to its call while that is lent, and no longer") {
  DrivenClock clock;
  const auto context = make_call(clock);
  const krux_call* kept = nullptr;
  {
    LentCall lent(context);
    kept = lent.table();
    CHECK(LentCall::find(kept) == context);
  }
  CHECK(LentCall::find(kept) == nullptr);
  CHECK(LentCall::find(nullptr) == nullptr);
}

TEST_CASE("The adapter's first word is kept and cleaned") {
  DrivenClock clock;
  const auto context = make_call(clock);
  LentCall lent(context);
  const auto* table = lent.table();
  auto first = failure(KRUX_REFUSED, KRUX_EFFECT_NONE, "TooLong", "no \x1b[31m\xff!");
  first.retry_after_ms = 1500;
  table->fail(table->self, &first);
  const auto second = failure(KRUX_AUTH, KRUX_EFFECT_MAYBE, "", "second");
  table->fail(table->self, &second);
  const auto said = lent.failure(KRUX_REFUSED);
  CHECK(said.status == KRUX_REFUSED);
  CHECK(said.effect_none);
  CHECK(said.type.name() == "TooLong");
  CHECK(said.message == "no \\x1b[31m\\xff!");
  CHECK(said.retry_after_ms == 1500);
  CHECK(context->failure()->message == said.message);
}

TEST_CASE("A failure without words gets the status's, and an unknown status is a defect") {
  DrivenClock clock;
  LentCall lent(make_call(clock));
  CHECK(lent.failure(KRUX_NETWORK).status == KRUX_NETWORK);
  CHECK_FALSE(lent.failure(KRUX_NETWORK).message.empty());
  CHECK_FALSE(lent.failure(KRUX_NETWORK).effect_none);
  CHECK(lent.failure(4711).status == KRUX_INTERNAL);
  CHECK(lent.failure(4711).message.find("4711") != std::string::npos);
  for (krux_status status = KRUX_AUTH; status <= KRUX_CONFLICT; ++status)
    CHECK(lent.failure(status).message.ends_with("."));
}

TEST_CASE("A claim of no effect is taken back while a request is open") {
  DrivenClock clock;
  const auto context = make_call(clock);
  LentCall lent(context);
  const auto claim = failure(KRUX_REFUSED, KRUX_EFFECT_NONE, "", "claimed");
  lent.table()->fail(lent.table()->self, &claim);
  REQUIRE(context->begin_unsafe_request());
  CHECK_FALSE(lent.failure(KRUX_REFUSED).effect_none);
  context->request_answered();
  CHECK(lent.failure(KRUX_REFUSED).effect_none);
}

TEST_CASE("After the end of the call nothing more is taken") {
  DrivenClock clock;
  std::string kept;
  const auto context = make_call(clock, [&](std::string_view note) { return kept = note, true; });
  LentCall lent(context, LentCall::Notes::kKept);
  context->end();
  const auto late = failure(KRUX_REFUSED, KRUX_EFFECT_NONE, "", "late");
  lent.table()->fail(lent.table()->self, &late);
  CHECK_FALSE(context->failure());
  CHECK(lent.table()->remember(lent.table()->self, to_abi("{}")) == KRUX_CANCELLED);
  CHECK(kept.empty());
}

TEST_CASE("Notes are checked, kept where a write is executed, and refused elsewhere") {
  DrivenClock clock;
  std::string kept;
  bool works = true;
  const auto context = make_call(clock, [&](std::string_view note) { return kept = note, works; });
  LentCall lent(context, LentCall::Notes::kKept), other(context);
  const auto remember = [](const LentCall& call, std::string_view note) {
    return call.table()->remember(call.table()->self, to_abi(note));
  };
  CHECK(remember(lent, "{\"a\":1}") == KRUX_OK);
  CHECK(kept == "{\"a\":1}");
  CHECK(remember(other, "{}") == KRUX_UNSUPPORTED);
  CHECK(remember(lent, "{") == KRUX_INVALID);
  CHECK(remember(lent, "\"" + std::string(64 * 1024, 'x') + "\"") == KRUX_INVALID);
  CHECK(kept == "{\"a\":1}");
  works = false;
  CHECK(remember(lent, "{}") == KRUX_STORAGE);
}

}  // namespace KRUXOS_TEST_FILE
