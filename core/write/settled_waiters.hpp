// Those who wait until a write has settled, or until their time is over.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/util/clock.hpp"
#include "core/write/write.hpp"

namespace krux {

/// Whether nothing more happens to the write within a caller's patience.
bool has_settled(const BufferedWrite& write);

/// Any thread. Each callback runs once: on the thread of settled() or missing(), or on the timer's.
class SettledWaiters {
 public:
  using Done = std::function<void(BufferedWrite)>;
  /// `look_up` gives the present state of a write whose time is over; it must not throw.
  SettledWaiters(Clock& clock, std::function<BufferedWrite(const std::string&)> look_up);
  ~SettledWaiters();  ///< who still waits is answered with the present state
  SettledWaiters(const SettledWaiters&) = delete;
  SettledWaiters& operator=(const SettledWaiters&) = delete;

  void add(const std::string& write_id, std::int64_t timeout_ms, Done done);
  void settled(const BufferedWrite& write);
  void missing(const std::string& write_id);  ///< there is no such write

 private:
  struct Waiter {
    std::int64_t until_boot_ms;
    Done done;
  };
  void answer(const std::string& write_id, const BufferedWrite& write);
  void watch();
  std::vector<std::pair<std::string, Done>> take_over(std::int64_t now_boot_ms);
  std::int64_t next() const;

  Clock& clock_;
  const std::function<BufferedWrite(const std::string&)> look_up_;
  std::mutex mutex_;
  std::condition_variable cv_;
  std::multimap<std::string, Waiter> waiters_;
  std::multimap<std::int64_t, std::string> times_;  ///< until_boot_ms -> write_id
  bool stopping_ = false, earlier_ = false;
  std::thread thread_;
};

}  // namespace krux
