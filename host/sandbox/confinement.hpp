// What a process that runs an adapter's code is asked to give up, and what it says of that before the code runs. The
// runner and the probe are started, confined and answered in the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/util/descriptor.hpp"

namespace krux {

struct Confinement {
  /// False: what the kernel refuses is left out and reported. For adapters whose author the operator trusts.
  bool required = true;
  std::int64_t memory_mb = 512, open_files = 64;
  std::int64_t processor_seconds = 0;  ///< of the whole life of the process; 0: without end
  int landlock_abi = 1000;             ///< no newer one is used, whatever the kernel has: tests hold it down
};

/// The words between two programs of one build.
std::vector<std::string> arguments_of(const Confinement& confinement);
/// Nothing: they make no sense.
std::optional<Confinement> confinement_from(int count, char** arguments);
inline constexpr int kConfinementArguments = 5;

/// Sentences about the parts that the kernel refused, and the descriptor on which the process asks for its threads.
struct ConfinementReport {
  std::vector<std::string> missing;
  std::unique_ptr<Descriptor> threads;  ///< nullptr: the kernel does not ask
};

/// In two steps, since what sends a descriptor is itself given up in between. `threads` < 0: there is none. False: the
/// host does not listen.
bool send_thread_listener(int socket, int threads);
bool send_missing(int socket, const std::vector<std::string>& missing);

/// Blocks until both have come. Nothing: the process ended, or `timeout_ms` of real time were over. Throws BadFrame.
std::optional<ConfinementReport> receive_report(int socket, std::int64_t timeout_ms);

/// Why a process that must be confined is not run.
std::string refusal_of(const std::vector<std::string>& missing);

}  // namespace krux
