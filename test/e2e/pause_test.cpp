// An operator pauses agents, over the host's end.
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

bool is_paused(const Answer& answer) {
  return answer.error() == "PolicyDenied" && bool_at(answer.document, "/result/error/context/paused");
}

}  // namespace

TEST_CASE("a paused agent is refused and its writes are held, over a kill of the host, until it is resumed") {
  Rig rig;
  rig.begin();
  const auto other = rig.new_agent("other");
  const auto held = rig.send("of one who is paused").write_id();
  const auto kept = rig.invoke_as(other, "slack.send", R"({"channel":"general","text":"another's"})").write_id();
  rig.operate({"agent", "pause", "assistant", "--reason", "Too many posts."});
  const auto refused = rig.invoke("slack.channels");
  INFO(text_of(refused.document));
  CHECK(is_paused(refused));
  CHECK(refused.message().find("Too many posts.") != std::string::npos);
  CHECK(is_paused(rig.send("while it is paused")));
  CHECK(rig.invoke("proxy.list_writes").size("/writes") == 1);
  CHECK(rig.invoke("agent.whoami").text("/paused/reason") == "Too many posts.");
  const auto upload =
      http_request(rig.gateway_port(), "POST", "/uploads?filename=a.txt",
                   {{"authorization", "Bearer " + rig.key}, {"content-type", "text/plain"}}, "not taken");
  CHECK(upload.status == 403);
  CHECK(rig.pass_time([&] { return rig.state(kept) == "completed"; }));
  CHECK(number_at(rig.operate({"status"}), "/agents_paused") == 1);

  rig.host().signal(SIGKILL);
  rig.await_end();
  rig.start();
  CHECK(is_paused(rig.send("after the kill")));
  CHECK(text_at(rig.operate({"agent", "show", "assistant"}), "/agent/paused/reason") == "Too many posts.");
  rig.advance(3'600'000);
  CHECK(rig.state(held) == "buffered");
  CHECK(rig.posts_of("of one who is paused") == 0);

  rig.operate({"agent", "resume", "assistant"});
  CHECK(rig.invoke("slack.channels").ok());
  CHECK(rig.pass_time([&] { return rig.state(held) == "completed"; }));
  CHECK(rig.posts_of("of one who is paused") == 1);
  CHECK(rig.posts_of("another's") == 1);
  CHECK(rig.posts_of("while it is paused") == 0);
  const auto paused = rig.operate({"audit", "query", "--kind", "agent.paused", "--agent", "assistant"});
  const auto resumed = rig.operate({"audit", "query", "--kind", "agent.resumed", "--agent", "assistant"});
  CHECK(size_at(paused, "/rows") == 1);
  CHECK(size_at(resumed, "/rows") == 1);
  CHECK(rig.kruxos({"--json", "agent", "pause", "nobody"}).status.code == 4);
  CHECK(rig.kruxos({"agent", "pause"}).status.code == 2);
}

TEST_CASE("all agents are paused together, also one that is made later") {
  Rig rig;
  rig.begin();
  const auto held = rig.send("held with all").write_id();
  rig.operate({"agent", "pause", "--all"});
  const auto later = rig.new_agent("later");
  CHECK(is_paused(rig.invoke("slack.channels")));
  CHECK(is_paused(rig.invoke_as(later, "slack.channels")));
  rig.operate({"agent", "pause", "later"});
  rig.operate({"agent", "resume", "assistant"});
  CHECK(is_paused(rig.invoke("slack.channels")));
  rig.advance(600'000);
  CHECK(rig.state(held) == "buffered");
  const auto resumed = rig.operate({"agent", "resume", "--all"});
  CHECK(number_at(resumed, "/agents_paused") == 1);
  CHECK(rig.invoke("slack.channels").ok());
  CHECK(is_paused(rig.invoke_as(later, "slack.channels")));
  CHECK(rig.pass_time([&] { return rig.state(held) == "completed"; }));
  CHECK(rig.posts_of("held with all") == 1);
}

}  // namespace KRUXOS_TEST_FILE
