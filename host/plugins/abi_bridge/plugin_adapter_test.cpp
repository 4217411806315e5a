// The mock adapter through the bridge: what it gives, and every way in which it may misbehave. What is tagged [abi-1.0]
// also runs with the adapter as the release 1.0 of the boundary built it.
#include "host/plugins/abi_bridge/plugin_adapter.hpp"

#include <fmt/format.h>
#include <kruxos/abi/entry.h>

#include <catch2/catch.hpp>

#include "core/util/text.hpp"
#include "host/plugins/testdata/fakes.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using test::Bridge;
using test::failed;
using test::good;

namespace {

CallFailure read_failure(const Bridge& bridge, ServiceAdapter& adapter, const std::string& capability) {
  INFO(capability);
  return failed(adapter.ask<"read">(bridge.call(), bridge.reader, capability, "{}"));
}

AdapterWrite write_of(const std::string& operation) {
  return {"w_1", operation, "{\"x\":1}", "{\"n\":2}", "{}", 1, 5, 6};
}

}  // namespace

TEST_CASE("Roles, parameters, account and results pass the bridge", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto roles = adapter->roles();
  CHECK((roles.sync && roles.read && roles.write && roles.rollback && roles.account));
  const auto echo = [&](const std::string& json) {
    return good(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.echo", json));
  };
  CHECK(echo("{\"a\":\"\xc3\xa4\"}") == "{\"a\":\"\xc3\xa4\"}");
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.account", "{}")) ==
        R"({"id":"T1","scopes":["a\"b"]})");
  CHECK(good(adapter->ask<"resolve">(bridge.call(), bridge.reader, "mock.send", "{\"p\":1}")) == "{\"p\":1}");
}

TEST_CASE("Whatever an adapter throws is a failure with its words", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  auto failure = read_failure(bridge, *adapter, "mock.throw");
  CHECK(failure.status == KRUX_NOT_FOUND);
  CHECK(failure.type.name() == "ThingNotFound");
  CHECK(failure.message == "no \\x1b[31m thing");
  failure = read_failure(bridge, *adapter, "mock.throw_exception");
  CHECK(failure.status == KRUX_INTERNAL);
  for (const auto* words : {"The adapter threw", "a defect", "author", "kruxos adapter certify"})
    CHECK_THAT(failure.message, Catch::Contains(words));
  CHECK(read_failure(bridge, *adapter, "mock.throw_number").status == KRUX_INTERNAL);
  CHECK(read_failure(bridge, *adapter, "mock.throw_status").status == KRUX_INTERNAL);
  CHECK(read_failure(bridge, *adapter, "mock.no_such").status == KRUX_UNSUPPORTED);
}

TEST_CASE("A result that is not one JSON object within its limits is a defect", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  for (const auto* capability : {"mock.garbage", "mock.array", "mock.empty", "mock.deep"}) {
    const auto failure = read_failure(bridge, *adapter, capability);
    CHECK(failure.status == KRUX_INTERNAL);
    CHECK_THAT(failure.message, Catch::Contains("not one JSON object") && Catch::Contains("defect of the adapter") &&
                                    Catch::Contains("kruxos adapter certify"));
  }
  CHECK_THAT(read_failure(bridge, *adapter, "mock.huge").message, Catch::Contains("larger than 8192 KiB"));
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.echo", "{}")) == "{}");
}

TEST_CASE("NULs and what is no UTF-8 in a result become U+FFFD and are counted", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  for (const auto* capability : {"mock.nul", "mock.bad_utf8"}) {
    const auto call = bridge.call();
    CHECK(good(adapter->ask<"read">(call, bridge.reader, capability, "{}")) == "{\"a\":\"\uFFFD\"}");
    CHECK(call->replaced() == 1);
  }
  const auto call = bridge.call();
  CHECK(good(adapter->ask<"read">(call, bridge.reader, "mock.echo", R"({"a":"\u0000 \ud800 \u001b"})")) ==
        R"({"a":"\ufffd \ufffd \u001b"})");
  CHECK(call->replaced() == 2);
}

TEST_CASE("A query reaches the reader, and rows stop where the adapter says so", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  bridge.reader->rows = {{"i1", "{}"}, {"i2", "{}"}, {"i3", "{}"}};
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.query", "{}")) == R"({"ids":"i1i2","total":3})");
  const auto& where = bridge.reader->last.where;
  CHECK(bridge.reader->last.descending);
  CHECK(where.kind == Condition::Kind::kAllOf);
  REQUIRE(where.children.size() == 2);
  CHECK(where.children[0].kind == Condition::Kind::kText);
  CHECK(where.children[0].text == "hell");
  CHECK(where.children[1].children.at(0).number == 9);
}

TEST_CASE("A sync step fills the store, its cursors and its reports", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto step = good(adapter->ask<"full_sync">(bridge.call(), bridge.session));
  CHECK(step.next == SyncStep::Next::kWait);
  CHECK(step.wait_ms == 1500);
  CHECK(step.parts_done == 2);  // never more than there are
  REQUIRE(bridge.session->committed.size() == 1);
  const auto& record = bridge.session->committed[0];
  CHECK(record.id == "i1");
  CHECK(record.text == "hello");
  REQUIRE(record.fields.size() == 2);
  CHECK(std::get<std::string>(record.fields[0].second) == "ann");
  CHECK(std::get<std::int64_t>(record.fields[1].second) == 7);
  CHECK(bridge.session->reports == std::vector<std::string>{"c1 1 not a member"});
  const auto done = good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 0));
  CHECK(done.next == SyncStep::Next::kDone);
  CHECK(done.complete_through_ms == 42);
}

TEST_CASE("What was not declared is refused, and a record that cannot be taken ends no step", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto failure = [&](int which) {
    return failed(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, which));
  };
  CHECK(failure(2).status == KRUX_INVALID);
  CHECK_THAT(failure(2).message, Catch::Contains("no field colour"));
  CHECK_THAT(failure(4).message, Catch::Contains("none of done, more and wait"));
  CHECK(failure(5).status == KRUX_CURSOR_EXPIRED);
  CHECK(bridge.session->put_records.empty());
  good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 1));
  CHECK(bridge.session->left_out == std::vector<std::string>{"items i2: its json is no object"});
  good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 3));
  REQUIRE(bridge.session->put_records.size() == 1);
  CHECK(bridge.session->put_records[0].text == "bad \xff utf-8");  // which the replica makes fit
}

TEST_CASE("What is too large for the boundary is left out in a sentence", "[abi-1.1]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 8));
  REQUIRE(bridge.session->left_out.size() == 2);
  CHECK_THAT(bridge.session->left_out[0], Catch::Contains("items i2: its JSON has 2097160 bytes, at most 1048576"));
  CHECK_THAT(bridge.session->left_out[1],
             Catch::StartsWith("items " + std::string(1024, 'i') + " sha256 ") && Catch::Contains("its text has"));
}

TEST_CASE("A write is sent by the host's client and bound to its attempt", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto call = bridge.call("w_1");
  CHECK(good(adapter->ask<"execute_write">(call, write_of("mock.send"))) == R"({"status":200,"id":"w_1"})");
  CHECK(call->wire() == WireState::kAnswered);
  REQUIRE(bridge.http->requests().size() == 1);
  CHECK(bridge.http->requests()[0].body == "{\"x\":1}");

  CHECK(good(adapter->ask<"execute_write">(bridge.call("w_1"), write_of("mock.stream"))).size() > 0);
  CHECK(bridge.http->requests()[1].body == "abc");
  CHECK(bridge.http->requests()[1].body_length == 3);
}

TEST_CASE("What is not sent, lost or made up is judged by the wire", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  auto ended = bridge.call("w_1");
  ended->end();
  CHECK(failed(adapter->ask<"execute_write">(ended, write_of("mock.send"))).status == KRUX_CANCELLED);
  CHECK(bridge.http->requests().empty());

  const auto none = failed(adapter->ask<"execute_write">(bridge.call("w_1"), write_of("mock.none")));
  CHECK((none.effect_none && none.status == KRUX_REFUSED));
  const auto garbage = failed(adapter->ask<"execute_write">(bridge.call("w_1"), write_of("mock.garbage")));
  CHECK((!garbage.effect_none && garbage.status == KRUX_INTERNAL));
  CHECK(failed(adapter->ask<"execute_write">(bridge.call("w_1"), write_of("mock.claim_none"))).effect_none);
  bridge.http->lose_answers = true;
  CHECK_FALSE(failed(adapter->ask<"execute_write">(bridge.call("w_1"), write_of("mock.claim_none"))).effect_none);
  const auto lost = failed(adapter->ask<"execute_write">(bridge.call("w_1"), write_of("mock.send")));
  CHECK(lost.status == KRUX_NETWORK);
  CHECK(lost.message == "The connection was reset.");
}

TEST_CASE("An adapter cannot set the host's headers", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto failure = failed(adapter->ask<"execute_write">(bridge.call("w_1"), write_of("mock.header")));
  CHECK(failure.status == KRUX_INVALID);
  CHECK_THAT(failure.message, Catch::Contains("authorization"));
  CHECK(bridge.http->requests().empty());
}

TEST_CASE("Several requests at once come back in their order", "[abi-1.0]") {
  const Bridge bridge(test::either());
  bridge.http->answer = [](const HttpRequest& request) {
    return std::pair(200, request.url.substr(request.url.size() - 1));
  };
  const auto adapter = bridge.make("mock");
  CHECK(good(adapter->ask<"execute_write">(bridge.call("w_1"), write_of("mock.many"))) ==
        R"({"all":"0 1 2 3 4 5 6 "})");
}

TEST_CASE("A note is kept by the ledger and comes back to find_effect", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  std::string kept;
  const auto call = bridge.call("w_1", [&](std::string_view note) { return kept = note, true; });
  CHECK(good(adapter->ask<"execute_write">(call, write_of("mock.note"))) == "{}");
  CHECK(kept == "{\"n\":1}");
  kept.clear();
  const auto refused = failed(adapter->ask<"create_rollback_point">(call, write_of("mock.note")));
  CHECK(refused.status == KRUX_UNSUPPORTED);
  CHECK(kept.empty());
}

TEST_CASE("The answers of find_effect, and what is none", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  using Answer = EffectFound::Answer;
  const auto find = [&](const char* operation) {
    return good(adapter->ask<"find_effect">(bridge.call(), write_of(operation)));
  };
  CHECK(find("mock.send").answer == Answer::kFound);
  CHECK(find("mock.send").result_json == "{\"n\":2}");
  CHECK(find("mock.absent").answer == Answer::kAbsent);
  CHECK(find("mock.disproved").answer == Answer::kDisproved);
  CHECK(find("mock.odd").answer == Answer::kCannotTell);
  CHECK(failed(adapter->ask<"find_effect">(bridge.call(), write_of("mock.garbage"))).status == KRUX_INTERNAL);
}

TEST_CASE("Why a look cannot tell reaches the host, bounded and as text", "[abi-1.1]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto find = [&](const char* operation) {
    return good(adapter->ask<"find_effect">(bridge.call(), write_of(operation)));
  };
  CHECK(find("mock.unclear").answer == EffectFound::Answer::kCannotTell);
  CHECK(find("mock.unclear").why == "The history is hidden.");
  CHECK(find("mock.long").why.size() <= 6000);
  CHECK(is_valid_utf8(find("mock.long").why));
  CHECK(find("mock.absent").why.empty());
}

TEST_CASE("Rollback points are limited, conflicts and results pass", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  CHECK(good(adapter->ask<"supports_rollback">(bridge.call(), "mock.note")));
  CHECK_FALSE(good(adapter->ask<"supports_rollback">(bridge.call(), "mock.send")));
  CHECK(good(adapter->ask<"create_rollback_point">(bridge.call(), write_of("mock.send"))) == "{\"before\":1}");
  CHECK_THAT(failed(adapter->ask<"create_rollback_point">(bridge.call(), write_of("mock.huge"))).message,
             Catch::Contains("64 KiB"));
  RollbackRequest request{"rb_1", "mock.send", "{}", "{\"before\":1}", "{}", false};
  CHECK(failed(adapter->ask<"rollback">(bridge.call(), request)).status == KRUX_CONFLICT);
  request.force = true;
  CHECK(good(adapter->ask<"rollback">(bridge.call(), request)) == R"({"undone":{"before":1}})");
  CHECK(good(adapter->ask<"find_rollback">(bridge.call(), request)).answer == EffectFound::Answer::kFound);
}

TEST_CASE("A cleanup is given the write, and its word comes back", "[abi-1.1]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  CHECK(adapter->roles().cleanup);
  auto write = write_of("mock.send");
  write.note_json = R"({"n":1})";
  CHECK(good(adapter->ask<"clean_up">(bridge.call("w_1"), write)));
  write.note_json.clear();
  const auto failure = failed(adapter->ask<"clean_up">(bridge.call("w_1"), write));
  CHECK(failure.status == KRUX_CONFLICT);
  CHECK(failure.effect_none);
  const auto other = bridge.make("notes");  // an adapter that has no such role
  CHECK_FALSE(other->roles().cleanup);
  CHECK(failed(other->ask<"clean_up">(bridge.call("w_1"), write)).status == KRUX_REFUSED);
}

TEST_CASE("An identity is read and cleaned, a log line is escaped", "[abi-1.0]") {
  Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto identity = good(adapter->ask<"verify">(bridge.call()));
  CHECK(identity.account_id == "T1");
  CHECK(identity.display_name == "Team \\x1b[1m");
  CHECK((identity.scopes_known && identity.scopes == std::vector<std::string>{"a", "b"}));
  CHECK(good(adapter->ask<"revoke">(bridge.call())));
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.log", "{}")) == "{}");
  CHECK(bridge.log == std::vector<std::string>{"3 mock line\\n\\x1b[2J"});
}

TEST_CASE("An adapter that refuses its account, or a configuration that does not fit, makes none", "[abi-1.0]") {
  const Bridge bridge(test::either());
  auto setup = bridge.setup("mock");
  setup.config_json = R"({"create":"throw"})";
  try {
    bridge.factory.make(setup);
    FAIL("it was made");
  } catch (const Error& e) {
    CHECK(e.type() == ErrorCode::kNotAuthenticated);
    CHECK_THAT(e.what(), Catch::Contains("The token is no good."));
  }
  setup.config_json = R"({"create":"other"})";
  CHECK_THROWS_WITH(bridge.factory.make(setup), Catch::Contains("adapter.create: \"other\" does not fit"));
  CHECK_THAT(bridge.factory.config_problem("mock", "[]"), Catch::Contains("not a JSON object"));
  setup.service = "nothing";
  CHECK_THROWS_WITH(bridge.factory.make(setup), Catch::Contains("No adapter for nothing"));
}

TEST_CASE("What a sync keeps, erases and sweeps, and what a read finds of it", "[abi-1.0]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  good(adapter->ask<"full_sync">(bridge.call(), bridge.session));
  CHECK(good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 6)).next == SyncStep::Next::kMore);
  CHECK(bridge.session->fake_reader->blobs["i1 raw"] == "blob");
  CHECK(bridge.session->sweeps == std::vector<std::string>{"items s 7 1 9"});
  CHECK(bridge.session->erased == std::vector<std::string>{"i2"});
  CHECK_FALSE(bridge.session->cursor("page"));
  CHECK(bridge.session->reports == std::vector<std::string>{"c1 1 not a member", "c1 0 "});
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.session->fake_reader, "mock.kept", "{}")) ==
        R"({"record":{"id":"i1"},"blob":"blob","other":false,"timely":true})");
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.kept", "{}")) ==
        R"({"record":null,"blob":"none","other":false,"timely":true})");
}

TEST_CASE("An answer comes in parts with its headers, and the attempt is told", "[abi-1.0]") {
  const Bridge bridge(test::either());
  bridge.http->answer = [](const HttpRequest& request) {
    return std::pair(200, request.url == "parts" ? std::string(300'000, 'p') : std::string("ok"));
  };
  CHECK(good(bridge.make("mock")->ask<"execute_write">(bridge.call("w_1"), write_of("mock.parts"))) ==
        R"({"bytes":300000,"type":"text/plain","attempt":1,"write":"w_1","of":1,"made":5,"first":6})");
  CHECK(bridge.http->requests().at(1).headers.size() == 1);
}

TEST_CASE("What a read has fetched is kept where the host lent it for that, and a sync keeps texts", "[abi-1.1]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto fetch = [&] { return adapter->ask<"read">(bridge.call(), bridge.reader, "mock.fetch", "{}"); };
  auto failure = failed(fetch());
  CHECK(failure.status == KRUX_UNSUPPORTED);
  CHECK_THAT(failure.message, Catch::Contains("`fetches`"));
  bridge.reader->lent_for_fetching = true;
  CHECK(good(fetch()) == R"({"there":false})");
  bridge.reader->rows = {{"i1", "{}"}};
  CHECK(good(fetch()) == R"({"there":true})");
  CHECK(bridge.reader->blobs["i1 body"] == std::string(40, 'b'));
  CHECK(bridge.reader->texts["i1"] == "kept by a read");

  good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 7));
  CHECK(bridge.session->fake_reader->texts["i1"] == "kept by a sync");
}

TEST_CASE("A write reads the uploads that it carries, in parts, and no other call does", "[abi-1.1]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  auto write = write_of("mock.upload");
  write.params_json = "up_1";
  CHECK(good(adapter->ask<"execute_write">(bridge.call("w_1"), write)) == R"({"size":2500003,"last":"d"})");
  auto failure = failed(adapter->ask<"execute_write">(bridge.call(), write));
  CHECK(failure.status == KRUX_INVALID);
  write.params_json = "up_2";
  CHECK(failed(adapter->ask<"execute_write">(bridge.call("w_1"), write)).status == KRUX_INVALID);
  auto setup = bridge.setup("mock");
  setup.uploads = nullptr;
  const auto without = bridge.factory.make(setup);
  failure = failed(without->ask<"execute_write">(bridge.call("w_1"), write));
  CHECK(failure.status == KRUX_UNSUPPORTED);
}

TEST_CASE("An account's address and settings reach the adapter", "[abi-1.2]") {
  const Bridge bridge(test::either());
  auto setup = bridge.setup("mock");
  setup.base_url = "https://one.notes.example/";
  setup.settings = {{"user", "amy \"a\""}, {"region", "eu"}};
  const auto adapter = bridge.factory.make(setup);
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.own", "{}")) ==
        R"({"base_url":"https://one.notes.example/","settings":{"region":"eu","user":"amy \"a\""}})");
}

TEST_CASE("A request that only reads says so to the host's client", "[abi-1.2]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  CHECK(good(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.search", "{}")) == R"({"status":200})");
  CHECK(bridge.http->requests().at(0).only_reads);
  good(adapter->ask<"execute_write">(bridge.call("w_1"), write_of("mock.create")));
  CHECK_FALSE(bridge.http->requests().at(1).only_reads);
}

TEST_CASE("A sync is told what the replica does not take, and erases a blob", "[abi-1.2]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  bridge.session->fake_reader->blobs["i1 raw"] = "blob";
  good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 9));
  CHECK(bridge.session->reports ==
        std::vector<std::string>{
            "puts 5 taken;its json is no object;its JSON has 2097160 bytes, at most 1048576 are possible"});
  CHECK(bridge.session->left_out.size() == 2);
  CHECK(bridge.session->put_records.size() == 1);
  good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 10));
  CHECK(bridge.session->fake_reader->blobs.empty());
}

TEST_CASE("Tags and named texts reach the replica, and are asked for", "[abi-1.2]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 11));
  REQUIRE(bridge.session->put_records.size() == 1);
  const auto& record = bridge.session->put_records[0];
  CHECK(record.tags == std::vector<std::string>{"red", "2"});
  CHECK(record.texts == std::vector<std::pair<std::string, std::string>>{{"subject", "Hello"}, {"subject", "again"}});
  good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 12));
  good(adapter->ask<"incremental_sync">(bridge.call(), bridge.session, 13));
  CHECK(bridge.session->left_out ==
        std::vector<std::string>{"items i2: one of its tags has 257 bytes, at most 256 are possible",
                                 "items i2: its text and its named texts together are longer than 1 MiB"});
  good(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.find_tagged", "{}"));
  const auto& where = bridge.reader->last.where;
  REQUIRE(where.children.size() == 2);
  CHECK(where.children[0].kind == Condition::Kind::kTag);
  CHECK(where.children[0].text == "red");
  CHECK(where.children[1].kind == Condition::Kind::kNamedText);
  CHECK(where.children[1].field == "subject");
  CHECK(where.children[1].text == "hell");
}

TEST_CASE("A fetching read puts what the replica lacks", "[abi-1.2]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto put = [&](const char* id) { return adapter->ask<"read">(bridge.call(), bridge.reader, "mock.put", id); };
  CHECK(failed(put("n1")).status == KRUX_UNSUPPORTED);
  bridge.reader->lent_for_fetching = true;
  bridge.reader->rows = {{"i1", "{}"}};
  CHECK(good(put("n1")) == R"({"taken":true,"why":""})");
  CHECK(good(put("i1")) == R"({"taken":true,"why":""})");
  CHECK(bridge.reader->rows ==
        std::vector<std::pair<std::string, std::string>>{{"i1", "{}"}, {"n1", R"({"fetched":true})"}});
  CHECK(good(put("large")) == R"({"taken":false,"why":"its JSON has 2097160 bytes, at most 1048576 are possible"})");
  CHECK(failed(put("undeclared")).status == KRUX_INVALID);
}

TEST_CASE("A read speaks to whoever waits, ends with questions, and gets the answers", "[abi-1.3]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  std::vector<std::string> heard;
  const auto dialogue = std::make_shared<ReadDialogue>();
  dialogue->can_ask = KRUX_ASK_FORM;
  dialogue->progress = [&](const ReadProgress& progress) {
    heard.push_back(fmt::format("{}/{} {}", progress.done, progress.total, progress.message));
  };
  dialogue->tell = [&](std::int32_t level, std::string_view message) {
    heard.push_back(fmt::format("{} {}", level, message));
  };
  const auto read = [&](const CallContextPtr& call) {
    return good(adapter->ask<"read">(call, bridge.reader, "mock.ask", "{}"));
  };
  const auto first = bridge.call();
  first->converse(dialogue);
  read(first);
  CHECK(heard == std::vector<std::string>{"1/4 a\\x1b[2J quarter", fmt::format("{} careful", KRUX_LOG_WARN)});
  const auto asked = first->asked();
  REQUIRE(asked);
  CHECK(asked->state == "page 2");
  CHECK(asked->questions_json ==
        R"({"where":{"kind":"roots"},"who":{"kind":"form","message":"Say \"who\":","schema":{"type":"object",)"
        R"("properties":{"name":{"type":"string"}}}}})");

  const auto answered = std::make_shared<ReadDialogue>();
  answered->answers_json = R"({"who":{"action":"decline"}})";
  answered->state = asked->state;
  const auto second = bridge.call();
  second->converse(answered);
  CHECK(read(second) == R"({"answers":{"who":{"action":"decline"}},"state":"page 2"})");
  CHECK_FALSE(second->asked());

  // Where nobody waits whom a read could speak to.
  const auto alone = failed(adapter->ask<"read">(bridge.call(), bridge.reader, "mock.ask", "{}"));
  CHECK(alone.status == KRUX_UNSUPPORTED);
}

TEST_CASE("An adapter is told which agent a call is for", "[abi-1.4]") {
  const Bridge bridge(test::either());
  const auto adapter = bridge.make("mock");
  const auto whose = [&](const std::string& agent) {
    CallOwner owner{"mock", "T1", 1, "", 0};
    owner.agent = agent;
    const auto call = std::make_shared<CallContext>(owner, bridge.clock, bridge.clock.boot_ms() + 60'000);
    return good(adapter->ask<"read">(call, bridge.reader, "mock.whose", "{}"));
  };
  CHECK(whose("agent_1") == R"({"agent":"agent_1"})");
  CHECK(whose("") == R"({"agent":""})");
}

}  // namespace KRUXOS_TEST_FILE
