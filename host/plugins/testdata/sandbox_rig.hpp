// Adapters in runners that are held down to what older kernels know.
#pragma once

#include "host/plugins/testdata/runner_rig.hpp"

namespace krux::test {

/// The kernel's own, and that of Debian 12, which knows neither scopes nor ports.
inline int landlock_abi() {
  return GENERATE(1000, 2);
}

struct SandboxRig : RunnerRig {
  explicit SandboxRig(int abi, const Change& change = {})
      : RunnerRig({}, [&](AdapterRunners::Options& options) {
          options.landlock_abi = abi;
          if (change) change(options);
        }) {}
};

}  // namespace krux::test
