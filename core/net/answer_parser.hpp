// The bytes of an HTTP/1 answer, handed on to a sink part by part.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/net/http.hpp"

namespace krux {

/// One answer to one request, interim (1xx) answers skipped. Runs the sink on the thread that feeds it.
class AnswerParser {
 public:
  enum class State {
    kMore,      ///< feed it more
    kDone,      ///< a complete answer was handed on
    kStopped,   ///< the sink said stop
    kTooLarge,  ///< headers or body beyond their limit
    kBroken,    ///< not HTTP, or it ended too early
  };
  struct Limits {
    std::uint32_t header_bytes;
    std::uint64_t body_bytes;
  };

  AnswerParser(bool answers_head, Limits limits, HttpSink& sink);
  ~AnswerParser();

  State feed(std::string_view bytes);
  /// The peer ended the stream properly.
  State end();

  bool got_some() const;        ///< at least one byte arrived
  int status() const;           ///< of the final answer, once its head is complete; 0 before
  bool reusable() const;        ///< when kDone: the connection may carry another request
  std::string problem() const;  ///< in words, for kTooLarge and kBroken

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace krux
