// From what an adapter said and the wire showed to what the ledger records. Pure: no clock, no store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/adapter/call.hpp"
#include "core/adapter/service_adapter.hpp"
#include "core/write/ledger.hpp"

namespace krux {

struct RetryPolicy {
  std::vector<std::int64_t> schedule_ms{60'000, 120'000, 240'000, 480'000, 960'000};  ///< between attempts; not empty
  std::vector<std::int64_t> look_gaps_ms{60'000, 120'000, 240'000, 480'000};  ///< between looks that cannot tell
  /// After a person was told, the host goes on looking for a while: a service that was down may answer later, and an
  /// effect may come late.
  std::int64_t late_look_gap_ms = 960'000, late_looks_for_ms = 24 * 3'600'000;
  std::int64_t order_wait_ms = kOrderWaitMs;
  std::optional<std::int64_t> settle_ms;  ///< instead of what stands in each write
  std::function<double()> random;         ///< in [0, 1); empty: the system's
};

/// How a call ended.
struct CallEnd {
  enum class How {
    kAnswered,
    kAbandoned,  ///< past its deadline with the adapter's code running
    kNotRun,     ///< the adapter's code was never entered
  } how = How::kAbandoned;
  std::optional<CallFailure> failure;  ///< with kAnswered: nothing means success; with kNotRun: why
  std::string result_json;
  WireState wire = WireState::kOpen;
  /// False for adapters that act otherwise than by the host's HTTP: the wire proves nothing about them.
  bool wire_counts = true;
  bool host_stops = false;  ///< the host asked the call to end
  bool cut_off = false;     ///< the adapter's process has ended, or could not be asked
};

/// `gap_ms`, ten per cent more or less, so that what failed together is not tried again together.
std::int64_t with_jitter(std::int64_t gap_ms, const RetryPolicy& policy);
/// Never before the time that the service named.
std::int64_t after_service(std::int64_t retry_after_ms, const RetryPolicy& policy);
/// The account's token is refused: the write waits until it works again, and the operator is told, once an account.
void hold_for_connection(WriteReport& report, const WriteRecord& write, const CallFailure& failure,
                         const RetryPolicy& policy);
/// Whether a look was none: the token is refused, the quota used up, or the adapter could not be asked.
bool could_not_look(const CallEnd& end);
/// After such a look: it does not count, and is made when that may have changed.
void put_off_look(WriteReport& report, const WriteRecord& write, const CallFailure& failure, const RetryPolicy& policy);

/// After execute_write.
WriteReport judge_attempt(const WriteRecord& write, CallEnd end, const RetryPolicy& policy);
/// The account's connection is not open to the write any more: nothing was called. `why`: a sentence.
WriteReport judge_closed(const WriteRecord& write, const std::string& why, const RetryPolicy& policy);
/// After create_rollback_point, when it failed: the write itself was not begun.
WriteReport judge_rollback_point(const WriteRecord& write, CallEnd end, const RetryPolicy& policy);
/// After find_effect. `end.result_json` is not used.
WriteReport judge_reconcile(const WriteRecord& write, const CallEnd& end, const EffectFound& found, bool may_repeat,
                            std::int64_t now_ms, const RetryPolicy& policy);

}  // namespace krux
