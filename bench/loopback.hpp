// What the machine's own loopback costs: as many bytes there and back, between two threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>

namespace krux::bench {

/// One thread asks, one of its own answers. Failures are wrong().
class Loopback {
 public:
  /// The other thread does `work` before each answer: what is left of a server that has nothing to look at.
  Loopback(std::size_t request_bytes, std::size_t answer_bytes, std::function<void()> work = {});
  ~Loopback();
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  /// Sends the request, and returns when the answer has come whole.
  void ask();

 private:
  void serve(int listening) const;

  const std::string request_;
  const std::size_t answer_bytes_;
  const std::function<void()> work_;
  std::string answer_;
  int fd_;
  std::thread thread_;
};

}  // namespace krux::bench
