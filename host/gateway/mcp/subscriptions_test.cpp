#include "host/gateway/mcp/subscriptions.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace KRUXOS_TEST_FILE {

using namespace krux::mcp;

namespace {

struct Rig {
  std::vector<std::string> told;
  bool heard = true;
  std::map<std::string, std::function<void()>> changed;  ///< by address
  int watched = 0;
  Subscriptions subscriptions{[this](const std::string& session, const std::string& uri) {
    if (heard) told.push_back(session + " " + uri);
    return heard;
  }};

  bool add(const std::string& session, const std::string& uri, const std::string& agent = "a") {
    return subscriptions.add(agent, session, uri, [this, uri](std::function<void()> then) {
      changed[uri] = std::move(then);
      ++watched;
      return std::shared_ptr<void>(nullptr, [this](void*) { --watched; });
    });
  }
  std::vector<std::string> take() { return std::exchange(told, {}); }
};

}  // namespace

TEST_CASE("A session is told of the resources that it has subscribed to, as long as it has") {
  Rig rig;
  CHECK((rig.add("s1", "n:1") && rig.add("s1", "n:1") && rig.add("s1", "n:2")));
  CHECK(rig.watched == 2);
  rig.changed["n:1"]();
  CHECK(rig.take() == std::vector<std::string>{"s1 n:1"});
  rig.subscriptions.remove("s1", "n:1");
  rig.subscriptions.remove("s1", "n:9");
  rig.subscriptions.remove("s9", "n:1");
  rig.changed["n:1"]();  // which was under way
  CHECK(rig.take().empty());
  rig.subscriptions.end("s1");
  CHECK((rig.watched == 0 && rig.subscriptions.size() == 0));
  rig.changed["n:2"]();
  CHECK(rig.take().empty());
}

TEST_CASE("What nobody heard is told once, when somebody of the session listens") {
  Rig rig;
  rig.add("s1", "n:1");
  rig.add("s2", "n:1");
  rig.heard = false;
  for (int i = 0; i < 5; ++i) rig.changed["n:1"]();
  rig.heard = true;
  rig.subscriptions.listens("s1");  // it has another one's watch
  CHECK(rig.take().empty());
  rig.subscriptions.listens("s2");
  CHECK(rig.take() == std::vector<std::string>{"s2 n:1"});
  rig.subscriptions.listens("s2");
  CHECK(rig.take().empty());
}

TEST_CASE("Subscriptions are bounded in each session, and an agent's sessions that have some") {
  Rig rig;
  for (std::size_t i = 0; i < Subscriptions::kPerSession; ++i) CHECK(rig.add("s0", "n:" + std::to_string(i)));
  CHECK_FALSE(rig.add("s0", "n:more"));
  for (std::size_t i = 1; i <= Subscriptions::kPerAgent; ++i) CHECK(rig.add("s" + std::to_string(i), "n:1"));
  CHECK(rig.subscriptions.size() == Subscriptions::kPerAgent);  // those of s0, the oldest, are gone
  CHECK(rig.add("other", "n:1", "b"));
  CHECK(rig.subscriptions.size() == Subscriptions::kPerAgent + 1);
  CHECK(rig.watched == static_cast<int>(rig.subscriptions.size()));
}

}  // namespace KRUXOS_TEST_FILE
