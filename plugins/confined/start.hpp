// Starting a program as it is confined.
#pragma once
#include <sys/types.h>
#include <kruxos/adapter/error.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "confinement.hpp"
#include "workspace/descriptor.hpp"

namespace confined {

using workspace::Descriptor;

/// Both ends wait, until one of them is told not to.
struct Pipe {
  Descriptor read, write;
};
/// Throws ProxyError kUnavailable, with no effect.
Pipe make_pipe();

/// From now on nobody waits for this descriptor.
void never_wait_for(const Descriptor& end);

/// What is needed of a program that was started.
struct Started {
  pid_t pid = -1;
  Descriptor ended;        ///< readable when it has ended
  Descriptor out, errors;  ///< never to be waited for
};

/// `input` becomes its standard input. Throws ProxyError with no effect where it cannot be started. The program dies
/// with the thread that starts it, and all that it starts with it.
Started start(const Confinement& confinement, int input, std::string_view working_directory,
              const std::vector<std::string>& words);

/// How it has ended, as a shell says it: its exit code, or 128 and the signal. Nothing (-1): it has not.
int exit_code_of(pid_t pid);

/// Why programs cannot be confined on this machine, a sentence; empty: they can. Starts one that does nothing.
std::string why_no_sandbox(const Confinement& confinement);

/// Throws ProxyError kRefused where the host runs as root and `allowed` is not set. `key`: where the operator sets it.
void refuse_root(bool allowed, std::string_view key);

/// The failure of who cannot confine at all; with no effect.
kruxos::ProxyError sandbox_missing(const std::string& sentence);

}  // namespace confined
