// What an agent does about its own writes, and what it sees of them when it reads.
#include <catch2/catch.hpp>

#include "core/capability/handler_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace handler_test;

namespace {

/// Waits until a completion has become known; immediate writes are answered by then.
struct Fixture : Host {
  using Host::Host;
  Fixture() { connect(); }
  std::string add(const std::string& title, const std::string& agent = "agent_1") {
    return text_of(call("notes.add", R"({"title":")" + title + "\"}", agent), "write_id");
  }
  JsonDocument edit(const std::string& id, const std::string& arguments, const std::string& more = {}) {
    return call("proxy.edit_write", R"({"write_id":")" + id + R"(","arguments":)" + arguments + more + "}");
  }
};

}  // namespace

TEST_CASE("an agent edits a write that still waits") {
  Fixture f;
  f.adapter->on_resolve = [](auto&, auto, std::string_view params) {
    auto text = std::string(params);
    if (const auto at = text.find("short"); at != std::string::npos) text.replace(at, 5, "the-long-id");
    return Text(text);
  };
  const auto id = f.add("one");
  f.clock.advance(10'000);
  const auto before = f.writes.ledger.get(id)->content_hash;
  const auto answer = f.edit(id, R"({"title":"short"})", R"(,"content_hash":")" + before + "\"");
  CHECK(type_of(answer) == "none");
  CHECK(text_of(answer, "write_id") == id);
  CHECK(text_of(answer, "status") == "buffered");
  const auto write = *f.writes.ledger.get(id);
  CHECK(write.params_json == R"({"title":"the-long-id"})");
  CHECK(write.params_shown_json == R"({"title":"short"})");
  CHECK(write.summary == "short");
  CHECK(write.buffer_until_ms == f.clock.wall_ms() + 30'000);
  CHECK(type_of(f.edit(id, R"({"title":"x"})", R"(,"content_hash":")" + before + "\"")) == "ConflictError");
}

TEST_CASE("what an edit does not name stays what it was, whatever a name means by now") {
  Fixture f;
  std::string general = "R1";
  f.adapter->on_resolve = [&](auto&, auto, std::string_view params) {
    auto text = std::string(params);
    if (const auto at = text.find("general"); at != std::string::npos) text.replace(at, 7, general);
    return Text(text);
  };
  const auto id = text_of(f.call("notes.add", R"({"title":"one","room":"general"})"), "write_id");
  general = "R2";
  CHECK(type_of(f.edit(id, R"({"title":"two"})")) == "none");
  auto write = *f.writes.ledger.get(id);
  CHECK(write.params_json == R"({"room":"R1","title":"two"})");
  CHECK(write.params_shown_json == R"({"room":"general","title":"two"})");
  CHECK(type_of(f.edit(id, R"({"room":"general"})")) == "none");
  write = *f.writes.ledger.get(id);
  CHECK(write.params_json == R"({"room":"R2","title":"two"})");
  // An adapter that changes its mind about an id is not followed.
  f.adapter->on_resolve = [&](auto&, auto, std::string_view) {
    return Text(std::string(R"({"room":"R9","title":"x"})"));
  };
  const auto refused = f.edit(id, R"({"title":"x"})");
  CHECK(type_of(refused) == "ConflictError");
  CHECK_THAT(message_of(refused), Catch::Contains("room") && Catch::Contains("R9"));
  CHECK(f.writes.ledger.get(id)->content_hash == write.content_hash);
  const auto edits = f.writes.ledger.edits(id);
  REQUIRE(edits.size() == 2);
  CHECK(edits[1].from_json == R"({"room":"R1","title":"two"})");
}

TEST_CASE("while an account cannot be served, its writes can be edited and undone later") {
  Fixture f;
  const auto id = f.add("one");
  f.accounts.withdraw("notes", "N1");
  CHECK(type_of(f.edit(id, R"({"title":"two"})")) == "NotConnected");
  f.accounts.set_unserved("notes", "The vault is locked.");
  const auto answer = f.edit(id, R"({"title":"two"})");
  CHECK(type_of(answer) == "ServiceUnavailable");
  CHECK(message_of(answer) == "The vault is locked.");
}

TEST_CASE("an edit that is refused changes nothing") {
  Fixture f;
  const auto id = f.add("one");
  const auto hash = f.writes.ledger.get(id)->content_hash;
  for (const auto* arguments : {"{}", R"({"title":""})", R"({"title":7})", R"({"title":null})", R"({"nonsense":1})",
                                R"({"account":"N1"})", R"({"idempotency_key":"k"})", R"({"title":"one"})"}) {
    INFO(arguments);
    const auto title_empty = std::string(arguments) == R"({"title":""})";
    if (!title_empty) CHECK(type_of(f.edit(id, arguments)) == "InvalidInput");
  }
  CHECK(type_of(f.edit("w_0192f0c1-0000-7000-8000-000000000000", R"({"title":"x"})")) == "InvalidInput");
  CHECK(type_of(f.call("proxy.edit_write", R"({"write_id":")" + id + R"(","arguments":{"title":"x"}})", "agent_2")) ==
        "InvalidInput");
  CHECK(type_of(f.call("proxy.edit_write", R"({"write_id":")" + id + R"(","arguments":[]})")) == "InvalidInput");
  CHECK(f.writes.ledger.get(id)->content_hash == hash);
  f.call("proxy.cancel_write", R"({"write_id":")" + id + "\"}");
  CHECK(type_of(f.edit(id, R"({"title":"x"})")) == "ConflictError");
}

TEST_CASE("the operator edits any agent's write, naming what was shown") {
  Fixture f;
  const auto id = f.add("one");
  const auto edit = [&](const std::string& hash, const std::string& arguments) {
    std::promise<std::variant<WriteRecord, Error>> promise;
    auto future = promise.get_future();
    f.handler.edit(id, hash, arguments, "operator:ann", [&](auto answer) { promise.set_value(std::move(answer)); });
    return future.get();
  };
  CHECK(std::get<Error>(edit("0000", R"({"title":"two"})")).type() == ErrorCode::kConflictError);
  CHECK(std::get<Error>(edit("0000", "nonsense")).type() == ErrorCode::kInvalidInput);
  CHECK(std::get<WriteRecord>(edit(f.writes.ledger.get(id)->content_hash, R"({"title":"two"})")).summary == "two");
  CHECK(f.writes.ledger.edits(id).at(0).who == "operator:ann");
}

TEST_CASE("what exceeds a limit waits for a person, or is refused") {
  SECTION("by the definition it waits") {
    Fixture f;
    f.executor.start();
    CHECK(type_of(f.call("notes.stamp", R"({"title":"1"})")) == "none");
    CHECK(type_of(f.call("notes.stamp", R"({"title":"2"})")) == "none");
    const auto answer = f.call("notes.stamp", R"({"title":"3"})");
    CHECK(type_of(answer) == "ApprovalRequired");
    CHECK_THAT(message_of(answer), Catch::Contains("2 in 10 min"));
    const std::string id = answer["error"]["context"]["write_id"].GetString();
    CHECK(f.writes.ledger.get(id)->state == WriteState::kPendingApproval);
    CHECK(type_of(f.call("notes.stamp", R"({"title":"3"})")) == "ApprovalRequired");  // the same one
    CHECK(f.writes.ledger.counts().pending_approval == 1);
  }
  SECTION("the configuration may refuse it") {
    HandlerOptions options;
    options.escalate_on_exceed = false;
    Fixture f(options);
    f.connect();
    f.executor.start();
    f.call("notes.stamp", R"({"title":"1"})");
    f.call("notes.stamp", R"({"title":"2"})");
    const auto answer = f.call("notes.stamp", R"({"title":"3"})");
    CHECK(type_of(answer) == "BatchProtection");
    CHECK(to_json(answer["error"]["retryable"]) == "false");
    CHECK(answer["error"]["context"]["limit"].GetInt() == 2);
    f.clock.advance(600'000);
    CHECK(type_of(f.call("notes.stamp", R"({"title":"3"})")) == "none");
  }
}

TEST_CASE("a write that counts as another has its tier, its delay and its limits") {
  Fixture f;
  f.executor.start();
  const auto buffered = f.call("notes.file", R"({"tags":["x"],"room":"a"})");
  const auto id = text_of(buffered, "write_id");
  CHECK(f.writes.ledger.get(id)->delay_ms == 1000);
  CHECK(f.writes.ledger.get(id)->counted_as.empty());
  CHECK(type_of(f.call("notes.file", R"({"tags":["y","trash"]})")) == "none");
  CHECK(type_of(f.call("notes.stamp", R"({"title":"1"})")) == "none");
  CHECK(type_of(f.call("notes.file", R"({"tags":["junk"]})")) == "ApprovalRequired");
  CHECK(type_of(f.call("notes.stamp", R"({"title":"2"})")) == "ApprovalRequired");  // the limit is one
  CHECK(type_of(f.call("notes.file", R"({"tags":["trashy"]})")) == "none");

  const auto blocked = f.call("notes.file", R"({"room":"secret"})");
  CHECK(type_of(blocked) == "OperationBlocked");
  CHECK_THAT(message_of(blocked), Catch::Contains("counts as notes.wipe"));
  const auto asked = f.call("notes.file", R"({"room":"board"})");
  CHECK(type_of(asked) == "ApprovalRequired");
  CHECK_THAT(message_of(asked), Catch::Contains("Every notes.ask needs"));

  CHECK(type_of(f.edit(id, R"({"room":"secret"})")) == "OperationBlocked");
  f.edit(id, R"({"tags":["trash"]})");
  CHECK(f.writes.ledger.get(id)->state == WriteState::kPendingApproval);  // it exceeds now what it counts as
  CHECK(f.writes.ledger.get(id)->counted_as == "notes.stamp");
}

TEST_CASE("an agent undoes its own completed write, but never by force") {
  Fixture f;
  bool conflict = false;
  f.adapter->on_rollback = [&](auto&, const RollbackRequest& request) -> Text {
    CHECK_FALSE(request.force);
    if (conflict) return CallFailure{KRUX_CONFLICT, true, ErrorCode::kRollbackConflict, "Somebody changed it.", {}};
    return std::string(R"({"status":"ok"})");
  };
  f.executor.start();
  const auto id = f.add("one");
  const auto undo = [&](const std::string& agent = "agent_1", const std::string& more = {}) {
    return f.call("proxy.rollback", R"({"write_id":")" + id + "\"" + more + "}", agent);
  };
  CHECK(type_of(undo()) == "RollbackConflict");
  std::promise<void> done;
  f.writes.settled.wait(id, 1'000'000, [&](const WriteRecord&) { done.set_value(); });
  while (!f.executor.asleep()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  f.clock.advance(30'000);
  done.get_future().wait();
  CHECK(type_of(undo("agent_2")) == "InvalidInput");
  CHECK(type_of(undo("agent_1", R"(,"force":true)")) == "InvalidInput");
  SECTION("done") {
    const auto answer = undo();
    CHECK(type_of(answer) == "none");
    CHECK(text_of(answer, "status") == "ok");
    CHECK(text_of(answer, "write_id").starts_with("rb_"));
    CHECK(f.writes.ledger.get(id)->state == WriteState::kRolledBack);
    const auto status = f.call("proxy.write_status", R"({"write_id":")" + text_of(answer, "write_id") + "\"}");
    CHECK(text_of(status, "capability") == "proxy.rollback");
  }
  SECTION("changed since") {
    conflict = true;
    const auto answer = undo();
    CHECK(type_of(answer) == "RollbackConflict");
    CHECK(message_of(answer) == "Somebody changed it.");
    CHECK(f.writes.ledger.get(id)->state == WriteState::kCompleted);
  }
}

TEST_CASE("a read shows the agent's own writes that the replica cannot have yet") {
  Fixture f;
  f.executor.start();
  CHECK_FALSE(f.call("notes.search")["data"].HasMember("pending_writes"));
  const auto id = f.add("one");
  f.add("two", "agent_2");
  const auto answer = f.call("notes.search");
  REQUIRE(answer["data"].HasMember("pending_writes"));
  const auto& pending = answer["data"]["pending_writes"];
  REQUIRE(pending.Size() == 1);
  CHECK(pending[0]["write_id"].GetString() == id);
  CHECK(pending[0]["status"].GetString() == std::string("buffered"));
  CHECK(pending[0]["summary"].GetString() == std::string("one"));
  f.call("notes.stamp", R"({"title":"x"})");
  CHECK(f.call("notes.search")["data"]["pending_writes"].Size() == 2);
  f.clock.advance(1);
  f.replica->finish_pass(true, f.clock.wall_ms());
  CHECK(f.call("notes.search")["data"]["pending_writes"].Size() == 1);  // the completed one is in the replica now
}

TEST_CASE("what is not found may be the agent's own: the error lists its writes") {
  Fixture f;
  f.adapter->on_read = [](auto&, auto, auto) {
    CallFailure failure;
    failure.status = KRUX_NOT_FOUND;
    failure.message = "There is no such note.";
    return Text(failure);
  };
  CHECK_FALSE(f.call("notes.search")["error"]["context"].HasMember("pending_writes"));
  const auto id = f.add("one");
  const auto answer = f.call("notes.search");
  REQUIRE(answer["error"]["context"].HasMember("pending_writes"));
  CHECK(answer["error"]["context"]["pending_writes"][0]["write_id"].GetString() == id);
}

TEST_CASE("an edit that names what it is about in another way takes the place of the names before") {
  std::string text = kDefinition;
  text.replace(text.find("{name: room, type: String, description: Room.}]}"), 48,
               "{name: room, type: String, description: Room.}, {name: shelf, type: String, description: Shelf., "
               "instead_of: [room]}]}");
  Host host({}, {}, text);
  host.connect();
  host.adapter->on_resolve = [](auto&, auto, std::string_view params) {
    auto document = parse_json(params, "params");
    if (!document.HasMember("shelf")) return Text(to_json(document));
    if (document.HasMember("room")) return Text(CallFailure{KRUX_INVALID, true, {}, "Named twice.", std::nullopt});
    document.AddMember("room", "R" + std::string(view(document["shelf"])), document.GetAllocator());
    document.RemoveMember("shelf");
    return Text(canonical_json(document));
  };
  const auto id = text_of(host.call("notes.add", R"({"title":"a","shelf":"1"})"), "write_id");
  CHECK(host.writes.ledger.get(id)->params_json == R"({"room":"R1","title":"a"})");
  const auto edited = host.call("proxy.edit_write", "{\"write_id\":\"" + id + R"(","arguments":{"shelf":"2"}})");
  CHECK(message_of(edited) == "none");
  CHECK(host.writes.ledger.get(id)->params_json == R"({"room":"R2","title":"a"})");
}

}  // namespace KRUXOS_TEST_FILE
