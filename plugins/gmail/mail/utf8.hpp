// Text that came from outside, by the author's kit.
#pragma once

#include <kruxos/kit/text.hpp>

namespace gmail {

using namespace kruxos::kit;

}  // namespace gmail
