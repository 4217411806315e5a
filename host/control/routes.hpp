// From a request on the operator's socket to the host's answer.
#pragma once

#include "host/control/operator_api.hpp"
#include "host/gateway/http_types.hpp"

namespace krux {

/// Blocks for as long as the operation takes; never throws. Wipes the request's body.
ServerResponse run_operator_request(OperatorApi& api, ServerRequest& request);

/// The status for an error of that type.
int http_status_of(const Error& error);

}  // namespace krux
