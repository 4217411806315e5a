// kruxos/testing.hpp: what it lends, what it refuses, and how it judges.
#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>
#include <sstream>

namespace KRUXOS_TEST_FILE {

using namespace kruxos;
using namespace kruxos::testing;
using Catch::Contains;

namespace {

/// Does what the test says; all roles but that of the account.
struct Puppet final : SyncAdapter, ReadAdapter, WriteExecutor, RollbackCapable {
  Puppet(Host the_host, const Account& the_account) : host(the_host), account(the_account) {}
  static Description describe() { return {{{"things", 1, Order::kTime, true, {{"kind"}}}}, {}}; }

  Host host;
  Account account;
  std::function<SyncStep(const Call&, SyncStore&, bool full)> on_sync;
  std::function<std::string(const Call&, const Reader&)> on_read;
  std::function<std::string(const Call&, const BufferedWrite&)> on_write;
  std::function<EffectFound(const Call&)> on_look;

  SyncStep full_sync(const Call& call, SyncStore& store) override { return on_sync(call, store, true); }
  SyncStep incremental_sync(const Call& call, SyncStore& store, std::int64_t) override {
    return on_sync(call, store, false);
  }
  std::string read(const Call& call, const Reader& reader, std::string_view, std::string_view) override {
    return on_read(call, reader);
  }
  std::string execute_write(const Call& call, const BufferedWrite& write) override { return on_write(call, write); }
  EffectFound find_effect(const Call& call, const BufferedWrite&) override { return on_look(call); }
  bool supports_rollback(std::string_view operation) override { return operation == "things.make"; }
  std::string create_rollback_point(const Call&, const BufferedWrite&) override { return R"({"was":1})"; }
  std::string rollback(const Call& call, const RollbackRequest& request) override {
    return on_write(call, {request.rollback_id, request.operation, request.params_json, "", request.point_json});
  }
  EffectFound find_rollback(const Call& call, const RollbackRequest&) override { return on_look(call); }
};

using Bench = Workbench<Puppet>;

HttpRequest request(std::string method, std::string url, std::string body = {}) {
  HttpRequest out;
  out.method = std::move(method);
  out.url = std::move(url);
  out.body = std::move(body);
  return out;
}

/// What one send comes to.
HttpResult send(FakeHost& host, const FakeCall& call, const HttpRequest& what) {
  return host.host().http().send(call.call(), what);
}

std::string only(Misuses& misuses) {
  const auto all = misuses.take();
  REQUIRE(all.size() == 1);
  return all[0];
}

Record thing(const std::string& id, const std::string& json = "{}") {
  Record record;
  record.collection = "things";
  record.id = id;
  record.json = json;
  return record;
}

}  // namespace

TEST_CASE("A script answers in its order and takes nothing else") {
  FakeHost host;
  const FakeCall call(host.clock);
  host.expect("GET", "a").answers(200, R"({"x":1})");
  host.expect("POST", "b").with_body_part("one").with_body_part("two").answers(FakeAnswer::rate_limited(7));
  const auto first = send(host, call, request("GET", "a"));
  CHECK(first.response.body == R"({"x":1})");
  CHECK(*first.response.header("content-type") == "application/json");
  const auto second = send(host, call, request("POST", "b", "one and two"));
  CHECK(second.response.status == 429);
  CHECK(*second.response.header("retry-after") == "7");
  CHECK(host.check().empty());
  CHECK(send(host, call, request("GET", "c")).error == ErrorKind::kNetwork);
  CHECK_THAT(only(host.misuses), Contains("has ended") && Contains("GET c"));
  host.expect("POST", "b").with_body("x");
  CHECK_FALSE(send(host, call, request("POST", "b", "y")).ok());
  CHECK_THAT(only(host.misuses), Contains("POST b") && Contains("is y"));
  CHECK_THAT(host.check(), Contains("waits for POST b"));
  CHECK(host.requests.size() == 4);
}

TEST_CASE("What nobody has looked at fails the test at the host's end") {
  const auto forgotten = [] {
    FakeHost host;
    host.expect("GET", "a");
  };
  CHECK_THROWS_AS(forgotten(), Misuse);
  const auto taken = [] {
    FakeHost host;
    host.expect("GET", "a");
    CHECK(host.check() == "The script waits for GET a, which was never sent.");
  };
  CHECK_NOTHROW(taken());
  const auto other_reason = [] {
    FakeHost host;
    host.expect("GET", "a");
    throw std::runtime_error("the test's own");
  };
  CHECK_THROWS_WITH(other_reason(), "the test's own");
}

TEST_CASE("Faults are what they say") {
  FakeHost host;
  const auto comes = [&](const FakeAnswer& answer) {
    FakeCall call(host.clock);
    host.expect("POST", "a").answers(answer);
    auto result = send(host, call, request("POST", "a"));
    return std::tuple(result.error, result.response.body, call.wire());
  };
  using Came = std::tuple<std::optional<ErrorKind>, std::string, Wire>;
  CHECK((comes(FakeAnswer::json(201, "{}")) == Came{std::nullopt, "{}", Wire::kAnswered}));
  CHECK((comes(FakeAnswer::json(404, "")) == Came{std::nullopt, "", Wire::kAnswered}));
  CHECK((comes(FakeAnswer::json(500, "oops")) == Came{std::nullopt, "oops", Wire::kOpen}));
  CHECK((comes(FakeAnswer::dropped()) == Came{ErrorKind::kNetwork, "", Wire::kOpen}));
  CHECK((comes(FakeAnswer::unreachable()) == Came{ErrorKind::kNetwork, "", Wire::kNothingSent}));
  CHECK((comes(FakeAnswer::failed(ErrorKind::kRateLimited)) == Came{ErrorKind::kRateLimited, "", Wire::kNothingSent}));
  CHECK((comes(FakeAnswer::failed(ErrorKind::kTimeout)) == Came{ErrorKind::kTimeout, "", Wire::kOpen}));
  CHECK((comes(FakeAnswer::truncated(FakeAnswer::json(201, "abcdef"), 4)) ==
         Came{ErrorKind::kNetwork, "abcd", Wire::kOpen}));
}

TEST_CASE("An answer that never comes takes the time that it would take") {
  FakeHost host;
  const auto start = host.clock.now_ms;
  FakeCall call(host.clock);
  call.set_deadline(start + 45'000);
  host.on_request = [](const FakeRequest&) { return FakeAnswer::never(); };
  auto impatient = request("GET", "a");
  impatient.timeout_ms = 500;
  CHECK(send(host, call, impatient).error == ErrorKind::kTimeout);
  CHECK(host.clock.now_ms == start + 500);
  CHECK_FALSE(call.call().cancelled());
  send(host, call, request("GET", "a"));
  CHECK(host.clock.now_ms == start + 30'500);
  send(host, call, request("GET", "a"));
  CHECK(host.clock.now_ms == start + 45'000);
  CHECK(call.call().cancelled());
  CHECK(send(host, call, request("GET", "a")).error == ErrorKind::kTimeout);
  CHECK(host.requests.size() == 3);
}

TEST_CASE("A misuse is refused as the host would, and told in a sentence") {
  FakeHost host;
  host.on_request = [](const FakeRequest&) { return FakeAnswer::json(200, "{}"); };
  const auto told = [&](const FakeCall& call, const HttpRequest& what) {
    CHECK(send(host, call, what).error == ErrorKind::kInvalid);
    return only(host.misuses);
  };
  const FakeCall any(host.clock), read(host.clock, CallKind::kRead), fetch(host.clock, CallKind::kFetch);
  CHECK_THAT(told(any, request("GET", "https://elsewhere.example/")),
             Contains("elsewhere.example is not among the hosts"));
  auto credential = request("GET", "a");
  credential.headers.emplace_back("Authorization", "Bearer x");
  CHECK_THAT(told(any, credential), Contains("Authorization is the host's to set"));
  CHECK_THAT(told(read, request("GET", "a")), Contains("from the replica"));
  CHECK_THAT(told(fetch, request("POST", "a")), Contains("GET, HEAD and OPTIONS alone"));
  CHECK(send(host, fetch, request("GET", "a")).ok());
  FakeCall ended(host.clock);
  ended.end();
  CHECK_THAT(told(ended, request("GET", "a")), Contains("has ended"));
  const krux_call* dangling = nullptr;
  {
    const FakeCall gone(host.clock);
    dangling = gone.abi();
  }
  CHECK(host.host().http().send(Call(dangling), request("GET", "a")).error == ErrorKind::kInvalid);
  CHECK_THAT(only(host.misuses), Contains("has ended"));
  CHECK(host.requests.size() == 1);
}

TEST_CASE("A write that is sent twice is a misuse, reads and other writes are not") {
  FakeHost host;
  host.on_request = [](const FakeRequest&) { return FakeAnswer::unreachable(); };
  const FakeCall call(host.clock, CallKind::kWrite, "w_1", 1), next(host.clock, CallKind::kWrite, "w_1", 2);
  for (const auto& what :
       {request("GET", "a"), request("GET", "a"), request("POST", "a", "1"), request("POST", "a", "2")}) {
    send(host, call, what);
  }
  send(host, next, request("POST", "a", "1"));
  CHECK(host.check().empty());
  send(host, call, request("POST", "a", "1"));
  CHECK_THAT(only(host.misuses), Contains("sent twice"));
}

TEST_CASE("Bodies are streamed, and answers are taken as far as the adapter wants") {
  FakeHost host;
  const FakeCall call(host.clock);
  host.on_request = [](const FakeRequest& seen) { return FakeAnswer::json(200, seen.body + seen.body); };
  auto streamed = request("POST", "a");
  int parts = 0;
  streamed.body_source = [&](char* out, std::size_t) { return ++parts > 2 ? 0 : (*out = 'x', 1); };
  streamed.body_length = 2;
  CHECK(send(host, call, streamed).response.body == "xxxx");
  parts = 0;
  streamed.body_length = 3;
  CHECK(send(host, call, streamed).error == ErrorKind::kInternal);
  auto small = request("POST", "a", "12345");
  small.max_response_bytes = 9;
  CHECK(send(host, call, small).error == ErrorKind::kUnavailable);
  const auto stopped =
      host.host().http().send(call.call(), request("POST", "a", "x"), [](std::string_view) { return false; });
  CHECK(stopped.error == ErrorKind::kCancelled);
  const std::vector<HttpRequest> many{request("POST", "a", "1"), request("GET", "https://elsewhere.example/")};
  const auto results = host.host().http().send_many(call.call(), many);
  CHECK(results.at(0).response.body == "11");
  CHECK(results.at(1).error == ErrorKind::kInvalid);
  CHECK(host.misuses.take().size() == 1);
}

TEST_CASE("Calls are cancelled, and only a write remembers") {
  FakeHost host;
  FakeCall call(host.clock, CallKind::kWrite, "w_1", 3);
  CHECK(call.call().write_id() == "w_1");
  CHECK(call.call().attempt() == 3);
  call.call().remember(R"({"a":1})");
  CHECK(call.notes == std::vector<std::string>{R"({"a":1})"});
  CHECK_THROWS_AS(call.call().remember("{"), ProxyError);
  CHECK_THROWS_AS(call.call().remember("\"" + std::string(65'536, 'x') + "\""), ProxyError);
  const FakeCall look(host.clock);
  CHECK_THROWS_AS(look.call().remember("{}"), ProxyError);
  CHECK_NOTHROW(call.call().throw_if_cancelled());
  call.cancelled = true;
  CHECK_THROWS_AS(call.call().throw_if_cancelled(), ProxyError);
  CHECK(send(host, call, request("GET", "a")).error == ErrorKind::kCancelled);
  CHECK(host.requests.empty());
}

TEST_CASE("The workbench judges attempts by the worse of both words") {
  Bench bench;
  FakeAnswer answer;
  bench.host.on_request = [&](const FakeRequest&) { return answer; };
  std::function<void(const HttpResult&)> then;
  bench.adapter().on_write = [&](const Call& call, const BufferedWrite&) {
    then(bench.adapter().host.http().send(call, request("POST", "a")));
    return std::string("{}");
  };
  const auto outcome = [&](FakeAnswer came, std::function<void(const HttpResult&)> what) {
    answer = std::move(came);
    then = std::move(what);
    FakeWrite write{"things.make", "{}"};
    return bench.execute(write).outcome;
  };
  const auto done = [](const HttpResult&) {};
  const auto claims_none = [](const HttpResult&) { throw ProxyError(ErrorKind::kRefused, "no").no_effect(); };
  const auto silent = [](const HttpResult&) { throw std::runtime_error("oops"); };
  const auto later = [](const HttpResult&) { throw ProxyError(ErrorKind::kUnavailable, "later").no_effect(); };
  CHECK(outcome(FakeAnswer::json(200, ""), done) == Outcome::kDone);
  CHECK(outcome(FakeAnswer::dropped(), done) == Outcome::kUnknown);         // success without an answer
  CHECK(outcome(FakeAnswer::dropped(), claims_none) == Outcome::kUnknown);  // the wire knows better
  CHECK(outcome(FakeAnswer::json(200, ""), claims_none) == Outcome::kRefused);
  CHECK(outcome(FakeAnswer::json(200, ""), later) == Outcome::kRetried);
  CHECK(outcome(FakeAnswer::json(200, ""), silent) == Outcome::kUnknown);
  CHECK(outcome(FakeAnswer::unreachable(), silent) == Outcome::kRetried);  // nothing went out
  FakeWrite write{"things.make", "{}"};
  bench.adapter().on_write = [](const Call&, const BufferedWrite&) { return std::string("[]"); };
  const auto garbage = bench.execute(write);
  CHECK(garbage.outcome == Outcome::kUnknown);
  CHECK_THAT(garbage.why, Contains("not a JSON object"));
}

TEST_CASE("The workbench lends a write what the ledger knows of it") {
  Bench bench;
  FakeWrite write{"things.make", R"({"n":1})"};
  bench.adapter().on_write = [](const Call& call, const BufferedWrite& lent) {
    CHECK(lent.point_json == R"({"was":1})");
    CHECK(lent.note_json == (lent.attempt == 1 ? "" : R"({"draft":1})"));
    CHECK(lent.attempt == call.attempt());
    CHECK(lent.first_attempt_at_ms == 1'700'000'000'000);
    call.remember(R"({"draft":)" + std::to_string(lent.attempt) + "}");
    throw ProxyError(ErrorKind::kNetwork, "not now");
    return std::string();
  };
  CHECK(bench.execute(write).failure->message == "not now");
  bench.host.clock.advance(60'000);
  CHECK(bench.execute(write).outcome == Outcome::kRetried);
  CHECK(write.note_json == R"({"draft":2})");
  bench.adapter().on_look = [](const Call& call) {
    CHECK(call.write_id() == "w_1");
    return EffectFound::absent();
  };
  CHECK(bench.find_effect(write).answer == KRUX_EFFECT_ABSENT);
  bench.adapter().on_look = [](const Call&) -> EffectFound { throw std::runtime_error("oops"); };
  CHECK(bench.find_effect(write).answer == KRUX_CANNOT_TELL);
  CHECK(bench.find_rollback(write, "{}").answer == KRUX_CANNOT_TELL);
}

TEST_CASE("The workbench syncs as the host does") {
  Bench bench;
  int steps = 0;
  std::string passes;
  const auto sync = [&](const Call& call, SyncStore& store, bool full) {
    passes += full ? 'f' : 'i';
    if (!full && store.cursor("gone")) throw ProxyError(ErrorKind::kCursorExpired, "gone");
    store.put(thing("t" + std::to_string(++steps)));
    if (steps % 3 == 1) return SyncStep::wait(5000);
    store.commit();
    store.put(thing("lost"));
    return steps % 3 == 2 ? SyncStep::more() : SyncStep::done(call.now_ms());
  };
  bench.adapter().on_sync = sync;
  bench.sync();
  CHECK(passes == "fff");
  CHECK(bench.store.rows("things").size() == 2);  // what a step did not commit never happened
  CHECK(bench.last_sync_ms == 1'700'000'005'000);
  bench.sync();
  CHECK(passes == "fffiii");
  bench.store.cursors["gone"] = "1";
  bench.sync();
  CHECK(passes == "fffiiiifff");
  CHECK(bench.store.cursors.empty());
  bench.restart();
  CHECK_FALSE(bench.adapter().on_sync);
  bench.adapter().on_sync = [](const Call&, SyncStore&, bool) { return SyncStep::more(); };
  CHECK_THROWS_WITH(bench.sync(), Contains("has not ended"));
  bench.adapter().on_sync = [](const Call&, SyncStore& store, bool) {
    store.put(thing("bad", "[1]"));
    return SyncStep::done();
  };
  bench.sync();
  CHECK(bench.store.left_out().empty());  // what a step did not commit never happened
  bench.adapter().on_sync = [](const Call&, SyncStore& store, bool) {
    store.put(thing("bad", "[1]"));
    store.put(thing("nul", R"({"a":"\u0000 \ud800 \ud83d\ude00"})"));
    store.commit();
    return SyncStep::done();
  };
  bench.sync();
  CHECK(bench.store.left_out() == std::vector<std::string>{"things bad: its json: it is not a JSON object"});
  CHECK(bench.store.rows("things").at("nul").json == R"({"a":"\ufffd \ufffd \ud83d\ude00"})");
  bench.adapter().on_sync = [](const Call&, SyncStore& store, bool) {
    auto strange = thing("bad", "{}");
    strange.fields.emplace_back("no_such", "x");
    store.put(strange);
    return SyncStep::done();
  };
  CHECK_THROWS_AS(bench.sync(), ProxyError);
  CHECK_THAT(bench.store.refusals.back(), Contains("\"bad\"") && Contains("no_such"));
}

TEST_CASE("The workbench takes an answer as the host takes it") {
  Bench bench(R"({"page_size":3})");
  CHECK(bench.adapter().account.config_json == R"({"page_size":3})");
  bench.adapter().on_read = [](const Call&, const Reader& reader) {
    return "{\"there\":" + std::string(reader.get("things", "x") ? "true" : "false") + "}";
  };
  CHECK(bench.read("things.read", "{}") == R"({"there":false})");
  CHECK(bench.resolve("things.make", R"({"n":1})") == R"({"n":1})");
  bench.adapter().on_read = [](const Call&, const Reader&) { return std::string("{\"a\":1,\"a\":2}"); };
  CHECK_THROWS_WITH(bench.read("things.read", "{}"), Contains("stands twice"));
  bench.adapter().on_read = [&](const Call& call, const Reader&) {
    return bench.adapter().host.http().send(call, request("GET", "a")).or_throw().body;
  };
  CHECK_THROWS_AS(bench.read("things.read", "{}"), ProxyError);
  CHECK_THAT(only(bench.host.misuses), Contains("from the replica"));
  bench.host.expect("GET", "a").answers(200, "{}");
  CHECK(bench.fetch("things.read", "{}") == "{}");
}

TEST_CASE("The workbench keeps what a read that fetches has fetched") {
  Bench bench;
  bench.adapter().on_sync = [](const Call&, SyncStore& store, bool) {
    Record record;
    record.collection = "things";
    record.id = "t1";
    record.json = "{}";
    record.text = "subject";
    store.put(record);
    store.keep_text("things", "t1", "kept by the sync");
    store.commit();
    return SyncStep::done();
  };
  bench.sync();
  const auto found = [&](const std::string& text) {
    Query query;
    query.collection = "things";
    query.where = contains_text(text);
    return bench.store.reader().query(query, [](const Row&) { return true; }).total;
  };
  CHECK(found("SYNC") == 1);
  bench.adapter().on_read = [](const Call&, const Reader& reader) {
    const bool kept = reader.keep("things", "t1", "body", "bytes", "Kept by a read");
    const bool nobody = reader.keep("things", "t2", "body", "bytes", "nobody's");
    return std::string("{\"kept\":") + (kept && !nobody ? "true" : "false") + "}";
  };
  CHECK_THROWS_AS(bench.read("things.read", "{}"), ProxyError);
  CHECK_THAT(bench.store.refusals.back(), Contains("`fetches`"));
  CHECK(bench.fetch("things.read", "{}") == R"({"kept":true})");
  CHECK(found("kept by a read") == 1);
  CHECK(found("sync") == 0);
  CHECK(bench.store.reader().blob("things", "t1", "body").value_or("") == "bytes");
  bench.sync();
  CHECK(found("kept by the sync") == 1);
  CHECK(bench.store.reader().blob("things", "t1", "body").value_or("") == "bytes");
}

TEST_CASE("Uploads are read by writes, in parts") {
  FakeHost host;
  host.uploads["up_1"] = "0123456789";
  const FakeCall write(host.clock, CallKind::kWrite, "w_1", 1), other(host.clock);
  char buffer[4];
  const auto read = [&](const FakeCall& call, const std::string& id, std::uint64_t offset) {
    return std::string(buffer, host.host().uploads().read(call.call(), id, offset, buffer, sizeof buffer));
  };
  CHECK(read(write, "up_1", 0) == "0123");
  CHECK(read(write, "up_1", 8) == "89");
  CHECK(read(write, "up_1", 100).empty());
  CHECK_THROWS_AS(read(write, "up_2", 0), ProxyError);
  CHECK_THROWS_AS(read(other, "up_1", 0), ProxyError);
  CHECK(host.misuses.take().size() == 2);

  // Also while a request is sent, as its body.
  host.on_request = [](const FakeRequest& seen) { return FakeAnswer::json(200, seen.body); };
  auto streamed = request("POST", "a");
  std::uint64_t at = 0;
  streamed.body_source = [&](char* out, std::size_t capacity) {
    const auto got = host.host().uploads().read(write.call(), "up_1", at, out, capacity);
    at += got;
    return static_cast<std::int64_t>(got);
  };
  streamed.body_length = 10;
  CHECK(send(host, write, streamed).response.body == "0123456789");
}

TEST_CASE("Cases without a framework: what fails is printed and counted") {
  std::ostringstream out;
  auto* const old = std::cerr.rdbuf(out.rdbuf());
  const int good = kruxos::testing::run({{"good", [] { KRUXOS_REQUIRE(1 + 1 == 2); }}});
  const int bad = kruxos::testing::run({{"false", [] { KRUXOS_REQUIRE(1 == 2); }},
                                        {"throws", [] { throw 5; }},
                                        {"misuses",
                                         [] {
                                           FakeHost host;
                                           host.expect("GET", "a");
                                         }},
                                        {"good", [] {}}});
  std::cerr.rdbuf(old);
  CHECK(good == 0);
  CHECK(bad == 1);
  CHECK_THAT(out.str(), Contains("1 passed, 0 failed") && Contains("FAILED false") && Contains("testing_test.cpp:") &&
                            Contains("1 == 2 does not hold") && Contains("FAILED throws") &&
                            Contains("waits for GET a") && Contains("1 passed, 3 failed"));
}

}  // namespace KRUXOS_TEST_FILE
