#include "host/gateway/agent_events.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// A client that goes when the test says so.
class Client final : public ResponseStream {
 public:
  bool send(std::string_view bytes) override {
    if (!gone_) heard.emplace_back(bytes);
    return !gone_;
  }
  void end_with(std::string_view) override {}
  void when_gone(std::function<void()> gone) override { told_ = std::move(gone); }
  void go() {
    gone_ = true;
    told_();
  }
  /// The writes of what it has heard, and forgets them.
  std::string writes() {
    std::string all;
    for (const auto& text : heard) {
      const auto event = parse_json(text, "an event");
      all.append(find_string(event["params"], "write_id").value_or("")).append(" ");
    }
    heard.clear();
    return all;
  }
  std::vector<std::string> heard;

 private:
  bool gone_ = false;
  std::function<void()> told_;
};

struct Fixture {
  DrivenClock clock;
  std::shared_ptr<AgentEvents> events = std::make_shared<AgentEvents>(clock);

  std::shared_ptr<Client> client() { return std::make_shared<Client>(); }
  void happens(const std::string& write_id, std::size_t bytes = 0) {
    WriteRecord write;
    write.agent_id = "agent_1";
    write.write_id = write_id;
    write.operation = "chat.send" + std::string(bytes, 'x');
    events->write_changed(write);
  }
  bool goes_on(const std::shared_ptr<Client>& to, const std::string& event_id) {
    return events->go_on("agent_1", to, event_id).has_value();
  }
  static std::string numbered(const std::string& first, int number) {
    return first.substr(0, first.size() - 1) + std::to_string(number);
  }
};

}  // namespace

TEST_CASE("events that were missed are told once, in their order, to whoever goes on", "[gateway]") {
  Fixture f;
  auto first = f.client(), second = f.client(), third = f.client();
  const auto begin = f.events->subscribe("agent_1", first, {true, false, false, "chat."}).event_id;
  f.happens("a");
  f.happens("b");
  CHECK(first->writes() == "a b ");
  first->go();
  f.happens("c");
  REQUIRE(f.goes_on(second, f.numbered(begin, 1)));
  CHECK(second->writes() == "b c ");
  f.happens("d");
  CHECK(second->writes() == "d ");
  // It need not have been lost: a client notices first.
  REQUIRE(f.goes_on(third, f.numbered(begin, 4)));
  f.happens("e");
  CHECK(third->writes() == "e ");
  CHECK(second->writes().empty());
  second->go();  // nobody's any more
  f.happens("f");
  CHECK(third->writes() == "f ");
  // On the connection that it has.
  REQUIRE(f.goes_on(third, f.numbered(begin, 5)));
  f.happens("g");
  CHECK(third->writes() == "f g ");
}

TEST_CASE("nobody goes on with what is not his, not kept any more, or not whole", "[gateway]") {
  Fixture f;
  auto first = f.client(), second = f.client();
  const auto begin = f.events->subscribe("agent_1", first, {}).event_id;
  f.happens("a");
  CHECK_FALSE(f.events->go_on("agent_2", second, begin));
  for (const auto* bad : {"", "events-", "events-0", "events--0", "answer-1-0", "events-ffffffffffffffffffffffff-0"})
    CHECK_FALSE(f.goes_on(second, bad));
  for (const auto* number : {"", "-1", "2", "x", "1x", "18446744073709551615", "18446744073709551616"})
    CHECK_FALSE(f.goes_on(second, begin.substr(0, begin.size() - 1) + number));
  f.happens("b", 50'000);
  f.happens("c", 50'000);
  CHECK_FALSE(f.goes_on(second, f.numbered(begin, 1)));
  CHECK(f.goes_on(second, f.numbered(begin, 2)));
  CHECK(second->writes() == "c ");
  second->go();
  f.clock.advance(AgentEvents::kKeptMs - 1);
  REQUIRE(f.goes_on(second, f.numbered(begin, 3)));
  second->go();
  f.clock.advance(AgentEvents::kKeptMs);
  CHECK_FALSE(f.goes_on(first, f.numbered(begin, 3)));
}

TEST_CASE("of an agent's lost connections the newest are kept", "[gateway]") {
  Fixture f;
  std::vector<std::string> begun;
  auto stays = f.client(), other = f.client();
  const auto kept = f.events->subscribe("agent_1", stays, {}).event_id;
  const auto others = f.events->subscribe("agent_2", other, {}).event_id;
  other->go();
  for (std::size_t i = 0; i <= AgentEvents::kLostPerAgent; ++i) {
    auto one = f.client();
    begun.push_back(f.events->subscribe("agent_1", one, {}).event_id);
    f.clock.advance(1);
    one->go();
  }
  CHECK_FALSE(f.goes_on(f.client(), begun[0]));
  for (std::size_t i = 1; i < begun.size(); ++i) CHECK(f.goes_on(f.client(), begun[i]));
  CHECK(f.events->go_on("agent_2", f.client(), others));
  f.happens("a");
  CHECK(stays->writes() == "a ");
}

TEST_CASE("who subscribes anew on his connection hears nothing of what he heard before", "[gateway]") {
  Fixture f;
  auto client = f.client();
  const auto before = f.events->subscribe("agent_1", client, {true, false, false, "chat."}).event_id;
  f.events->subscribe("agent_1", client, {true, false, false, "notes."});
  f.happens("a");
  f.events->capabilities_changed();
  CHECK(client->heard.empty());
  CHECK_FALSE(f.goes_on(f.client(), before));
}

}  // namespace KRUXOS_TEST_FILE
