// What Google says when something goes wrong.
#pragma once

#include "emulators/common/faults.hpp"
#include "emulators/gmail/failure.hpp"

namespace krux::test::gmail {

const FaultDialect& fault_dialect();

}  // namespace krux::test::gmail
