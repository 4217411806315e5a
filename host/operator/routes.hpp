// From a request on the operator's socket to the host's answer.
#pragma once

#include "host/http/http_types.hpp"
#include "host/operator/operator_api.hpp"

namespace krux {

/// Blocks for as long as the operation takes; never throws. Wipes the request's body.
ServerResponse run_operator_request(OperatorApi& api, ServerRequest& request);

}  // namespace krux
