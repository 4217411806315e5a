// A part's content that is left out while GMime writes a mail: the place where it belongs is told instead.
#pragma once

#include <functional>

#include "gmime.hpp"

namespace gmail {

class GapStream {
 public:
  /// `reached` is called when GMime has written what stands before the content. It must not throw.
  explicit GapStream(std::function<void()> reached);
  GapStream(const GapStream&) = delete;
  GapStream& operator=(const GapStream&) = delete;
  GMimeStream* get() const { return stream_.get(); }

  const std::function<void()> reached;

 private:
  Held<GMimeStream> stream_;
};

}  // namespace gmail
