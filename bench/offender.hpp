// An agent that does its worst to the others: floods of one kind of message over many connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace krux::bench {

/// What it sends, and over how many connections at once, each message as soon as the last one is answered.
struct Offence {
  Offence(std::string name, std::string request, int over)
      : what(std::move(name)), requests{std::move(request)}, connections(over) {}
  Offence(std::string name, std::vector<std::string> one_a_round, int over)
      : what(std::move(name)), requests(std::move(one_a_round)), connections(over) {}
  std::string what;
  std::vector<std::string> requests;  ///< bytes; the next one in each round
  int connections = 1;
};

/// From construction until stop(). Its answers are read and thrown away, refusals too.
class Offender {
 public:
  Offender(std::uint16_t port, const std::string& key, const Offence& offence, std::size_t round);
  ~Offender();  ///< stop()
  Offender(const Offender&) = delete;
  Offender& operator=(const Offender&) = delete;

  /// Lets the messages under way be answered.
  void stop();
  std::int64_t answered() const { return answered_; }
  /// Processor time of its clients; known after stop().
  double cpu_s() const { return static_cast<double>(cpu_us_) / 1e6; }

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> answered_{0}, cpu_us_{0};
  std::vector<std::thread> threads_;
};

}  // namespace krux::bench
