// kruxos/testing/misuse.hpp - what an adapter did that a host would not forgive, gathered until the test looks.
#pragma once
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kruxos::testing {

/// Thrown at a FakeHost's end where nobody has looked at what went wrong.
class Misuse : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Any thread.
class Misuses {
 public:
  void add(std::string sentence) {
    const std::lock_guard lock(mutex_);
    sentences_.push_back(std::move(sentence));
  }
  /// All since the last time. Who takes them has looked.
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sentences_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> sentences_;
};

}  // namespace kruxos::testing
