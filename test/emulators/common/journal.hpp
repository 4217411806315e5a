// What was asked of the emulator: counters for each method and the log of the latest requests.
#pragma once

#include <deque>
#include <map>

#include "emulators/common/call.hpp"
#include "emulators/common/json_out.hpp"

namespace krux::test::emulator {

class Journal {
 public:
  explicit Journal(std::size_t capacity = 20000) : capacity_(capacity) {}

  // Notes a request when it has arrived; the number names it in finish().
  std::uint64_t begin(const CallRecord& call, std::int64_t now_ms);
  void fault(std::uint64_t number, const std::string& kind);
  // How it was answered. Never called: the request got no answer (status 0 in the log).
  void finish(std::uint64_t number, int status, const std::string& error);

  std::int64_t calls(const std::string& method) const;
  void write_counters(JsonOut& out) const;  // a field "methods"
  // A field "requests": those after number `after`, of one method unless it is empty.
  void write_log(const std::string& method, std::uint64_t after, JsonOut& out) const;

 private:
  struct Entry {
    std::uint64_t number = 0;
    std::int64_t at_ms = 0;
    CallRecord call;
    std::string fault, error;
    int status = 0;
  };
  struct Counters {
    std::int64_t calls = 0, limited = 0, failed = 0;
    std::int64_t max_per_minute = 0;  // requests in any 60 s, refused ones too
    std::deque<std::int64_t> last_minute;
  };

  Entry* entry(std::uint64_t number);

  std::size_t capacity_;
  std::uint64_t next_ = 1;
  std::deque<Entry> entries_;
  std::map<std::string, Counters> counters_;
};

}  // namespace krux::test::emulator
