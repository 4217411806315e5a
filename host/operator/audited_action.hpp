// What an operator does at the socket, for the audit log: before it begins, and how it ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krux {

class AuditLog;
struct ServerRequest;

/// Told of both even where the host is killed in between: the first row is durable when the action begins. Bodies,
/// which may hold secrets, are never told.
class AuditedAction {
 public:
  /// `pattern`: the route's; `names`: what stands for its "*", none where that is secret. Nothing is told without a
  /// log, or of looking (GET).
  AuditedAction(AuditLog* log, const ServerRequest& request, std::string_view pattern,
                const std::vector<std::string>& names, const std::string& who);
  ~AuditedAction();  ///< unless it ended before: it failed
  AuditedAction(const AuditedAction&) = delete;
  AuditedAction& operator=(const AuditedAction&) = delete;
  void done() { outcome_ = "done"; }
  void refused(std::string_view error) { outcome_ = error; }

 private:
  void tell(std::string_view outcome) const;

  AuditLog* const log_;
  std::string who_, action_, outcome_ = "failed";
};

}  // namespace krux
