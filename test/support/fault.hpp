// Lets the process die at a fault point (core/util/fault_point.hpp), as a power cut would: without a word.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/util/fault_point.hpp"

namespace support {

inline std::string fault_name;
inline std::atomic<int> fault_passes_left{0};

inline void die_at_fault(std::string_view name) {
  if (name == fault_name && --fault_passes_left == 0) ::kill(::getpid(), SIGKILL);
}

/// The process kills itself when it passes `name` for the `pass`-th time (from 1). Before any thread starts.
inline void arm_fault(std::string_view name, int pass = 1) {
  if (std::find(krux::kFaultPoints.begin(), krux::kFaultPoints.end(), name) == krux::kFaultPoints.end()) {
    std::fprintf(stderr, "there is no fault point %s\n", std::string(name).c_str());
    std::abort();
  }
  fault_name = name;
  fault_passes_left = pass;
  krux::fault_hook = die_at_fault;
}

/// KRUXOS_TEST_FAULT=name or name:pass. Nothing happens without it.
inline void arm_fault_from_environment() {
  const char* text = std::getenv("KRUXOS_TEST_FAULT");
  if (!text || !*text) return;
  const std::string_view fault = text;
  const auto colon = fault.find(':');
  const int pass = colon == std::string_view::npos ? 1 : std::atoi(text + colon + 1);
  arm_fault(fault.substr(0, colon), std::max(1, pass));
}

}  // namespace support
