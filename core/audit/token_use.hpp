// How often the services' tokens go out, for the audit log.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/util/clock.hpp"

namespace krux {

class AuditLog;

/// One row of the log an account and minute in which its token was used. Any thread; both must outlive this.
class TokenUse {
 public:
  TokenUse(AuditLog& log, Clock& clock) : log_(log), clock_(clock) {}

  /// A request carried the account's token.
  void used(const std::string& service, const std::string& account_id);
  /// Another one was had, or refused: "renewed", "refused", ...
  void renewal(const std::string& service, const std::string& account_id, const std::string& outcome);
  /// What was used and is not told of yet.
  void tell();

 private:
  using Account = std::pair<std::string, std::string>;
  struct Used {
    std::int64_t requests = 0, since_ms = 0;
  };
  void tell(const Account& account, Used& used);

  AuditLog& log_;
  Clock& clock_;
  std::mutex mutex_;
  std::map<Account, Used> used_;
};

}  // namespace krux
