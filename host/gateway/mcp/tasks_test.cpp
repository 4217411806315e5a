// Calls that go on behind their answer.
#include "host/gateway/mcp/tasks.hpp"

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "core/write/write.hpp"
#include "host/gateway/mcp/asking.hpp"
#include "host/gateway/mcp/listening.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;
using mcp::Tasks;

namespace {

const std::string kTasks = R"({"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}})";
const std::string kWrite = "w_0192f0c1-0000-7000-8000-000000000001";
const std::string kAnn = R"({"action":"accept","content":{"name":"Ann"}})";

struct Reply {
  int status = 0;
  JsonDocument body;
  const JsonValue& result() const { return body["result"]; }
  std::string text(const char* name) const { return std::string(find_string(result(), name).value_or("")); }
  int code() const { return body.HasMember("error") ? body["error"]["code"].GetInt() : 0; }
  std::string message() const { return body.HasMember("error") ? body["error"]["message"].GetString() : ""; }
  /// Of what was asked.
  std::string keys() const {
    std::string all;
    if (const auto* asked = find_member(result(), "inputRequests")) {
      for (const auto& member : asked->GetObject()) all += std::string(view(member.name)) + " ";
    }
    return all;
  }
};

struct TasksFixture : Fixture {
  using Fixture::Fixture;

  std::string request(const std::string& method, const std::string& params, const std::string& name,
                      const std::string& capabilities = kTasks, const std::string& key = kKey) const {
    const auto body =
        R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + params +
        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)" +
        capabilities + "}}}";
    return http_post("/mcp", body,
                     "Authorization: Bearer " + key + "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method +
                         "\r\n" + (name.empty() ? "" : "Mcp-Name: " + name + "\r\n"));
  }
  static Reply read(const RawAnswer& answer) {
    INFO(answer.body);
    return {answer.status, parse_json(answer.body, "the answer", {32 << 20, 64})};
  }
  Reply ask(const std::string& what, const std::string& id, const std::string& more = {},
            const std::string& capabilities = kTasks, const std::string& key = kKey) const {
    RawClient client(port);
    return read(client.ask(request("tasks/" + what, R"("taskId":")" + id + "\"," + more, id, capabilities, key)));
  }
  Reply get(const std::string& id, const std::string& key = kKey) const { return ask("get", id, {}, kTasks, key); }
  Reply update(const std::string& id, const std::string& responses) const {
    return ask("update", id, R"("inputResponses":)" + responses + ",");
  }
  std::string call(const std::string& tool, const std::string& arguments = "{}",
                   const std::string& capabilities = kTasks, const std::string& more = {}) const {
    return request("tools/call", R"("name":")" + tool + R"(","arguments":)" + arguments + "," + more, tool,
                   capabilities);
  }
  Reply call_now(const std::string& tool, const std::string& arguments = "{}") const {
    RawClient client(port);
    return read(client.ask(call(tool, arguments)));
  }
  /// A read that takes long, under way. `so_far`: how many are besides.
  RawClient begun(std::size_t so_far = 0, const std::string& capabilities = kTasks) {
    RawClient client(port);
    client.send(call("wait", "{}", capabilities));
    api.wait_for_held(so_far + 1);
    return client;
  }
  /// The same, once it is a task.
  Reply task(std::size_t so_far = 0) {
    auto client = begun(so_far);
    clock.advance(Tasks::kPatienceMs);
    return read(client.receive());
  }
  Listening listens(const std::string& ids, const std::string& capabilities = kTasks) const {
    return Listening(port,
                     request("subscriptions/listen", R"("notifications":{"taskIds":)" + ids + "},", "", capabilities));
  }
};

}  // namespace

TEST_CASE("A read that takes long becomes a task, of its agent alone, and ends with its result", "[mcp]") {
  TasksFixture f;
  // Answered in time, or for a client that knows no tasks: directly.
  auto quick = f.begun();
  f.api.release();
  CHECK(f.read(quick.receive()).text("resultType") == "complete");
  auto plain = f.begun(0, R"({"extensions":{"io.modelcontextprotocol/tasks":1}})");
  f.clock.advance(Tasks::kGoodForMs);
  f.api.release();
  CHECK(f.read(plain.receive()).text("resultType") == "complete");

  const auto created = f.task();
  CHECK(created.text("resultType") == "task");
  CHECK(created.text("status") == "working");
  CHECK(created.result()["ttlMs"].GetInt64() == Tasks::kGoodForMs);
  CHECK_FALSE(created.result().HasMember("result"));
  const auto id = created.text("taskId");
  f.api.last.progress("It reads.");
  f.clock.advance(1000);
  f.api.last.dialogue->progress({2, 5, {}});
  const auto working = f.get(id);
  CHECK(working.text("resultType") == "complete");
  CHECK(working.text("statusMessage") == "2 of 5 are done.");
  CHECK(working.text("createdAt") < working.text("lastUpdatedAt"));

  for (const auto* what : {"get", "update", "cancel"}) {
    const auto* more = R"("inputResponses":{},)";
    CHECK(f.ask(what, id, more, kTasks, kOtherKey).code() == -32602);
    CHECK(f.ask(what, "read-00", more).code() == -32602);
    const auto undeclared = f.ask(what, id, more, "{}");
    CHECK(undeclared.status == 400);
    CHECK(undeclared.code() == -32021);
    CHECK(to_json(undeclared.body["error"]["data"]) ==
          R"({"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})");
    RawClient client(f.port);
    CHECK(f.read(client.ask(f.request(std::string("tasks/") + what, R"("taskId":")" + id + "\",", "other"))).code() ==
          -32020);
    RawClient without(f.port);
    CHECK(f.read(without.ask(f.request(std::string("tasks/") + what, R"("taskId":7,)", "7"))).code() == -32020);
  }
  RawClient lister(f.port);
  CHECK(f.read(lister.ask(f.request("tasks/list", "", ""))).code() == -32601);

  f.api.release({true, R"({"a":1})", {}});
  const auto over = f.get(id);
  CHECK(over.text("status") == "completed");
  CHECK(to_json(over.result()["result"]["structuredContent"]) == R"({"a":1})");
  CHECK(over.result()["ttlMs"].GetInt64() == 1000 + Tasks::kFetchedMs);
  f.clock.advance(Tasks::kFetchedMs - 1);
  CHECK(f.get(id).result()["ttlMs"].GetInt64() == 1000 + Tasks::kFetchedMs);
  CHECK(f.ask("cancel", id).code() == 0);  // changes nothing any more
  CHECK(f.update(id, R"({"1.who":{}})").code() == 0);
  CHECK(f.get(id).text("status") == "completed");
  f.clock.advance(1);
  CHECK_THAT(f.get(id).message(), Catch::Contains("call the tool again"));

  const auto failed = f.task().text("taskId");
  f.api.release({false, {}, R"({"type":"NotConnected","message":"No."})"});
  CHECK(f.get(failed).text("status") == "completed");
  CHECK(f.get(failed).result()["result"]["isError"].GetBool());
}

TEST_CASE("A read that nobody could wait for is refused to a client that knows no tasks", "[mcp]") {
  TasksFixture f;
  f.api.long_wait = TakesLong::kAsTask;
  RawClient client(f.port);
  const auto refused = f.read(client.ask(f.call("wait", "{}", "{}")));
  CHECK(refused.status == 400);
  CHECK(refused.code() == -32021);
  CHECK(to_json(refused.body["error"]["data"]) ==
        R"({"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})");
  const auto created = f.task();
  CHECK(created.text("resultType") == "task");
  f.api.release({true, R"({"a":1})", {}});
  CHECK(f.get(created.text("taskId")).text("status") == "completed");
}

TEST_CASE("A task asks by its status, and goes on with the answers", "[mcp]") {
  TasksFixture f;
  const std::string both = R"({"who":{"kind":"form","message":"Who?","schema":)" + kForm +
                           R"(},"to":{"kind":"form","message":"To?","schema":)" + kForm + "}}";
  const auto id = f.task().text("taskId");
  f.api.release(asks(f.api.last, both, "s1"));
  auto now = f.get(id);
  CHECK(now.text("status") == "input_required");
  CHECK(now.keys() == "1.who 1.to ");
  CHECK(to_json(now.result()["inputRequests"]["1.who"]) ==
        R"({"method":"elicitation/create","params":{"message":"wait asks: Who?","requestedSchema":)" + kForm + "}}");
  // What is no answer changes nothing.
  CHECK(f.update(id, "7").code() == -32602);
  CHECK(f.ask("update", id).code() == -32602);
  CHECK(f.update(id, R"({"who":{},"2.who":{},"x":1})").text("resultType") == "complete");
  const auto wrong = f.update(id, R"({"1.to":)" + kAnn + R"(,"1.who":{"action":"accept","content":{"name":7}}})");
  CHECK(wrong.code() == -32602);
  CHECK_THAT(wrong.message(), Catch::Contains("\"who\" does not fit"));
  CHECK(f.get(id).keys() == "1.who 1.to ");
  CHECK(f.api.invoked == 1);

  CHECK(f.update(id, R"({"1.who":)" + kAnn + "}").code() == 0);
  CHECK(f.update(id, R"({"1.who":{"action":"decline"}})").code() == 0);  // it has its answer
  CHECK(f.get(id).keys() == "1.to ");
  f.update(id, R"({"1.to":{"action":"decline"}})");
  f.api.wait_for_held(1);
  CHECK(f.api.last.dialogue->answers_json ==
        R"({"who":{"action":"accept","content":{"name":"Ann"}},"to":{"action":"decline"}})");
  CHECK(f.api.last.dialogue->state == "s1");
  CHECK(f.get(id).text("status") == "working");
  // The same name once more is another question.
  f.api.release(asks(f.api.last, kWho, "s2"));
  CHECK(f.get(id).keys() == "2.who ");
  f.update(id, R"({"1.who":)" + kAnn + "}");
  CHECK(f.get(id).keys() == "2.who ");
  f.update(id, R"({"2.who":)" + kAnn + "}");
  f.api.wait_for_held(1);
  f.api.release();
  CHECK(f.get(id).text("status") == "completed");
  CHECK(f.api.invoked == 3);

  const auto much = f.task().text("taskId");
  f.api.release(asks(f.api.last, both, ""));
  const auto long_no = R"(":{"action":"decline","x":")" + std::string(600'000, 'x') + "\"}}";
  CHECK(f.update(much, R"({"1.who)" + long_no).code() == 0);
  CHECK_THAT(f.update(much, R"({"1.to)" + long_no).message(), Catch::Contains("1024 KiB together"));
  CHECK(f.get(much).keys() == "1.to ");

  const auto asks_more = f.task().text("taskId");
  f.api.release(asks(f.api.last, R"({"where":{"kind":"roots"}})", ""));
  const auto failed = f.get(asks_more);
  CHECK(failed.text("status") == "failed");
  CHECK(to_json(failed.result()["error"]["data"]) == R"({"requiredCapabilities":{"roots":{}}})");
  CHECK(failed.text("statusMessage") == find_string(failed.result()["error"], "message"));

  // What is asked at once is asked by a result, and the answers begin what becomes a task.
  auto client = f.begun();
  f.api.release(asks(f.api.last, kWho, "s3"));
  const auto asked = f.read(client.receive());
  CHECK(asked.keys() == "who ");
  RawClient again(f.port);
  again.send(
      f.call("wait", "{}", kTasks,
             R"("requestState":")" + asked.text("requestState") + R"(","inputResponses":{"who":)" + kAnn + "},"));
  f.api.wait_for_held(1);
  f.clock.advance(Tasks::kPatienceMs);
  const auto created = f.read(again.receive());
  CHECK(created.text("resultType") == "task");
  CHECK_FALSE(created.result().HasMember("requestState"));
  // Asked, and nobody answers: its time is over.
  f.api.release(asks(f.api.last, kWho, "s4"));
  CHECK(f.get(created.text("taskId")).text("status") == "input_required");
  f.clock.advance(Tasks::kGoodForMs);
  CHECK(f.get(created.text("taskId")).code() == -32602);
}

TEST_CASE("A change of policies ends a task whose question must not be shown any more, and no other", "[mcp]") {
  TasksFixture f;
  const auto asking = f.task().text("taskId");
  auto listening = f.listens(R"([")" + asking + "\"]");
  REQUIRE(listening.hears(R"("status":"working")"));
  const auto changed = f.gateway.on_capabilities_changed();
  // It asks nothing yet: it is the read's own business.
  f.api.asks_no_more = Error{ErrorCode::kOperationBlocked, "A policy blocks wait now."};
  changed();
  CHECK(f.get(asking).text("status") == "working");
  f.api.asks_no_more.reset();
  f.api.release(asks(f.api.last, kWho, "s1"));
  REQUIRE(listening.hears(R"("status":"input_required")"));
  changed();  // of something else
  CHECK(f.get(asking).keys() == "1.who ");
  const auto reading = f.task().text("taskId");

  f.api.asks_no_more = Error{ErrorCode::kOperationBlocked, "A policy blocks wait now."};
  changed();
  REQUIRE(listening.hears(R"("taskId":")" + asking + R"(","status":"completed")"));
  const auto over = f.get(asking);
  CHECK(over.text("status") == "completed");
  CHECK(find_bool(over.result()["result"], "isError") == true);
  CHECK_THAT(to_json(over.result()["result"]), Catch::Contains("A policy blocks wait now."));
  CHECK(over.keys().empty());
  CHECK(f.update(asking, R"({"1.who":)" + kAnn + "}").code() == 0);  // nobody asks any more
  CHECK(f.api.invoked == 2);
  CHECK(f.get(reading).text("status") == "working");
  f.api.release();
  CHECK(f.get(reading).text("status") == "completed");
}

TEST_CASE("A task ends by its client's word, its time, its agent's end, and is bounded", "[mcp]") {
  TasksFixture f;
  const auto id = f.task().text("taskId");
  const auto cancellation = f.api.last.cancellation;
  const auto ack = f.ask("cancel", id);
  CHECK(ack.text("resultType") == "complete");
  CHECK(ack.result().MemberCount() == 2);  // and who answers
  CHECK(cancellation->cancelled());
  f.api.last.progress("late");
  f.api.release();
  CHECK(f.get(id).text("status") == "cancelled");
  CHECK_FALSE(f.get(id).result().HasMember("result"));
  f.clock.advance(Tasks::kFetchedMs);
  CHECK(f.get(id).code() == -32602);

  // That the connection ends before means that nobody wants it; behind it nothing.
  auto gone = f.begun(0, kTasks);
  f.clock.advance(Tasks::kPatienceMs);
  const auto lasting = f.read(gone.receive()).text("taskId");
  gone.close();
  CHECK(f.get(lasting).text("status") == "working");
  CHECK_FALSE(f.api.last.cancellation->cancelled());
  f.clock.advance(Tasks::kGoodForMs);
  while (!f.api.last.cancellation->cancelled()) std::this_thread::yield();
  CHECK(f.get(lasting).code() == -32602);
  f.api.release();

  std::vector<std::string> ids;
  for (std::size_t i = 0; i < Tasks::kPerAgent; ++i) ids.push_back(f.task(i).text("taskId"));
  auto beyond = f.begun(Tasks::kPerAgent);
  f.clock.advance(Tasks::kPatienceMs);
  f.api.release({true, "\"" + std::string(600'000, 'x') + "\"", {}});
  CHECK(f.read(beyond.receive()).text("resultType") == "complete");
  int kept = 0, left_out = 0;
  for (const auto& one : ids) {
    const auto task = f.get(one);
    ++(task.text("status") == "completed" ? kept : left_out);
    if (task.text("status") == "failed")
      CHECK_THAT(task.text("statusMessage"), Catch::Contains("its answer is left out"));
  }
  CHECK(kept > 2);
  CHECK(left_out > 2);
  f.clock.advance(Tasks::kFetchedMs);

  const auto of_revoked = f.task().text("taskId");
  const auto of_it = f.api.last.cancellation;
  f.gateway.on_keys_changed()();
  CHECK(f.get(of_revoked).text("status") == "working");
  f.api.revoked = true;
  f.gateway.on_keys_changed()();
  f.api.revoked = false;
  CHECK(of_it->cancelled());
  CHECK(f.get(of_revoked).code() == -32602);
  f.api.release();
}

TEST_CASE("A wait for a write is a task that outlives the host, and whose end leaves the write alone", "[mcp]") {
  std::optional<TasksFixture> f(std::in_place);
  std::atomic<bool> ended{false};
  const auto script = [&](const Invocation& call) {
    CHECK(call.capability == kWriteStatus);
    if (call.agent_id != "agent_1") return InvocationResult{false, {}, R"({"type":"InvalidInput","message":"None."})"};
    if (ended || call.arguments_json.find("wait_seconds") == std::string::npos)
      return InvocationResult{true, R"({"status":"completed"})", {}};
    call.progress("The write waits for the end of its window.");
    CHECK(call.cancellation->cancelled());  // nobody waits
    return InvocationResult{false, {}, R"({"type":"Cancelled"})"};
  };
  f->api.scripted = script;
  const auto wait = [&](const std::string& name) {
    return f->call_now("proxy__write_status", "{\"" + name + "\":\"" + kWrite + R"(","wait_seconds":20})");
  };
  CHECK(f->call_now("proxy__write_status", R"({"write_id":")" + kWrite + "\"}").text("resultType") == "complete");
  const auto created = wait("write_id");
  CHECK(created.text("resultType") == "task");
  CHECK(created.result()["ttlMs"].IsNull());
  CHECK_THAT(created.text("statusMessage"),
             Catch::Contains("waits for the end of its window") && Catch::Contains("proxy__cancel_write"));
  const auto id = created.text("taskId");
  CHECK(wait("buffer_id").text("taskId") == id);

  f.emplace();
  f->api.scripted = script;
  f->clock.jump_wall(-1);  // what it says of the time is no reason not to find it
  CHECK(f->get(id).text("status") == "working");
  f->clock.advance(100'001);
  const auto working = f->get(id);
  CHECK(working.text("status") == "working");
  CHECK(working.result()["pollIntervalMs"].GetInt() == 10'000);
  CHECK(f->ask("cancel", id).text("resultType") == "complete");
  CHECK(f->update(id, R"({"1.who":{}})").text("resultType") == "complete");
  CHECK(f->get(id).text("status") == "working");
  f->clock.advance(86'400'000);
  CHECK(f->get(id).result()["pollIntervalMs"].GetInt() == 60'000);
  ended = true;
  const auto over = f->get(id);
  CHECK(over.text("status") == "completed");
  CHECK(find_string(over.result()["result"]["structuredContent"], "status") == "completed");

  for (const auto* what : {"get", "cancel", "update"})
    CHECK(f->ask(what, id, R"("inputResponses":{},)", kTasks, kOtherKey).code() == -32602);
  const auto asked = f->api.invoked.load();
  for (const auto& wrong :
       {std::string("wait-"), std::string("wait-1"), "wait--" + kWrite, "wait-01-" + kWrite, "wait-+1-" + kWrite,
        "wait--1-" + kWrite, "wait-99999999999999999999-" + kWrite, "wait-253402300800000-" + kWrite,
        "wait-1-" + kWrite + "x", std::string("wait-1-w_\\\" OR 1"), "wait-1-x" + kWrite, "Wait-1-" + kWrite, kWrite}) {
    INFO(wrong);
    RawClient client(f->port);
    const auto head = wrong.find('\\') == std::string::npos ? wrong : "wait-1-w_\" OR 1";
    CHECK(f->read(client.ask(f->request("tasks/get", R"("taskId":")" + wrong + "\",", head))).code() == -32602);
  }
  CHECK(f->api.invoked == asked);
  f->api.scripted = [](const Invocation&) {
    return InvocationResult{false, {}, R"({"type":"DatabaseError","message":"Not now."})"};
  };
  CHECK(f->get(id).code() == -32603);
}

TEST_CASE("Who listens for tasks hears of each as it stands and of its changes, of his own alone", "[mcp]") {
  TasksFixture f;
  const auto read = f.task().text("taskId");
  CHECK_THAT(f.read([&] {
                RawClient client(f.port);
                return client.ask(f.request("subscriptions/listen", R"("notifications":{"taskIds":["x"]},)", "", "{}"));
              }())
                 .message(),
             Catch::Contains("io.modelcontextprotocol/tasks"));
  const auto wait = mcp::task_id_of({kWrite, f.clock.wall_ms()});
  std::atomic<bool> ended{false};
  f.api.scripted = [&](const Invocation& call) {
    if (ended) return InvocationResult{true, R"({"status":"completed"})", {}};
    call.progress("The write waits.");
    return InvocationResult{false, {}, R"({"type":"Cancelled"})"};
  };
  auto listening = f.listens(R"([")" + read + R"(",")" + wait + R"(","read-1","x"])");
  REQUIRE(listening.hears(R"("taskIds":[")" + read + R"(",")" + wait + R"("]}})"));
  REQUIRE(listening.hears(R"("method":"notifications/tasks","params":{"_meta":)", 2));
  REQUIRE(listening.hears(R"("taskId":")" + read + R"(","status":"working")"));
  REQUIRE(listening.hears(R"("taskId":")" + wait + R"(","status":"working","statusMessage":"The write waits.)"));

  WriteRecord write;
  write.write_id = kWrite;
  write.agent_id = "agent_2";
  ended = true;
  f.gateway.on_write_changed()(write);  // another's
  write.agent_id = "agent_1";
  f.gateway.on_write_changed()(write);
  f.gateway.on_write_changed()(write);  // told once
  REQUIRE(listening.hears(R"("taskId":")" + wait + R"(","status":"completed")"));
  f.api.release();
  REQUIRE(listening.hears(R"("taskId":")" + read + R"(","status":"completed")"));
  REQUIRE(listening.hears("notifications/tasks", 4));
  auto late = f.listens(R"([")" + read + "\"]");
  REQUIRE(late.hears(R"("status":"completed")"));
}

TEST_CASE("What cannot be seen of a write just now is looked at once more", "[mcp]") {
  TasksFixture f;
  std::atomic<int> looks{0};
  f.api.scripted = [&](const Invocation&) {
    if (++looks < 3) return InvocationResult{false, {}, R"({"type":"DatabaseError","message":"Not now."})"};
    return InvocationResult{true, R"({"status":"completed"})", {}};
  };
  auto listening = f.listens(R"([")" + mcp::task_id_of({kWrite, 1}) + "\"]");
  REQUIRE(listening.hears("acknowledged"));
  for (int look = 1; look < 3; ++look) {
    while (looks < look || f.clock.waiters() == 0) std::this_thread::yield();
    f.clock.advance(Tasks::kPatienceMs);
  }
  REQUIRE(listening.hears(R"("status":"completed")"));
}

TEST_CASE("Whatever comes first, a task ends once") {
  struct Work final : mcp::TaskWork {
    std::atomic<int> ended{0}, answered{0}, looked{0};
    void take_answers(const mcp::ClientAnswers&) override { ++answered; }
    void look_again() override { ++looked; }
    void end_work() override { ++ended; }
  };
  DrivenClock clock;
  Tasks tasks(clock);
  for (int round = 0; round < 300; ++round) {
    const auto work = std::make_shared<Work>();
    const auto id = tasks.add("a", work, 0, "")->id;
    int ends = 0;
    const auto watch = tasks.watch("a", id, [&](const mcp::TaskView& task) { ends += mcp::has_ended(task.status); });
    std::thread client([&] {
      tasks.update("a", id, {});
      tasks.cancel("a", id);
    });
    std::thread asker([&] {
      tasks.ask(id, "{}");
      tasks.tell(id, "late");
    });
    tasks.look_again();
    tasks.end(id, std::string("{}"));
    client.join();
    asker.join();
    const auto status = tasks.get("a", id)->status;
    CHECK(ends == 1);
    CHECK(work->ended == (status == mcp::TaskStatus::kCancelled ? 1 : 0));
    CHECK(work.use_count() == 1);
    clock.advance(Tasks::kFetchedMs);
    while (tasks.size() > 0) std::this_thread::yield();
  }
}

}  // namespace KRUXOS_TEST_FILE
