// What waits for being written to a server's program.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "messages.hpp"

namespace mcp {

/// A failure on its way to another thread: it is thrown there, as an exception that no two threads share.
struct Failure {
  explicit Failure(const kruxos::ProxyError& error)
      : kind(error.kind()), sentence(error.what()), type(error.type()), no_effect(error.has_no_effect()) {}
  [[noreturn]] void raise() const;

  kruxos::ErrorKind kind;
  std::string sentence, type;
  bool no_effect;
};

/// A request that somebody waits for.
struct Asked {
  std::int64_t id = 0;
  std::string method, params_json;
  std::optional<std::uint64_t> compared;  ///< as Request has it
  bool not_compared = false;              ///< another tools_version() than that, so that it was not sent
  bool queued = false;                    ///< it is in the outbox, or was
  bool written = false;                   ///< whole: from then on it may have had an effect
  bool done = false;                      ///< answered, or failed
  std::optional<Answer> answer;
  std::optional<Failure> failure;
  std::condition_variable changed;  ///< told when it is done
};
using AskedPtr = std::shared_ptr<Asked>;

/// Under its owner's lock.
class Outbox {
 public:
  /// How many bytes of it were taken; 0: no more for now.
  using Put = std::function<std::size_t(std::string_view)>;

  void add(std::string message, AskedPtr asked = nullptr);
  /// Writes as much as is taken.
  void flush(const Put& put);
  /// Nothing of it is written from now on. What is written in part is ended there, so that no server understands it.
  void take_back(const Asked& asked);
  void clear();

  bool empty() const { return all_.empty(); }
  /// Bytes that nobody waits for: who does not read lets these grow.
  std::size_t unasked_bytes() const { return unasked_bytes_; }

 private:
  struct One {
    std::string line;
    AskedPtr asked;
    std::size_t unasked_bytes = 0;
  };
  void drop(const std::deque<One>::iterator& at);

  std::deque<One> all_;
  std::size_t written_ = 0;  ///< of the first
  std::size_t unasked_bytes_ = 0;
};

}  // namespace mcp
