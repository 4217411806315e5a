#include "core/net/side_by_side.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <numeric>
#include <set>

namespace KRUXOS_TEST_FILE {

using krux::SideBySide;

namespace {

/// Lets nobody on before `wanted` are there together.
class Meeting {
 public:
  explicit Meeting(std::size_t wanted) : wanted_(wanted) {}
  void join() {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++there_);
    changed_.notify_all();
    changed_.wait(lock, [&] { return most_ >= wanted_; });
    --there_;
  }
  std::size_t most() const { return most_; }

 private:
  const std::size_t wanted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t there_ = 0, most_ = 0;
};

}  // namespace

TEST_CASE("as many run side by side as asked, each once") {
  const std::size_t width = GENERATE(1U, 4U);
  SideBySide pool(width);
  for (int round = 0; round < 3; ++round) {
    Meeting meeting(width);
    std::vector<std::atomic<int>> calls(20);
    pool.run(calls.size(), [&](std::size_t i) {
      meeting.join();
      ++calls[i];
    });
    CHECK(meeting.most() == width);
    for (const auto& count : calls) CHECK(count == 1);
  }
}

TEST_CASE("threads are kept, and started only for what there is to do") {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  const auto note = [&](std::size_t) {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  };
  SideBySide pool(3);
  for (int i = 0; i < 100; ++i) pool.run(1, note);
  CHECK(seen == std::set{std::this_thread::get_id()});
  for (int i = 0; i < 200; ++i) pool.run(10, note);
  CHECK(seen.size() <= 3);
  pool.run(0, [](std::size_t) {});
}

TEST_CASE("helpers that another run holds up hold up nobody else") {
  SideBySide pool(4);
  std::promise<void> opened;
  const auto open = opened.get_future().share();
  Meeting all(5);
  std::atomic<int> ended = 0;
  std::thread blocked([&] {
    pool.run(4, [&](std::size_t) {
      all.join();
      open.wait();
      ++ended;
    });
  });
  all.join();  // all four are in it
  std::atomic<int> done = 0;
  pool.run(50, [&](std::size_t) { ++done; });
  CHECK(done == 50);
  CHECK(ended == 0);
  opened.set_value();
  blocked.join();
  CHECK(ended == 4);
}

TEST_CASE("several threads run at once, and each has its own work done when it returns") {
  SideBySide pool(4);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        std::vector<int> filled(1 + static_cast<std::size_t>(round) % 7);
        pool.run(filled.size(), [&](std::size_t i) { filled[i] = 1; });
        if (std::accumulate(filled.begin(), filled.end(), 0) != static_cast<int>(filled.size())) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

}  // namespace KRUXOS_TEST_FILE
