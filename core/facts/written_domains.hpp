// The domains that accounts have written to, read from their replicas bit by bit: each message once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "core/facts/correspondents.hpp"

namespace krux {

/// Any thread. A domain that was written to once stays one.
class WrittenDomains {
 public:
  /// The first that `domain` looks like, an empty text where there is none; nothing while not all are read: what was
  /// read is kept, and the next question goes on.
  std::optional<std::string> one_like(const std::string& account, Correspondents& known, const std::string& domain);

 private:
  struct Account {
    std::set<std::string> domains;
    std::int64_t read_ms = INT64_MIN;  ///< messages before that time
  };
  bool read(Account& account, Correspondents& known) const;

  std::mutex mutex_;
  std::map<std::string, Account> accounts_;
};

}  // namespace krux
