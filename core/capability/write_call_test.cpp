#include "core/capability/write_call.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "core/capability/handler_test_support.hpp"
#include "core/util/text.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

TEST_CASE("a write is resolved, buffered and described") {
  Host host;
  host.connect();
  host.adapter->on_resolve = [](auto&, auto operation, auto) {
    CHECK(operation == "notes.add");
    return Text(std::string(R"({"title" : "id-7"})"));
  };
  const auto answer = host.call("notes.add", R"({"title":"Plan"})");
  REQUIRE(type_of(answer) == "none");
  CHECK(text_of(answer, "status") == "buffered");
  CHECK(text_of(answer, "buffer_id") == text_of(answer, "write_id"));
  CHECK(text_of(answer, "cancel_deadline") == format_time(host.clock.wall_ms() + 30'000));
  const auto write = host.writes.ledger.get(text_of(answer, "write_id"));
  REQUIRE(write);
  CHECK(write->params_json == R"({"title":"id-7"})");
  CHECK(write->summary == "Plan");
  CHECK(write->tier == "notify");
  CHECK(write->definition_version == "1.0.0");
  CHECK(write->settle_ms == 60'000);
  CHECK(write->delay_ms == 30'000);
  CHECK(write->account == AccountRef{"notes", "N1", 1});
}

TEST_CASE("a summary calls records by their words, and leaves what the agent said in words as he said it") {
  std::string text = kDefinition;
  text.replace(text.find("summary: \"{title}\""), 18,
               "summary: \"{title} on {page} in {room}\", summary_records: ["
               "{name: page, collection: note, id: \"{room}/{title}\", words: \"'{head}'\"}, "
               "{name: room, collection: note, id: \"{room}\", words: \"#{name}\"}]");
  Host host({}, {}, text);
  host.connect();
  const auto put = [&](const std::string& id, const std::string& json) {
    Record record;
    record.collection = "note";
    record.id = id;
    record.json = json;
    const auto session = host.replica->begin_session();
    session->put(record);
    session->commit();
  };
  put("R7", R"({"name":"general"})");
  put("R7/a", R"({"head":"Plans"})");
  host.adapter->on_resolve = [](auto&, auto, std::string_view params) {
    auto document = parse_json(params, "params");
    if (document["room"] != JsonValue("R9")) document["room"].SetString("R7");
    return Text(to_json(document));
  };
  const auto summary = [&](const std::string& title, const std::string& room) {
    const auto answer = host.call("notes.add", R"({"title":")" + title + R"(","room":")" + room + "\"}");
    REQUIRE(type_of(answer) == "none");
    return host.writes.ledger.get(text_of(answer, "write_id"))->summary;
  };
  CHECK(summary("a", "R7") == "a on 'Plans' (R7/a) in #general (R7)");
  CHECK(summary("b", "general") == "b on R7/b in general");
  CHECK(summary("a", "R9") == "a on R9/a in R9");  // neither is in the replica
  // An edit names what it has become.
  const auto id = text_of(host.call("notes.add", R"({"title":"c","room":"R7"})"), "write_id");
  host.call("proxy.edit_write", "{\"write_id\":\"" + id + R"(","arguments":{"title":"a"}})");
  CHECK(host.writes.ledger.get(id)->summary == "a on 'Plans' (R7/a) in #general (R7)");
}

TEST_CASE("a summary calls the first records of a list by their words, and counts the others") {
  std::string text = kDefinition;
  text.replace(text.find("summary: \"{title}\""), 18,
               "summary: \"of {pages}\", summary_records: ["
               "{name: pages, collection: note, id: \"{pages}\", words: \"'{head}'\"}]");
  const std::string room = "{name: room, type: String, description: Room.}]}\n  - {name: notes.mark";
  text.replace(text.find(room), 1, "{name: pages, type: Array, items: {type: String}, description: Pages.}, {");
  Host host({}, {}, text);
  host.connect();
  Record record;
  record.collection = "note";
  record.id = "p1";
  record.json = R"({"head":"Plans"})";
  const auto session = host.replica->begin_session();
  session->put(record);
  session->commit();
  const auto summary = [&](const std::string& title, const std::string& pages) {
    const auto answer = host.call("notes.add", R"({"title":")" + title + R"(","room":"R","pages":)" + pages + "}");
    REQUIRE(type_of(answer) == "none");
    return host.writes.ledger.get(text_of(answer, "write_id"))->summary;
  };
  CHECK(summary("a", R"(["p1"])") == "of 'Plans' (p1)");
  CHECK(summary("b", R"(["p1","p2","p1"])") == "of 2 note: 'Plans' (p1), p2");
  CHECK(summary("c", R"(["p1","p2","p3","p4","p5"])") == "of 5 note, such as 'Plans' (p1), p2, p3");
}

TEST_CASE("what resolution adds is shown to agent and operator, with whom the write reaches") {
  std::string text = kDefinition;
  text.replace(text.find("summary: \"{title}\""), 18, "recipients: [to, room], summary: \"{title} to {to}\"");
  Host host({}, {}, text);
  host.connect();
  host.adapter->on_resolve = [](auto&, auto, std::string_view params) {
    auto document = parse_json(params, "params");
    if (!document.HasMember("to")) document.AddMember("to", "a@b.test, c@d.test", document.GetAllocator());
    document["room"].SetString("R7");
    return Text(to_json(document));
  };
  const auto answer = host.call("notes.add", R"({"title":"Plan","room":"#general"})");
  REQUIRE(type_of(answer) == "none");
  const std::string recipients = R"({"to":"a@b.test, c@d.test","room":"#general"})";
  CHECK(to_json(answer["data"]["recipients"]) == recipients);
  const auto id = text_of(answer, "write_id");
  const auto write = host.writes.ledger.get(id);
  REQUIRE(write);
  CHECK(write->params_json == R"({"room":"R7","title":"Plan","to":"a@b.test, c@d.test"})");
  CHECK(write->params_shown_json == R"({"room":"#general","title":"Plan","to":"a@b.test, c@d.test"})");
  CHECK(write->summary == "Plan to a@b.test, c@d.test");
  const auto status = host.call("proxy.write_status", "{\"write_id\":\"" + id + "\"}");
  CHECK(to_json(status["data"]["arguments"]["to"]) == json_string("a@b.test, c@d.test"));
  CHECK(to_json(status["data"]["recipients"]) == recipients);
  CHECK(to_json(host.call("proxy.list_writes")["data"]["writes"][0]["recipients"]) == recipients);
  const auto edited = host.call("proxy.edit_write", "{\"write_id\":\"" + id + R"(","arguments":{"title":"Other"}})");
  CHECK(to_json(edited["data"]["recipients"]) == recipients);
  CHECK(host.writes.ledger.get(id)->params_shown_json ==
        R"({"room":"#general","title":"Other","to":"a@b.test, c@d.test"})");
}

TEST_CASE("what resolution replaces is shown as what it has become, and an edit leaves nothing of it behind") {
  std::string text = kDefinition;
  const std::string room = "{name: room, type: String, description: Room.}]}\n  - {name: notes.mark";
  text.replace(text.find(room), 1, "{name: place, type: String, description: Place.}, {");
  Host host({}, {}, text);
  host.connect();
  host.adapter->on_resolve = [](auto&, auto, std::string_view params) {
    auto document = parse_json(params, "params");
    if (document.HasMember("place")) {
      document.AddMember("room", JsonValue(document["place"], document.GetAllocator()), document.GetAllocator());
      document.RemoveMember("place");
    }
    return Text(to_json(document));
  };
  const auto added = host.call("notes.add", R"({"title":"one","place":"R7"})");
  REQUIRE(type_of(added) == "none");
  const auto id = text_of(added, "write_id");
  CHECK(host.writes.ledger.get(id)->params_json == R"({"room":"R7","title":"one"})");
  CHECK(host.writes.ledger.get(id)->params_shown_json == R"({"room":"R7","title":"one"})");
  CHECK(text_of(host.call("notes.add", R"({"title":"one","room":"R7"})"), "duplicate_of") == id);
  const auto edited = host.call("proxy.edit_write", R"({"write_id":")" + id + R"(","arguments":{"room":"R8"}})");
  CHECK(type_of(edited) == "none");
  CHECK(host.writes.ledger.get(id)->params_json == R"({"room":"R8","title":"one"})");
  CHECK(host.writes.ledger.get(id)->params_shown_json == R"({"room":"R8","title":"one"})");
}

TEST_CASE("writes are ordered by what their definition says, also by what resolution adds") {
  std::string text = kDefinition;
  text.replace(text.find("summary: \"{title}\""), 18, "ordered: \"{room}/{thread}\", summary: \"{title}\"");
  Host host({}, {}, text);
  host.connect();
  host.adapter->on_resolve = [](auto&, auto, std::string_view params) {
    auto document = parse_json(params, "params");
    if (view(document["title"]) != "alone") document.AddMember("thread", "T1", document.GetAllocator());
    return Text(to_json(document));
  };
  const auto lane = [&](const std::string& title) {
    const auto answer = host.call("notes.add", R"({"room":"#general","title":")" + title + "\"}");
    REQUIRE(type_of(answer) == "none");
    return host.writes.ledger.get(text_of(answer, "write_id"))->ordering_key;
  };
  CHECK(lane("a").find("#general/T1") != std::string::npos);
  CHECK(lane("a") == lane("b"));
  CHECK(lane("alone").empty());
}

TEST_CASE("delays and settle times come from the configuration, the definition, the default") {
  HandlerOptions options;
  options.default_delay_ms = 7000;
  options.delays_ms = {{"notes.add", 0}, {"notes.mark", 5000}};
  options.settle_ms = 1;
  Host host(options);
  host.connect();
  const auto delay = [&](const char* name, const char* arguments) {
    const auto write = host.writes.ledger.get(text_of(host.call(name, arguments), "write_id"));
    REQUIRE(write);
    CHECK(write->settle_ms == 1);
    CHECK_FALSE(write->immediate);
    return write->delay_ms;
  };
  CHECK(delay("notes.add", R"({"title":"a"})") == 0);
  CHECK(delay("notes.mark", R"({"title":"a"})") == 5000);
  CHECK(delay("notes.plain", "{}") == 7000);
  CHECK(to_json(parse_json(*host.handler.describe_json("tester", "notes.mark"), "d")["delay_seconds"]) == "5");
}

TEST_CASE("a limit counts what is the same, however it is written") {
  std::string text = kDefinition;
  const std::string others = "limits: [";
  text.insert(text.find(others) + others.size(), "{operations: [notes.file], limit: 4, window: 1 h, per: tags}, ");
  Host host({}, {}, text);
  host.connect();
  const auto file = [&](const std::string& tags, int room) {
    return type_of(host.call("notes.file", R"({"tags":)" + tags + R"(,"room":")" + std::to_string(room) + "\"}"));
  };
  CHECK(file(R"([{"b":1,"a":2.0}])", 1) == "none");
  CHECK(file(R"([{"a":2,"b":1}])", 2) == "none");
  CHECK(file(R"([{"b":1.0,"a":2}])", 3) == "none");
  CHECK(file(R"([ {"a":2.00, "b":1} ])", 4) == "none");
  CHECK(file(R"([{"b":1,"a":2}])", 5) != "none");
  CHECK(file(R"([{"b":2,"a":2}])", 6) == "none");
  SECTION("also as the adapter resolves it") {
    host.adapter->on_resolve = [](auto&, auto, auto) {
      return Text(std::string(R"({"tags":[{"b":1.0,"a":2}],"room":"z"})"));
    };
    CHECK(file("[7]", 7) != "none");
  }
}

TEST_CASE("a write whose name cannot be resolved is refused before anything is stored") {
  Host host;
  host.connect();
  host.adapter->on_resolve = [](auto&, auto, auto) {
    return Text(CallFailure{KRUX_NOT_FOUND, true, ErrorCode::kInvalidInput, "There is no note Plam.", std::nullopt});
  };
  CHECK(type_of(host.call("notes.add", R"({"title":"Plam"})")) == "InvalidInput");
  host.adapter->on_resolve = [](auto&, auto, auto) { return Text(std::string("[1]")); };
  CHECK(type_of(host.call("notes.add", R"({"title":"Plam"})")) == "ServiceUnavailable");
  CHECK(host.writes.ledger.list({}).empty());
}

TEST_CASE("the same write again is answered with the first, unless a duplicate is asked for") {
  Host host;
  host.connect();
  const auto first = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  const auto second = host.call("notes.add", R"({"title":"a"})");
  CHECK(text_of(second, "duplicate_of") == first);
  CHECK(text_of(second, "write_id") == first);
  CHECK(text_of(host.call("notes.add", R"({"title":"a","allow_duplicate":true})"), "write_id") != first);
  CHECK(text_of(host.call("notes.add", R"({"title":"a"})", "agent_2"), "write_id") != first);
}

TEST_CASE("an idempotency key gives the same write, another content is a conflict") {
  Host host;
  host.connect();
  const auto first = text_of(host.call("notes.add", R"({"title":"a"})", "agent_1", "k1"), "write_id");
  CHECK(text_of(host.call("notes.add", R"({"title":"a","idempotency_key":"k1"})"), "write_id") == first);
  CHECK(type_of(host.call("notes.add", R"({"title":"b"})", "agent_1", "k1")) == "ConflictError");
  CHECK(type_of(host.call("notes.add", R"({"title":"b","idempotency_key":"k2"})", "agent_1", "k3")) == "InvalidInput");
}

TEST_CASE("an immediate write waits for its outcome") {
  Host host;
  host.connect();
  host.executor.start();
  auto answer = host.call("notes.mark", R"({"title":"a"})");
  REQUIRE(type_of(answer) == "none");
  CHECK(text_of(answer, "status") == "ok");
  CHECK(text_of(answer, "id") == "n1");
  CHECK(text_of(answer, "write_id").starts_with("w_"));

  Text result = CallFailure{KRUX_NOT_FOUND, true, ErrorCode::kMessageNotFound, "There is no such note.", std::nullopt};
  host.adapter->on_execute = [&](auto&, auto&) { return result; };
  answer = host.call("notes.mark", R"({"title":"refused"})");
  CHECK(type_of(answer) == "MessageNotFound");
  CHECK(std::string(answer["error"]["context"]["write_id"].GetString()).starts_with("w_"));

  result = CallFailure{KRUX_RATE_LIMITED, true, {}, "Slow down.", std::nullopt};
  answer = host.call("notes.mark", R"({"title":"later"})");
  CHECK(type_of(answer) == "WriteFailed");
  CHECK(answer["error"]["retry_after"].GetInt() > 0);
}

TEST_CASE("an immediate write whose answer was lost is an unknown outcome, with its write_id") {
  Host host;
  host.connect();
  host.executor.start();
  host.adapter->on_execute = [](const CallContextPtr& on, auto&) {
    on->begin_unsafe_request();
    return Text(CallFailure{KRUX_NETWORK, false, {}, "The connection was reset.", std::nullopt});
  };
  const auto answer = host.call("notes.mark", R"({"title":"a"})");
  CHECK(type_of(answer) == "OutcomeUnknown");
  CHECK(to_json(answer["error"]["retryable"]) == "false");
  CHECK(std::string(answer["error"]["context"]["write_id"].GetString()).starts_with("w_"));
}

TEST_CASE("what will not happen is no success, whoever took it back") {
  Host host;
  host.connect();
  host.adapter->on_execute = [](const CallContextPtr&, auto&) {
    return Text(CallFailure{KRUX_RATE_LIMITED, true, {}, "Slow down.", std::nullopt});
  };
  host.executor.start();
  const auto id = std::string(
      host.call("notes.mark", R"({"title":"a"})", "agent_1", "k1")["error"]["context"]["write_id"].GetString());
  const bool discarded = GENERATE(false, true);
  std::promise<void> decided;
  const auto done = [&](auto) { decided.set_value(); };
  if (discarded) {
    host.writes.ledger.decide_outcome(id, WriteEvent::kOperatorDiscard, {}, "operator:ann", done);
  } else {
    host.writes.ledger.cancel(id, "", "operator:ann", done);
  }
  decided.get_future().wait();
  const auto again = host.call("notes.mark", R"({"title":"a"})", "agent_1", "k1");
  CHECK(type_of(again) == (discarded ? "WriteDiscarded" : "WriteCancelled"));
  CHECK(std::string(again["error"]["context"]["write_id"].GetString()) == id);
}

TEST_CASE("a repeated buffered write is answered with what became of the first") {
  Host host;
  host.connect();
  Text result = CallFailure{KRUX_NOT_FOUND, true, ErrorCode::kMessageNotFound, "There is no such note.", std::nullopt};
  host.adapter->on_execute = [&](const CallContextPtr&, auto&) { return result; };
  host.executor.start();
  const auto send = [&] { return host.call("notes.add", R"({"title":"a"})", "agent_1", "k1"); };
  const auto id = text_of(send(), "write_id");
  CHECK(type_of(send()) == "none");  // it waits
  const auto wanted = GENERATE(as<std::string>{}, "MessageNotFound", "OutcomeUnknown", "none");
  if (wanted == "OutcomeUnknown") result = CallFailure{KRUX_NETWORK, false, {}, "Reset.", std::nullopt};
  if (wanted == "none") result = std::string(R"({"id":"n1"})");
  if (wanted == "OutcomeUnknown") {
    host.adapter->on_execute = [&](const CallContextPtr& on, auto&) {
      on->begin_unsafe_request();
      return result;
    };
  }
  std::promise<void> settled;
  host.writes.settled.wait(id, 60'000'000, [&](const WriteRecord&) { settled.set_value(); });
  host.clock.advance(30'000);
  settled.get_future().wait();
  CHECK(type_of(send()) == wanted);
}

TEST_CASE("an immediate write that takes too long is answered with its present state") {
  Host host;
  host.connect();
  std::promise<void> entered, release;
  const auto released = release.get_future().share();
  host.adapter->on_execute = [&entered, released](auto&, auto&) {
    entered.set_value();
    released.wait();
    return Text(std::string("{}"));
  };
  host.executor.start();
  auto future = host.begin("notes.mark", R"({"title":"a"})");
  entered.get_future().wait();
  const auto answer = Host::document(host.answer_by_advancing(std::move(future), 1000));
  CHECK(text_of(answer, "status") == "executing");
  release.set_value();
}

TEST_CASE("an agent cancels its own writes, by either name, and nobody else's") {
  Host host;
  host.connect();
  const auto id = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  CHECK(type_of(host.call("notes.cancel", "{\"write_id\":\"" + id + "\"}", "agent_2")) != "none");
  auto answer = host.call("notes.cancel", "{\"buffer_id\":\"" + id + "\"}");
  CHECK(text_of(answer, "status") == "cancelled");
  answer = host.call("proxy.cancel_write", "{\"write_id\":\"" + id + "\"}");
  CHECK(type_of(answer) == "CannotCancel");
  CHECK(answer["error"]["recovery"].Size() > 0);
  CHECK(type_of(host.call("proxy.cancel_write")) == "InvalidInput");
  CHECK(type_of(host.call("proxy.cancel_write", R"({"write_id":"../../x"})")) == "InvalidInput");
}

TEST_CASE("an agent sees its own writes and nobody else's") {
  Host host;
  host.connect();
  const auto first = text_of(host.call("notes.add", R"({"title":"a"})"), "write_id");
  const auto second = text_of(host.call("notes.add", R"({"title":"b"})"), "write_id");
  host.call("notes.add", R"({"title":"c"})", "agent_2");
  host.call("notes.cancel", "{\"write_id\":\"" + first + "\"}");

  const auto status = host.call("proxy.write_status", "{\"write_id\":\"" + second + "\"}");
  CHECK(text_of(status, "status") == "buffered");
  CHECK(to_json(status["data"]["arguments"]["title"]) == json_string("b"));
  CHECK(type_of(host.call("proxy.write_status", "{\"write_id\":\"" + second + "\"}", "agent_2")) == "InvalidInput");

  const auto list = host.call("proxy.list_writes", R"({"limit":1})");
  REQUIRE(list["data"]["writes"].Size() == 1);
  CHECK(to_json(list["data"]["writes"][0]["write_id"]) == json_string(second));
  CHECK(to_json(list["data"]["more"]) == "true");
  CHECK(text_of(list, "next_before") == second);
  const auto next = host.call("proxy.list_writes", "{\"before\":\"" + second + "\"}");
  REQUIRE(next["data"]["writes"].Size() == 1);
  CHECK(to_json(next["data"]["writes"][0]["write_id"]) == json_string(first));
  CHECK(to_json(next["data"]["more"]) == "false");
  CHECK_FALSE(next["data"].HasMember("next_before"));
  CHECK(host.call("proxy.list_writes", R"({"status":"cancelled"})")["data"]["writes"].Size() == 1);
  const auto waiting = host.call("proxy.list_writes", R"({"status":"waiting"})");
  REQUIRE(waiting["data"]["writes"].Size() == 1);
  CHECK(to_json(waiting["data"]["writes"][0]["write_id"]) == json_string(second));
  CHECK_FALSE(waiting["data"]["writes"][0].HasMember("undo_until"));
  CHECK(type_of(host.call("proxy.list_writes", R"({"status":"gone"})")) == "InvalidInput");
  CHECK(type_of(host.call("proxy.list_writes", R"({"limit":101})")) == "InvalidInput");
}

TEST_CASE("a write is scheduled by send_at, as its agent and its edits say") {
  Host host;
  host.connect();
  const auto at = [&](std::int64_t in_ms) { return format_time(host.clock.wall_ms() + in_ms); };
  const auto first = at(3'600'000), second = at(7'200'000);
  const auto answer = host.call("notes.add", R"({"title":"Plan","send_at":")" + first + "\"}");
  REQUIRE(type_of(answer) == "none");
  for (const auto* name : {"buffer_until", "scheduled_send", "cancel_deadline", "send_at"})
    CHECK(text_of(answer, name) == first);
  const auto id = text_of(answer, "write_id");
  const auto edit = [&](const std::string& arguments) {
    return host.call("proxy.edit_write", "{\"write_id\":\"" + id + R"(","arguments":)" + arguments + "}");
  };
  CHECK(text_of(edit(R"({"send_at":")" + second + "\"}"), "cancel_deadline") == second);
  CHECK(text_of(edit(R"({"title":"Other"})"), "cancel_deadline") == second);
  CHECK(host.writes.ledger.get(id)->params_json == R"({"title":"Other"})");
  CHECK_THAT(message_of(edit(R"({"send_at":"tomorrow"})")), Catch::Contains("notes.add: \"send_at\" must be a time"));
  const auto at_once = edit(R"({"send_at":null})");
  CHECK(text_of(at_once, "cancel_deadline") == at(30'000));
  CHECK(text_of(at_once, "send_at") == "missing");
}

TEST_CASE("a model is told of a scheduled write's time once") {
  Host host;
  host.connect();
  host.for_model = true;
  const auto at = format_time(host.clock.wall_ms() + 3'600'000);
  const auto answer = host.call("notes.add", R"({"title":"Plan","send_at":")" + at + "\"}");
  CHECK(text_of(answer, "cancel_deadline") == at);
  CHECK(text_of(answer, "send_at") == "missing");
}

TEST_CASE("what runs at once takes no send_at, unless a delay is configured") {
  const auto call = [](Host& host) {
    host.connect();
    return host.call("notes.mark",
                     R"({"title":"Plan","send_at":")" + format_time(host.clock.wall_ms() + 3'600'000) + "\"}");
  };
  Host host;
  const auto refused = call(host);
  CHECK(type_of(refused) == "InvalidInput");
  CHECK_THAT(message_of(refused), Catch::Contains("notes.mark: \"send_at\" is not possible, since it is done at once"));
  HandlerOptions options;
  options.delays_ms["notes.mark"] = 5'000;
  Host delayed(options);
  CHECK(text_of(call(delayed), "status") == "buffered");
}

TEST_CASE("an immediate capability that is given a delay is described as what waits") {
  const auto has = [](const JsonDocument& described, const char* list, std::string_view name) {
    const auto& all = described[list];
    return std::any_of(all.Begin(), all.End(), [&](const auto& one) { return view(one["name"]) == name; });
  };
  for (const bool delayed : {false, true}) {
    HandlerOptions options;
    if (delayed) options.delays_ms["notes.mark"] = 5'000;
    Host host(options);
    host.connect();
    const auto described = parse_json(host.handler.describe_json("tester", "notes.mark").value(), "the description");
    CHECK(has(described, "outputs", "cancel_deadline") == delayed);
    CHECK(has(described, "inputs", "send_at") == delayed);
  }
}

}  // namespace KRUXOS_TEST_FILE
