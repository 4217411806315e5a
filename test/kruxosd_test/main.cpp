// kruxosd for tests: the same host, with fault points that can be armed and a clock that can be driven.
//
//   KRUXOS_TEST_FAULT=name[:pass]      the process kills itself there (core/util/fault_point.hpp has the names)
//   KRUXOS_TEST_CLOCK=driven[:MS[:BOOT_MS]]
//     the host's clocks stand at MS and BOOT_MS (default: now) until a line "advance MS" comes on standard input, which
//     is answered with "clock MS BOOT_MS" on standard output once everything that waited was woken
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "core/util/clock.hpp"
#include "host/process/run_host.hpp"
#include "host/test_host/driven_time.hpp"
#include "support/fault.hpp"

namespace {

std::unique_ptr<krux::Clock> make_clock() {
  const char* wanted = std::getenv("KRUXOS_TEST_CLOCK");
  const std::string text = wanted ? wanted : "";
  auto system = std::make_unique<krux::SystemClock>();
  if (!text.starts_with("driven")) return system;
  const auto colon = text.find(':');
  const auto second = colon == std::string::npos ? colon : text.find(':', colon + 1);
  const auto wall = colon == std::string::npos ? system->wall_ms() : std::stoll(text.substr(colon + 1));
  const auto boot = second == std::string::npos ? system->boot_ms() : std::stoll(text.substr(second + 1));
  return std::make_unique<krux::DrivenClock>(wall, boot);
}

}  // namespace

int main(int argc, char** argv) {
  support::arm_fault_from_environment();
  const auto clock = make_clock();
  return krux::run_host(argc, argv, *clock, [&clock] {
    // The thread reads until standard input ends, and may outlive main(): the process's end ends it.
    if (auto* driven = dynamic_cast<krux::DrivenClock*>(clock.get()))
      std::thread([driven] { krux::drive(*driven, std::cin); }).detach();
  });
}
