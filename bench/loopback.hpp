// What the machine's own loopback costs: as many bytes there and back, between two threads that do nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <thread>

namespace krux::bench {

/// One thread. Failures are wrong().
class Loopback {
 public:
  Loopback(std::size_t request_bytes, std::size_t answer_bytes);
  ~Loopback();
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  /// Sends the request, and returns when the answer has come whole.
  void ask();

 private:
  void serve(int listening) const;

  const std::string request_;
  const std::size_t answer_bytes_;
  std::string answer_;
  int fd_;
  std::thread thread_;
};

}  // namespace krux::bench
