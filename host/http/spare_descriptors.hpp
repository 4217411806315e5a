// Descriptors that a listener keeps for the day when the process has no others left: one is given up, and the
// connection that waits takes its number.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/util/descriptor.hpp"

namespace krux {

/// One thread.
class SpareDescriptors {
 public:
  explicit SpareDescriptors(std::size_t count) : count_(count) { refill(); }

  /// False when there is none left.
  bool give_one();
  /// Takes back what was given, as far as there is something to be had. True when none is missing.
  bool refill();

 private:
  const std::size_t count_;
  std::vector<std::unique_ptr<Descriptor>> kept_;
};

}  // namespace krux
