// For the tests of WebSockets: a server that has them, and a user that the test scripts.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "host/http/raw_web_socket.hpp"
#include "host/http/response_stream_fixture.hpp"
#include "host/http/web_socket_handshake.hpp"

namespace krux::test {

/// What the users of all WebSockets share.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Stream> opened;
  std::map<std::string, SocketReply> held;  ///< by message: those that begin with "hold" are answered by the test
  std::atomic<bool> goes_on{true};
  std::atomic<std::size_t> room{SIZE_MAX};  ///< for one message
  std::atomic<int> taken{0}, users{0};

  Stream take_opened() {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return !opened.empty(); }));
    auto stream = std::move(opened.front());
    opened.pop_front();
    return stream;
  }
  SocketReply take_held(const std::string& message) {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return held.count(message) > 0; }));
    auto reply = std::move(held[message]);
    held.erase(message);
    return reply;
  }
};

/// Answers a message with itself, "none" with nothing, "big" with 20 MB.
class ScriptedUser final : public SocketUser {
 public:
  explicit ScriptedUser(std::shared_ptr<Script> script) : script_(std::move(script)) { ++script_->users; }
  ~ScriptedUser() override { --script_->users; }
  ScriptedUser(const ScriptedUser&) = delete;
  ScriptedUser& operator=(const ScriptedUser&) = delete;

  void opened(std::shared_ptr<ResponseStream> out) override {
    const std::lock_guard lock(script_->mutex);
    script_->opened.push_back(std::move(out));
    script_->changed.notify_all();
  }
  bool goes_on() override { return script_->goes_on; }
  bool make_room(std::shared_ptr<MemoryShare>&, std::size_t bytes) override {
    return (kept_ += bytes) <= script_->room;
  }
  SocketMessage without_room() override {
    kept_ = 0;
    return {"no room", nullptr, true};
  }
  void take(SocketMessage message, const SocketReply& reply) override {
    kept_ = 0;
    ++script_->taken;
    if (message.text.starts_with("hold")) {
      const std::lock_guard lock(script_->mutex);
      script_->held[message.text] = reply;
      script_->changed.notify_all();
    } else if (message.text == "big") {
      std::string big;
      big.resize(20'000'000, 'b');
      reply({std::move(big), message.memory});
    } else if (message.text == "none") {
      reply({});
    } else if (message.text != "never") {
      reply({std::move(message.text), message.memory});
    }
  }

 private:
  const std::shared_ptr<Script> script_;
  std::atomic<std::size_t> kept_{0};
};

/// A server whose path "/" is a WebSocket; others are answered at once. Everybody who names himself in a header "agent"
/// has a key.
struct Sockets {
  const std::shared_ptr<Script> script = std::make_shared<Script>();
  DrivenClock clock;
  std::optional<HttpServer> server;
  HttpServer::Bound bound;
  std::uint16_t port = 0;

  explicit Sockets(HttpLimits limits = {}, const std::optional<TlsFiles>& tls = std::nullopt,
                   HttpServer::Handlers handlers = HttpServer::Handlers::kTakeTime) {
    limits.idle_ms = 8;  // of other connections: so that deadlines are looked at every millisecond
    server.emplace(1, HttpServer::Begin::kAtOnce, &clock, handlers);
    const auto serve = [script = script](const ServerRequest& request, const Respond& respond) {
      if (!asks_for_web_socket(request) || request.path != "/") return respond({.body = request.path + request.body});
      if (auto refused = why_no_web_socket(request)) return respond(*std::move(refused));
      const bool chat = offers_protocol(request, "chat");
      respond(accept_web_socket(request, chat ? "chat" : "", std::make_shared<ScriptedUser>(script)));
    };
    const auto admit = [](const ServerRequest& head) -> std::variant<Admitted, Refused> {
      return Admitted{std::string(head.header("agent").value_or(""))};
    };
    bound = server->listen_tcp("127.0.0.1", 0, serve, limits, tls, admit);
    port = bound.port;
  }
  /// Lets the time go by until that is so.
  void until(const std::function<bool()>& is_so, std::int64_t step_ms = 100) {
    for (int i = 0; i < 20'000 && !is_so(); ++i) {
      clock.advance(step_ms);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(is_so());
  }
};

}  // namespace krux::test
