// JSON, by the author's kit.
#pragma once

#include <kruxos/kit/json.hpp>

namespace slack {

using namespace kruxos::kit;

}  // namespace slack
