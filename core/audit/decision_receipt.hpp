// What the audit log says of one write, under the host's signature: it can be checked without a host.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/audit_log.hpp"
#include "core/audit/query.hpp"

namespace krux {

/// One JSON object. `sign`: see AuditLog::sign().
std::string make_decision_receipt(const AuditStatus& log, std::string_view write_id, const RowsOfWrite& found,
                                  std::int64_t now_ms,
                                  const std::function<AuditLog::Signature(std::string_view message)>& sign);

struct DecisionReceipt {
  std::string log_id, write_id, key;  ///< key: the public one that has signed it
  std::int64_t made_at_ms = 0;
  std::vector<AuditRow> rows;         ///< oldest first
  std::vector<std::string> gaps;      ///< what of the write's story is not in it, sentences
  std::vector<std::string> problems;  ///< why it proves nothing, sentences; empty: it is what the host has signed
};

/// Throws krux::Error InvalidInput of a text that is no receipt.
DecisionReceipt check_decision_receipt(std::string_view text);

}  // namespace krux
