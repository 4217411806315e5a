// For the tests of answers in parts: a server that gives them, and signals from thread to thread.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/util/clock.hpp"
#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"

namespace krux::test {

using Stream = std::shared_ptr<ResponseStream>;

/// Set by one thread, awaited by another. Copies are the same signal.
class Signal {
 public:
  void set() const {
    const std::lock_guard lock(state_->mutex);
    ++state_->times;
    state_->changed.notify_all();
  }
  std::function<void()> setter() const {
    return [copy = *this] { copy.set(); };
  }
  void wait() const {
    std::unique_lock lock(state_->mutex);
    REQUIRE(state_->changed.wait_for(lock, std::chrono::seconds(20), [&] { return state_->times > 0; }));
  }
  int times() const {
    const std::lock_guard lock(state_->mutex);
    return state_->times;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int times = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// The streams that were opened, in the order of their requests' answers, and those who wait for an answer at all.
struct Opened {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Stream> streams;

  bool no_more = false;  ///< come
  std::deque<Respond> waiting;

  Respond take_waiting() {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return !waiting.empty(); }));
    auto respond = std::move(waiting.front());
    waiting.pop_front();
    return respond;
  }

  Stream take() {
    auto stream = take_any();
    REQUIRE(stream);
    return stream;
  }
  /// Null when no more come.
  Stream take_any() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(20), [&] { return !streams.empty() || no_more; });
    if (streams.empty()) return nullptr;
    auto stream = std::move(streams.front());
    streams.pop_front();
    return stream;
  }
  void wait(const Respond& respond) {
    const std::lock_guard lock(mutex);
    waiting.push_back(respond);
    changed.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex);
    no_more = true;
    changed.notify_all();
  }
};

/// A server where "/stream" is answered in parts, by the test, "/later" by the test as well, and the others at once.
struct Streaming {
  const std::shared_ptr<Opened> opened = std::make_shared<Opened>();
  DrivenClock clock;
  std::optional<HttpServer> server;
  std::uint16_t port = 0;

  explicit Streaming(HttpLimits limits = {}, const std::optional<TlsFiles>& tls = std::nullopt,
                     const Admission& admission = {}, int threads = 1) {
    server.emplace(threads, HttpServer::Begin::kAtOnce, &clock, HttpServer::Handlers::kTakeTime);
    port = server
               ->listen_tcp(
                   "127.0.0.1", 0,
                   [opened = opened](const ServerRequest& request, const Respond& respond) {
                     if (request.path == "/later") return opened->wait(respond);
                     ServerResponse response;
                     response.content_type = "text/event-stream";
                     response.body = request.path + " " + request.body;
                     if (request.path == "/stream") response.stream = keep(opened);
                     respond(std::move(response));
                   },
                   limits, tls, admission)
               .port;
  }
  static std::function<void(Stream)> keep(std::shared_ptr<Opened> opened) {
    return [opened = std::move(opened)](Stream stream) {
      const std::lock_guard lock(opened->mutex);
      opened->streams.push_back(std::move(stream));
      opened->changed.notify_all();
    };
  }
  /// The stream of a request that `client` sends now; its head has come.
  Stream open(RawClient& client, std::string_view request = "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n") {
    client.send(request);
    CHECK(client.receive().status == 200);
    return opened->take();
  }
  /// Lets the time go by until that is so.
  void until(const std::function<bool()>& is_so) {
    for (int i = 0; i < 20'000 && !is_so(); ++i) {
      clock.advance(100);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(is_so());
  }
};

/// Exactly those bytes come next.
inline void expect(RawClient& client, const std::string& bytes) {
  CHECK(client.receive_bytes(bytes.size()) == bytes);
}

}  // namespace krux::test
