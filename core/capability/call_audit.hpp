// One call of an agent, as the audit log is told of it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "core/definition/definition.hpp"
#include "core/util/error_type.hpp"
#include "core/util/json.hpp"

namespace krux {

class AuditLog;
struct Invocation;
struct AccountRef;

/// Any thread: a worker may still note something when the call was given up. Told once, at its end.
class CallAudit {
 public:
  explicit CallAudit(AuditLog& log) : log_(log) {}

  void is(const ServiceDefinition& definition, const CapabilityDefinition& capability);
  void given(const JsonValue& params);
  void decided(std::string decision_json);
  /// Requests to the service, of a read that fetches.
  void fetched(std::uint32_t requests);
  /// It is answered by a write that there was before.
  void answered_by(const std::string& write_id);
  /// The row of the write that was admitted says all of it.
  void stands_with_its_write();

  /// `account`: null where there is none.
  void ended(const Invocation& invocation, const AccountRef* account, const ErrorType& type);

 private:
  AuditLog& log_;
  std::mutex mutex_;
  std::string decision_json_, parameters_json_, write_id_;
  std::string capability_, version_, tier_;
  std::uint32_t requests_ = 0;
  bool told_ = false;
};

}  // namespace krux
