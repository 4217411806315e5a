// Clients without a key that take as many connections as they can: each is held, and opened again when it is closed.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace krux::test {

// What they do with a connection before they leave it at that.
enum class StrangerKind { kSilent, kHalfHeader, kNoBody, kIdleAfterAnswer };
const char* name_of(StrangerKind kind);

class Strangers {
 public:
  // Connections to 127.0.0.1. Of those that are closed, so many are opened again each second.
  Strangers(std::uint16_t port, std::size_t count, StrangerKind kind, std::size_t reopened_a_second);
  ~Strangers();
  Strangers(const Strangers&) = delete;
  Strangers& operator=(const Strangers&) = delete;

  void await_all();  // until each has been open once
  std::size_t opened() const { return opened_; }

 private:
  void run();
  void open(std::size_t slot);
  void look(std::size_t slot);

  const std::uint16_t port_;
  const std::string bytes_;
  const std::size_t reopened_a_second_;
  std::vector<pollfd> slots_;  // -1: closed
  std::vector<std::size_t> closed_;
  std::vector<char> sent_;
  std::atomic<std::size_t> opened_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

// Lets this process have `count` descriptors open. False where the system does not allow as many.
bool allow_descriptors(std::size_t count);

}  // namespace krux::test
