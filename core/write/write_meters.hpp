// Writes: their acknowledgement, what people and agents decide about them, and how attempts and looks end.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <variant>

#include "core/metrics/meter_table.hpp"
#include "core/metrics/metric_registry.hpp"
#include "core/util/error.hpp"
#include "core/write/transition.hpp"
#include "core/write/write.hpp"

namespace krux {

/// The writes of one operation.
class WriteMeter {
 public:
  WriteMeter(MetricRegistry& registry, std::string_view service, std::string_view operation);
  void acknowledged(const std::variant<Submitted, Error>& answer, std::int64_t took_us);
  void attempted(WriteEvent outcome, std::int64_t took_us);
  void looked(WriteEvent outcome);

 private:
  MetricCounters acks_, attempts_, looks_;
  MetricHistogram ack_time_, attempt_time_;
};

enum class WriteDecision { kAccept, kReject, kEdit, kCancel, kResend, kDiscard, kHappened, kRollback, kRelease };

/// Any thread.
class WriteMeters {
 public:
  explicit WriteMeters(MetricRegistry& registry);
  std::int64_t now_us() const { return registry_.now_us(); }
  /// Both as a definition has them, or the operation "proxy.rollback".
  WriteMeter& of(std::string_view service, std::string_view operation);
  /// `who`: "agent:<id>", "operator:<user>", "host"; what stands behind the colon is not counted.
  void decided(WriteDecision decision, std::string_view who, bool done);

 private:
  MetricRegistry& registry_;
  MeterTable<WriteMeter> table_;
  MeterTable<MetricCounters> decisions_;
};

/// `done`, which counts the decision before. Without meters `done` itself.
template <class T>
std::function<void(std::variant<T, Error>)> counted(WriteMeters* meters, WriteDecision decision, std::string_view who,
                                                    std::function<void(std::variant<T, Error>)> done) {
  if (!meters) return done;
  return [meters, decision, by = std::string(who.substr(0, who.find(':'))),
          done = std::move(done)](std::variant<T, Error> answer) {
    meters->decided(decision, by, std::holds_alternative<T>(answer));
    done(std::move(answer));
  };
}

}  // namespace krux
