// From a request on the operator's socket to the host's answer.
#pragma once

#include <sys/types.h>

#include <string>

#include "host/http/http_types.hpp"
#include "host/operator/operator_api.hpp"
#include "host/operator/operator_gate.hpp"

namespace krux {

class AuditLog;

/// Blocks for as long as the operation takes; never throws. Wipes the request's body. Without a gate nothing needs the
/// operator's passphrase; without a log nothing is audited.
ServerResponse run_operator_request(OperatorApi& api, ServerRequest& request, OperatorGate* gate = nullptr,
                                    AuditLog* audit = nullptr);

}  // namespace krux
