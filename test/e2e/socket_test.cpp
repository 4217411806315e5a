// Agents over WebSockets.
#include "host/http/raw_web_socket.hpp"
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

std::string request(int id, const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

/// The next event that tells this status of a write, whatever comes before it; its write's id.
std::string await_status(RawWebSocket& socket, const std::string& status) {
  for (;;) {
    const auto text = socket.receive_text();
    REQUIRE_FALSE(text.empty());
    const auto told = parse(text);
    if (text_at(told, "/method") == "write.status" && text_at(told, "/params/status") == status)
      return text_at(told, "/params/write_id");
  }
}

}  // namespace

TEST_CASE("over a WebSocket an agent hears what becomes of its write, until its key ends") {
  Rig rig;
  rig.begin();
  RawWebSocket socket(rig.gateway_port(), "/rpc?token=" + rig.key);
  REQUIRE(socket.is_open());
  CHECK(text_at(parse(socket.ask(request(1, "events.subscribe", R"({"types":["write.status"],"prefix":"slack."})"))),
                "/result/prefix") == "slack.");
  socket.text(request(2, "capabilities.invoke",
                      R"({"capability":"slack.send","arguments":{"channel":"general","text":"Over a socket."}})"));
  std::string write_id;
  for (int i = 0; i < 2; ++i) {  // the answer and the event come in either order
    const auto said = parse(socket.receive_text());
    const auto id = text_at(said, number_at(said, "/id") == 2 ? "/result/data/write_id" : "/params/write_id");
    CHECK((write_id.empty() || write_id == id));
    write_id = id;
  }
  CHECK(rig.pass_time([&] { return rig.state(write_id) == "completed"; }));
  CHECK(await_status(socket, "completed") == write_id);
  CHECK(rig.posts_of("Over a socket.") == 1);
  rig.operate({"agent", "revoke", "assistant", "-y"});
  CHECK(socket.receive().code() == 1008);
  CHECK(rig.log().find(rig.key) == std::string::npos);
}

TEST_CASE("what happens while an agent's connection is lost is told when it comes back") {
  Rig rig;
  rig.begin();
  std::string heard, write_id;
  {
    RawWebSocket socket(rig.gateway_port(), "/rpc?token=" + rig.key);
    REQUIRE(socket.is_open());
    heard =
        text_at(parse(socket.ask(request(1, "events.subscribe", R"({"types":["write.status"]})"))), "/result/event_id");
    write_id = rig.invoke("slack.send", R"({"channel":"general","text":"While nobody hears."})").write_id();
  }
  CHECK(rig.pass_time([&] { return rig.state(write_id) == "completed"; }));
  RawWebSocket socket(rig.gateway_port(), "/rpc?token=" + rig.key);
  socket.text(request(1, "events.subscribe", R"({"types":["write.status"],"after":")" + heard + R"("})"));
  CHECK(await_status(socket, "completed") == write_id);
}

}  // namespace KRUXOS_TEST_FILE
