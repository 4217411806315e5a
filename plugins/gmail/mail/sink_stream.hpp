// Where GMime writes to: a function of ours, so that no copy of a message is gathered on the way.
#pragma once

#include <exception>

#include "bytes.hpp"
#include "gmime.hpp"

namespace gmail {

class SinkStream {
 public:
  /// `sink` must outlive it.
  explicit SinkStream(const ByteSink& sink);
  GMimeStream* get() const { return stream_.get(); }
  /// Throws what the sink has thrown. False where it has ended the writing.
  bool finish() const;

  const ByteSink& sink;
  bool ended = false;
  std::exception_ptr error{};

 private:
  Held<GMimeStream> stream_;
};

}  // namespace gmail
