// Bodies are bound to the method's fields before the method runs: an unknown name or a wrong type is refused.
#pragma once

#include "emulators/gmail/call.hpp"

namespace krux::test::gmail {

MaybeFailure check_body(const Call& call);

}  // namespace krux::test::gmail
