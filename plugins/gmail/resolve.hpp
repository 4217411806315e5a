// Before a write is accepted: names of labels become ids, and what Gmail would refuse later is refused now.
#pragma once

#include <kruxos/adapter.hpp>

#include <string>
#include <string_view>

namespace gmail {

/// The parameters with labels as ids, sorted. Throws ProxyError kInvalid (InvalidInput, NoLabelsProvided).
std::string resolve(const kruxos::Reader& reader, std::string_view operation, std::string_view params_json,
                    std::string_view own_address);

}  // namespace gmail
