// What Slack says when something goes wrong.
#pragma once

#include "emulators/common/faults.hpp"

namespace krux::test::slack {

using namespace emulator;

const FaultDialect& fault_dialect();
HttpAnswer ratelimited(std::int64_t retry_after);

}  // namespace krux::test::slack
