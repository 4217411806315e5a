// What is decided on a page.
#pragma once

#include <cstdint>
#include <string>

#include "host/gateway/form_values.hpp"
#include "host/operator/operator_api.hpp"
#include "host/web/page_frame.hpp"
#include "host/web/page_write.hpp"

namespace krux::web {

/// Whoever decides, and where.
struct Decider {
  OperatorApi& api;
  PagePlace place;
  DecidingOperator by;
  std::int64_t now_ms = 0;
};

/// `action`: accept, reject, edit, cancel, rollback, resend, discard, happened. Back to the list, or the write as it is
/// now with why nothing was decided. May block; throws krux::Error where there is no such write or action.
ServerResponse decide(const Decider& decider, const std::string& write_id, const std::string& action,
                      const FormValues& form);

/// One write as it is now. Throws krux::Error NotFound.
JsonDocument write_of(OperatorApi& api, const std::string& write_id);

/// "It was accepted ...": for the list, behind a decision.
Notice done_notice(OperatorApi& api, const std::string& write_id);

}  // namespace krux::web
