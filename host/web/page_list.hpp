// The list of what waits.
#pragma once

#include <cstdint>

#include "host/operator/operator_api.hpp"
#include "host/web/page_frame.hpp"

namespace krux::web {

/// Asks the host for its writes. May block; throws krux::Error.
ServerResponse list_page(OperatorApi& api, const PagePlace& place, const Notice& notice, std::int64_t now_ms);

}  // namespace krux::web
