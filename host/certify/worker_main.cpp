// kruxos-certify-worker: started by `kruxos adapter certify` alone, with its order on standard input.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>

#include "host/certify/worker.hpp"

namespace {

/// The kit's lines get a descriptor of their own; what the adapter prints goes to the log.
int take_output() {
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return out;
}

}  // namespace

int main() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int out = take_output();
  try {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    krux::certify::run_worker(krux::certify::read_order(text), out);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kruxos-certify-worker: %s\n", error.what());
    return 2;
  }
}
