// From a request on the operator's socket to the host's answer.
#pragma once

#include "host/http/http_types.hpp"
#include "host/operator/operator_api.hpp"

namespace krux {

/// Blocks for as long as the operation takes; never throws. Wipes the request's body.
ServerResponse run_operator_request(OperatorApi& api, ServerRequest& request);

/// The status for an error of that type.
int http_status_of(const Error& error);

}  // namespace krux
