// An adapter whose calls are counted.
#pragma once

#include <memory>
#include <string>

#include "core/adapter/service_adapter.hpp"

namespace krux {

class AdapterMeters;

/// `adapter` itself where there are no meters, which must outlive every call, abandoned ones included.
std::shared_ptr<ServiceAdapter> metered(std::shared_ptr<ServiceAdapter> adapter, const std::string& service,
                                        AdapterMeters* meters);

}  // namespace krux
