// What is asked of the audit log at the operator's socket.
#pragma once

#include <cstdint>

#include "core/audit/query.hpp"
#include "host/http/http_types.hpp"

namespace krux {

/// Throws krux::Error InvalidInput.
AuditFilter audit_filter_of(const ServerRequest& request);

struct AuditPage {
  std::int64_t after = 0, limit = 0;
};
AuditPage audit_page_of(const ServerRequest& request);

}  // namespace krux
