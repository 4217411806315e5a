#include "host/runner/frame_channel.hpp"

#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct Pair {
  int ends[2];
  Pair() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0); }
};

}  // namespace

TEST_CASE("many threads send whole frames, and one that reads late gets them all") {
  const Pair pair;
  FrameChannel ours(pair.ends[0]), theirs(pair.ends[1]);
  constexpr int kThreads = 4, kFrames = 200;
  std::vector<std::thread> senders;
  std::atomic<int> refused{0};
  for (int t = 0; t < kThreads; ++t) {
    senders.emplace_back([&ours, &refused, t] {
      for (int i = 0; i < kFrames; ++i) {
        const auto number = static_cast<std::uint64_t>(i);
        const std::string payload(3000, static_cast<char>('a' + t));
        if (!ours.send(FrameKind::kPart, static_cast<std::uint64_t>(t), number, payload)) ++refused;
      }
    });
  }
  for (auto& sender : senders) sender.join();  // none of them has waited for the reader
  CHECK(refused == 0);
  std::vector<std::uint64_t> next(kThreads, 0);
  int got = 0;
  std::thread flusher([&] {
    while (ours.pump(-1, {}, [](const Frame&) {})) {
    }
  });
  while (got < kThreads * kFrames) {
    REQUIRE(theirs.pump(5000, {}, [&](const Frame& frame) {
      CHECK(frame.request == next[frame.call]++);
      CHECK(frame.payload == std::string(3000, static_cast<char>('a' + frame.call)));
      ++got;
    }));
  }
  theirs.shut();
  flusher.join();
}

TEST_CASE("a frame of the largest size passes") {
  const Pair pair;
  FrameChannel ours(pair.ends[0]), theirs(pair.ends[1]);
  const std::string payload(kLargestFrame - 17, 'z');
  bool got = false;
  REQUIRE(ours.send(FrameKind::kReturned, 1, 2, payload));
  while (!got) {
    REQUIRE(ours.pump(0, {}, [](const Frame&) {}));
    REQUIRE(theirs.pump(0, {}, [&](const Frame& frame) { got = frame.payload == payload; }));
  }
}

TEST_CASE("a peer that is gone, or takes nothing, ends the channel") {
  const Pair gone;
  FrameChannel ours(gone.ends[0]);
  close(gone.ends[1]);
  CHECK_FALSE(ours.pump(1000, {}, [](const Frame&) {}));
  CHECK_FALSE(ours.send(FrameKind::kCall, 1, 0, "x"));

  const Pair deaf;
  FrameChannel speaker(deaf.ends[0]), listener(deaf.ends[1]);
  int sent = 0;
  while (sent < 1000 && speaker.send(FrameKind::kCall, 1, 0, std::string(1 << 20, 'x'))) ++sent;
  CHECK(sent >= 60);
  CHECK(sent < 100);
  CHECK_FALSE(speaker.send(FrameKind::kCall, 1, 0, "x"));
}

TEST_CASE("bytes that are no frame end the pump") {
  const Pair pair;
  FrameChannel ours(pair.ends[0]);
  const Descriptor theirs(pair.ends[1]);
  REQUIRE(::send(theirs.get(), "GET / HTTP/1.1\r\n\r\n", 18, 0) == 18);
  CHECK_THROWS_AS(ours.pump(1000, {}, [](const Frame&) {}), BadFrame);
}

}  // namespace KRUXOS_TEST_FILE
