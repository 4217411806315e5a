#include "host/cli/mcp_bridge.hpp"

#include <fstream>

#include "host/cli/command_line.hpp"
#include "host/cli/fake_console.hpp"
#include "host/cli/gateway_client.hpp"
#include "host/cli/mcp_bridge_calls.hpp"
#include "host/gateway/gateway_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;
using krux::cli::GatewayClient;

namespace {

/// A bridge before a real gateway.
struct Bridged : Fixture {
  support::Scratch scratch;
  FakeConsole console;
  std::filesystem::path key_file = scratch.path() / "key";
  std::vector<std::string> more;  ///< arguments

  Bridged() { write_key(kKey + "\n", 0600); }
  void write_key(const std::string& text, mode_t mode) {
    std::ofstream(key_file, std::ios::trunc) << text;
    std::filesystem::permissions(key_file, std::filesystem::perms(mode));
  }
  int run(std::deque<std::string> lines, const std::string& url = {}) {
    console.lines = std::move(lines);
    std::vector<std::string> arguments{"mcp", "--key-file", key_file.string(), "--url",
                                       url.empty() ? "http://127.0.0.1:" + std::to_string(port) : url};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli::run_command(arguments, console, {}, {}, {});
  }
  void wait_for_invoked(int count) {
    for (int i = 0; i < 10'000 && api.invoked < count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  /// The line that answers the message with this id.
  JsonDocument answer(int id) {
    std::istringstream lines(console.out_text.str());
    for (std::string line; std::getline(lines, line);) {
      auto document = parse_json(line, "a line", {64u << 20, 64});
      if (find_int(document, "id") == id) return document;
    }
    FAIL("no answer to " << id << ": " << console.out_text.str());
    return {};
  }
};

const std::string kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})";

constexpr int kPlaces = 32;  // of messages that are under way at a time

std::string repeated_in_a_header(const std::string& value) {
  return R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientCapabilities":{}},"name":"notes__search","arguments":{"query":)" +
         value + "}}}";
}

std::string call(int id, const std::string& name) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" + name +
         "\"}}";
}

}  // namespace

TEST_CASE("A program that starts the bridge has a session, calls tools and ends it") {
  Bridged b;
  CHECK(
      b.run(
          {kInitialize, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", "",
           R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"notes__add","arguments":{"text":"x"}}})",
           R"({"jsonrpc":"2.0","id":3,"method":"tools/list"})"}) == 0);
  CHECK(find_string(b.answer(1)["result"], "protocolVersion") == "2025-06-18");
  CHECK(find_string(b.answer(2)["result"]["structuredContent"], "text") == "x");
  CHECK(b.answer(3)["result"]["tools"].IsArray());
  CHECK(b.api.last.capability == "notes.add");
  const auto text = b.console.out_text.str();
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("A stateless message travels with the head that its body asks for") {
  Bridged b;
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
  const std::string with_tasks =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)"
      R"({"extensions":{"io.modelcontextprotocol/tasks":{}}}})";
  CHECK(b.run({R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{)" + meta + "}}",
               R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{)" + meta +
                   R"(,"name":"n\u00e4 x","arguments":{}}})",
               R"({"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":"read-1",)" + with_tasks + "}}"}) ==
        0);
  CHECK(find_int(b.answer(3)["error"], "code") == -32602);  // its name stands in the head, and there is none
  CHECK(find_string(b.answer(1)["result"], "resultType") == "complete");
  CHECK(find_string(b.answer(2)["result"], "resultType") == "complete");
  CHECK(b.api.last.capability == "n\xc3\xa4 x");
}

TEST_CASE("Calls run side by side, and all are answered before the bridge ends") {
  Bridged b;
  std::deque<std::string> lines;
  for (int id = 1; id <= 6; ++id)
    lines.push_back(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                    R"(,"method":"tools/call","params":{"name":"wait"}})");
  std::thread releases([&] {
    b.api.wait_for_held(6);
    b.api.release();
  });
  CHECK(b.run(lines) == 0);
  releases.join();
  for (int id = 1; id <= 6; ++id) CHECK(find_bool(b.answer(id)["result"], "isError") == false);
}

TEST_CASE("A call that is taken back is not answered, and keeps nobody waiting, in either model") {
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
  for (const bool stateless : {false, true}) {
    Bridged b;
    std::deque<std::string> lines{kInitialize};
    if (stateless) lines.clear();
    lines.push_back(R"({"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"wait")" +
                    (stateless ? "," + meta : "") + "}}");
    lines.push_back(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}})");
    lines.push_back(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"quick")" +
                    (stateless ? "," + meta : "") + "}}");
    CHECK(b.run(lines) == 0);
    CHECK(find_bool(b.answer(3)["result"], "isError") == false);
    CHECK_THAT(b.console.out_text.str(), !Catch::Contains("\"id\":\"w\""));
    b.api.release();
  }
}

TEST_CASE("A bridge whose places are all taken hears a cancellation, which frees one for what waits") {
  for (const bool session : {false, true}) {
    Bridged b;
    std::deque<std::string> lines;
    if (session) lines.push_back(kInitialize);
    for (int id = 100; id < 100 + kPlaces; ++id) lines.push_back(call(id, "wait"));
    lines.push_back(call(2, "quick"));
    lines.push_back(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100}})");
    b.console.before_line = [&] {
      if (b.console.lines.size() == 1) b.api.wait_for_held(kPlaces);
      if (b.console.lines.empty()) b.wait_for_invoked(kPlaces + 1);
    };
    // So that it ends as well where nobody hears it.
    std::thread releases([&] {
      b.wait_for_invoked(kPlaces + 1);
      b.api.release();
    });
    CHECK(b.run(lines) == 0);
    releases.join();
    CHECK(b.api.invoked == kPlaces + 1);
    CHECK(find_bool(b.answer(2)["result"], "isError") == false);
    CHECK_THAT(b.console.out_text.str(), !Catch::Contains("\"id\":100,"));
    for (int id = 101; id < 100 + kPlaces; ++id) CHECK(b.answer(id).HasMember("result"));
  }
}

TEST_CASE("A call that waits behind others is taken out by a cancellation, and is not made") {
  Bridged b;
  std::deque<std::string> lines;
  for (int id = 100; id < 100 + kPlaces; ++id) lines.push_back(call(id, "wait"));
  lines.push_back(call(2, "quick"));
  lines.push_back(call(3, "quick"));
  lines.push_back(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  b.console.before_line = [&] {
    if (b.console.lines.size() == 3) b.api.wait_for_held(kPlaces);
    if (b.console.lines.empty()) b.api.release();
  };
  CHECK(b.run(lines) == 0);
  CHECK(b.api.invoked == kPlaces + 1);
  CHECK(b.answer(3).HasMember("result"));
  CHECK_THAT(b.console.out_text.str(), !Catch::Contains("\"id\":2,"));
}

TEST_CASE("Beyond what may wait a message is answered with what to do") {
  Bridged b;
  constexpr int kWaiting = 256;
  std::deque<std::string> lines;
  for (int id = 1000; id < 1000 + kPlaces; ++id) lines.push_back(call(id, "wait"));
  for (int id = 1; id <= kWaiting + 1; ++id) lines.push_back(call(id, "quick"));
  lines.push_back(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  b.console.before_line = [&] {
    if (b.console.lines.size() == kWaiting + 2) b.api.wait_for_held(kPlaces);
    if (b.console.lines.empty()) b.api.release();
  };
  CHECK(b.run(lines) == 0);
  CHECK(b.api.invoked == kPlaces + kWaiting);
  CHECK_THAT(std::string(find_string(b.answer(kWaiting + 1)["error"], "message").value_or("")),
             Catch::Contains("256 messages wait for the gateway already, or as many as have 16 MiB. Send it again"));
  CHECK(b.answer(kWaiting).HasMember("result"));
}

TEST_CASE("What waits for the gateway is bounded by its bytes as well") {
  using cli::BridgeCalls;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t begun = 0;
  bool open = false;
  BridgeCalls calls([&](const auto& message, const auto& call) {
    std::unique_lock lock(mutex);
    ++begun;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    lock.unlock();
    calls.forget(message, call);
  });
  const auto add = [&](std::size_t bytes, const std::string& id = "1") {
    return calls.add({.text = std::string(bytes, 'x'), .id_json = id});
  };
  // As much as may wait together: nobody knows how soon the first of them is taken.
  for (std::size_t i = 0; i < BridgeCalls::kAtOnce; ++i)
    REQUIRE(add(BridgeCalls::kMostWaitingBytes / BridgeCalls::kAtOnce));
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return begun == BridgeCalls::kAtOnce; });
  }
  // What is under way does not count. What is taken back gives its bytes free.
  CHECK_FALSE(add(BridgeCalls::kMostWaitingBytes + 1));
  CHECK(add(BridgeCalls::kMostWaitingBytes - 1, "7"));
  CHECK(add(1));
  CHECK_FALSE(add(1));
  CHECK(calls.take_back("7"));
  CHECK_FALSE(calls.take_back("7"));
  CHECK(add(BridgeCalls::kMostWaitingBytes - 1));
  CHECK_FALSE(add(1));
  {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  calls.finish();
  CHECK(begun == BridgeCalls::kAtOnce + 2);
}

TEST_CASE("What asks for no answer waits for no request under way, but for the session that is opened before it") {
  using cli::BridgeCalls;
  std::mutex mutex;
  std::condition_variable changed;
  std::string passed;  // what asks for no answer, and what opens
  std::size_t begun = 0;
  bool open = false, in_time = true;
  const auto wait_for = [&](const auto& what) {
    std::unique_lock lock(mutex);
    CHECK(changed.wait_for(lock, std::chrono::seconds(20), what));
  };
  BridgeCalls calls([&](const auto& message, const auto& call) {
    std::unique_lock lock(mutex);
    if (message.opens) changed.wait(lock, [&] { return open; });
    if (message.opens || message.id_json.empty()) passed += message.text;
    ++begun;
    changed.notify_all();
    // A call is answered when the client has answered what it asks. That it gives up some time lets the test end.
    if (!message.opens && !message.id_json.empty() &&
        !changed.wait_for(lock, std::chrono::seconds(20), [&] { return passed.ends_with("a"); }))
      in_time = false;
    lock.unlock();
    calls.forget(message, call);
  });
  REQUIRE(calls.add({.text = "o", .id_json = "0", .opens = true}));
  REQUIRE(calls.add({.text = "i"}));
  for (std::size_t i = 1; i <= BridgeCalls::kAtOnce + 1; ++i)
    REQUIRE(calls.add({.text = "call", .id_json = std::to_string(i)}));
  {
    const std::lock_guard lock(mutex);
    CHECK(passed.empty());
    open = true;
    changed.notify_all();
  }
  wait_for([&] { return begun == BridgeCalls::kAtOnce + 2; });
  REQUIRE(calls.add({.text = "a"}));
  wait_for([&] { return begun == BridgeCalls::kAtOnce + 4; });
  calls.finish();
  CHECK(passed == "oia");
  CHECK(in_time);
}

TEST_CASE("While a session is being opened the bridge reads on, and what follows waits for it") {
  Bridged b;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> asked;  // the bodies, each with its session
  Respond open;
  HttpServer gateway(1);
  const auto at = gateway.listen_tcp("127.0.0.1", 0, [&](const ServerRequest& request, const Respond& respond) {
    const std::lock_guard lock(mutex);
    if (request.method != "POST") return respond({.status = 405});
    const auto session = std::string(request.header("mcp-session-id").value_or("none"));
    asked.push_back(session + " " + request.body);
    changed.notify_all();
    if (request.body == kInitialize) {
      open = respond;
      return;
    }
    respond({.body = R"({"jsonrpc":"2.0","id":3,"result":{}})"});
  });
  b.console.before_line = [&] {
    if (!b.console.lines.empty()) return;
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return open != nullptr; });
    CHECK(asked.size() == 1);
    ServerResponse opened{.body = R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}})"};
    opened.headers.emplace_back("Mcp-Session-Id", "s1");
    open(std::move(opened));
  };
  const auto cancelled = [](int id) {
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(id) + "}}";
  };
  // Taken back are what waits for the session, and not what opens it.
  CHECK(b.run({kInitialize, call(2, "x"), cancelled(2), cancelled(1), call(3, "x")},
              "http://127.0.0.1:" + std::to_string(at.port)) == 0);
  CHECK(find_string(b.answer(1)["result"], "protocolVersion") == "2025-06-18");
  CHECK(b.answer(3).HasMember("result"));
  REQUIRE(asked.size() >= 2);
  CHECK(asked[0] == "none " + kInitialize);
  for (std::size_t i = 1; i < asked.size(); ++i) {
    CHECK(asked[i].starts_with("s1 "));
    CHECK(asked[i] != "s1 " + call(2, "x"));
  }
}

TEST_CASE("What is told of a call comes before its answer") {
  Bridged b;
  std::thread releases([&] {
    b.api.wait_for_held(1);
    b.api.last.tell("It waits.");
    b.api.release();
  });
  CHECK(
      b.run(
          {kInitialize,
           R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":"p"}}})"}) ==
      0);
  releases.join();
  const auto text = b.console.out_text.str();
  const auto told = text.find(R"("progressToken":"p","progress":1,"message":"It waits.")");
  REQUIRE(told != std::string::npos);
  CHECK(told < text.find("\"id\":2,"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("What keeps the gateway from answering stands in the answer") {
  Bridged b;
  CHECK(b.run({"{", kInitialize}, "http://127.0.0.1:1") == 0);
  CHECK_THAT(b.console.out_text.str(), Catch::Contains("-32700"));
  CHECK_THAT(std::string(*find_string(b.answer(1)["error"], "message")), Catch::Contains("does not answer on port 1"));
  Bridged other;
  other.write_key(kWrongKey, 0600);
  CHECK(other.run({kInitialize}) == 0);
  CHECK_THAT(std::string(*find_string(other.answer(1)["error"], "message")),
             Catch::Contains("A valid agent key is needed"));
}

TEST_CASE("A key that others can read, or that is none, is refused with what to do") {
  Bridged b;
  b.write_key(kKey, 0644);
  CHECK(b.run({}) == cli::kUsage);
  CHECK_THAT(b.console.err_text.str(), Catch::Contains("chmod 600"));
  for (const auto& text : {std::string(), std::string("abc"), kKey + "0", std::string(64, 'g')}) {
    Bridged one;
    one.write_key(text, 0600);
    CHECK(one.run({}) == cli::kUsage);
    CHECK_THAT(one.console.err_text.str(), Catch::Contains("64 hexadecimal digits"));
  }
  Bridged none;
  std::filesystem::remove(none.key_file);
  CHECK(none.run({}) == cli::kUsage);
}

TEST_CASE("A key goes to a gateway on this machine only") {
  for (const auto* url : {"http://10.0.0.1:7700", "https://127.0.0.1:7700", "http://127.0.0.1", "http://127.0.0.1:x",
                          "http://127.0.0.1:0", "http://example.com:7700", "http://localhost.example.com:80",
                          "127.0.0.1:7700", "", "http://"}) {
    CAPTURE(url);
    CHECK_THROWS_AS(GatewayClient(url, kKey), cli::CliError);
  }
  for (const auto* url : {"http://127.0.0.1:7700", "http://localhost:7700/", "http://[::1]:7700"}) {
    CAPTURE(url);
    CHECK_NOTHROW(GatewayClient(url, kKey));
  }
}

TEST_CASE("The bridge asks for the tools that it is told to show") {
  Bridged b;
  b.more = {"--tools", "notes"};
  const std::string list = R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})";
  CHECK(b.run({kInitialize, list}) == 0);
  CHECK(b.answer(2)["result"]["tools"].IsArray());
  Bridged other;
  other.more = {"--tools", "nots"};
  CHECK(other.run({kInitialize, list}) == 0);
  CHECK_THAT(std::string(find_string(other.answer(2)["error"], "message").value_or("")),
             Catch::Contains("no profile of tools \"nots\""));
  Bridged bad;
  bad.more = {"--tools", "a&b"};
  CHECK(bad.run({}) == cli::kUsage);
}

TEST_CASE("A header's value that cannot stand there is Base64") {
  CHECK(cli::header_value("notes__add") == "notes__add");
  CHECK(cli::header_value("a b") == "=?base64?YSBi?=");
  CHECK(cli::header_value("=?base64?x?=") == "=?base64?PT9iYXNlNjQ/eD89?=");
}

TEST_CASE("What a tool wants repeated in a header the bridge repeats") {
  for (const char* value : {R"("eu")", R"(" Größe ")"}) {
    Bridged b;
    InputDefinition query;
    query.name = "query";
    query.header = "Query";
    b.api.inputs_in_headers = {query};
    CHECK(b.run({repeated_in_a_header(value)}) == 0);
    CHECK(b.answer(5).HasMember("result"));
    CHECK(b.api.invoked == 1);
  }
}

}  // namespace KRUXOS_TEST_FILE
