// What an event loop waits for awake, and what it sleeps for.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "host/http/loop_wait.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// The time goes on by `step` whenever it is read. At its `arrives`-th reading something comes for the loop.
struct Driven {
  static inline std::int64_t now = 0, step = 0;
  static inline int reads = 0, awake = 0, arrives = 0, free = 0;
  static inline boost::asio::io_context* context = nullptr;
  static inline std::atomic<int>* places = nullptr;

  static std::int64_t read() {
    now += step;
    awake += *places != free;  // whoever is awake has taken a place
    if (++reads == arrives) boost::asio::post(*context, [] {});
    return now;
  }
};

struct Loop {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  std::atomic<int> places;
  LoopWait wait{places, Driven::read};

  explicit Loop(int free = 1) : places(free) {
    Driven::context = &context;
    Driven::places = &places;
    Driven::free = free;
  }
  /// How often it looked at the time while it was awake, until it made a step; 0: it slept at once.
  int looks(std::int64_t step_us, int arrives) {
    Driven::step = step_us * 1000;
    Driven::reads = Driven::awake = 0;
    Driven::arrives = arrives;
    wait.run_one(context);
    return Driven::awake;
  }
};

}  // namespace

TEST_CASE("a loop waits awake for who asks again at once, and sleeps for all others") {
  Loop loop;
  CHECK(loop.looks(1000, 1) == 0);  // at first it sleeps; what came took a millisecond
  CHECK(loop.looks(10, 1) == 0);    // so it sleeps again, but that came soon
  CHECK(loop.looks(10, 8) == 7);    // so the next is waited for awake, and is seen when it comes
  CHECK(loop.looks(10, 12) == 11);
  CHECK(Driven::reads == 12);
  // Nothing comes within 150 us: it sleeps, and sleeps at once the next time.
  CHECK(loop.looks(10, 16) == 15);
  CHECK(Driven::reads == 17);
  CHECK(loop.looks(10, 1) == 0);
  CHECK(loop.places == 1);
}

TEST_CASE("what is there already is not waited for, and says nothing about what comes next") {
  Loop loop;
  CHECK(loop.looks(10, 1) == 0);
  boost::asio::post(loop.context, [] {});
  CHECK(loop.looks(1000, 0) == 0);
  CHECK(Driven::reads == 0);
  CHECK(loop.looks(10, 5) == 4);  // awake still
}

TEST_CASE("of all loops some are awake at a time, and one processor is for the clients") {
  Loop loop(0);
  CHECK(loop.looks(10, 1) == 0);  // it came soon
  CHECK(loop.looks(10, 1) == 0);  // but there is no place: it sleeps
  CHECK(loop.places == 0);
  CHECK(LoopWait::places_of_process() < static_cast<int>(std::max(2u, std::thread::hardware_concurrency())));
}

TEST_CASE("a loop that is stopped is not waited for") {
  Loop loop;
  CHECK(loop.looks(10, 1) == 0);
  loop.context.stop();
  CHECK(loop.looks(10, 0) == 0);
}

}  // namespace KRUXOS_TEST_FILE
