// Faults that the control plane asked for: which calls they hit, what happens to the effect, what the caller sees.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "emulators/common/call.hpp"
#include "emulators/common/http_types.hpp"
#include "emulators/common/json_out.hpp"

namespace krux::test::emulator {

enum class FaultKind {
  http_status,   // `status` and `body`
  error,         // the service's own shape of failure, saying `error`
  rate_limited,  // the service's answer to too many calls, with Retry-After: `retry_after`
  hang,          // no answer, until released or the caller goes
  reset,         // a TCP reset instead of an answer
  late,          // no answer; the effect happens `after_ms` of the emulator's time later, or when released
  truncated,     // half of the answer: `framing` "short" (Content-Length says more) or "exact"
  body,          // another body: `shape`
  slow           // the answer, `chunk_bytes` every `interval_ms` of real time
};

// Whether and when the call does what it asks for. `on_release`: at POST /_emulator/release.
enum class FaultEffect { none, applied, on_release };

struct Fault {
  FaultKind kind = FaultKind::error;
  std::string kind_name;
  std::string method;                       // "*": any
  std::map<std::string, std::string> when;  // only calls whose parameters have these values
  std::int64_t skip = 0, count = 1;         // lets `skip` such calls pass, then hits `count` (0: all that follow)
  std::int64_t hits = 0;
  FaultEffect effect = FaultEffect::none;

  int status = 503;
  std::string error, text, framing, shape, connection;
  std::int64_t retry_after = 30, after_ms = 0, chunk_bytes = 64, interval_ms = 20, bytes = 0;
};

// How one service says what faults make it say.
struct FaultDialect {
  std::function<bool(const std::string& method)> has_method;
  std::string default_error;
  std::function<HttpAnswer(const Fault&)> error;
  std::function<HttpAnswer(const Fault&)> rate_limited;
  // Bodies that are wrong for this service alone, by the names of `shape`.
  std::vector<std::string> own_shapes;
  std::function<std::string(const std::string& shape, const HttpAnswer& real)> own_shape;
};

// Reads a fault as the control plane takes it (test/emulators/README.md). On failure `problem` says what is wrong.
std::optional<Fault> read_fault(const rapidjson::Value& document, const FaultDialect& dialect, std::string& problem);

class Faults {
 public:
  void add(Fault fault) { faults_.push_back(std::move(fault)); }
  void clear() { faults_.clear(); }
  // The fault that hits this call, if any: the first that fits and is not used up. Counts it.
  std::optional<Fault> take(const CallRecord& call);
  void write(JsonOut& out) const;  // a field "faults"

 private:
  std::deque<Fault> faults_;
};

// The answer that a fault of kind http_status, error, rate_limited or body gives in place of `real`.
HttpAnswer faulty_answer(const Fault& fault, const HttpAnswer& real, const FaultDialect& dialect);

}  // namespace krux::test::emulator
