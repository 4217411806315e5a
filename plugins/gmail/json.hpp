// JSON, by the author's kit.
#pragma once

#include <kruxos/kit/json.hpp>

namespace gmail {

using namespace kruxos::kit;

}  // namespace gmail
