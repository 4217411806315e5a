// Writes signed heads on a thread of its own: the file may lie on a share that does not answer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/audit/anchors.hpp"

namespace krux {

class AnchorWriter {
 public:
  /// `append` writes one, or throws krux::Error. Where it does not come back it is left behind with its thread, so that
  /// it must hold what it needs.
  explicit AnchorWriter(std::function<void(const Anchor&)> append,
                        std::chrono::milliseconds patience = std::chrono::seconds(5));
  ~AnchorWriter();
  AnchorWriter(const AnchorWriter&) = delete;
  AnchorWriter& operator=(const AnchorWriter&) = delete;

  /// One thread at a time. Throws what `append` does, and krux::Error DatabaseError where it does not come back in
  /// time, or has not come back since; the head may be written all the same.
  void write(const Anchor& anchor);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
  const std::chrono::milliseconds patience_;
};

}  // namespace krux
