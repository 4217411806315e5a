#include "sandbox.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <kruxos/adapter/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace process {
namespace {

using workspace::Descriptor;

kruxos::ProxyError no_input(const std::string& what, int error) {
  return kruxos::ProxyError(kruxos::ErrorKind::kUnavailable, what + ": " + std::strerror(error) + ".").no_effect();
}

/// At its beginning, so that it is read from there.
Descriptor input_of(const std::string& text) {
  Descriptor file(memfd_create("input", MFD_CLOEXEC));
  if (!file) throw no_input("Memory for the input could not be had", errno);
  for (std::size_t at = 0; at < text.size();) {
    const auto put = write(file.get(), text.data() + at, text.size() - at);
    if (put < 0 && errno != EINTR) throw no_input("The input could not be kept", errno);
    at += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

}  // namespace

confined::Confinement confinement_of(const Options& options, int files) {
  confined::Confinement confinement;
  confinement.sandbox = options.sandbox;
  confinement.memory_mib = options.memory_mib;
  confinement.processes = options.processes;
  confinement.file_mib = options.file_mib;
  confinement.directory = files;
  return confinement;
}

confined::Started start(const Options& options, int files, const Command& command) {
  const auto input = input_of(command.input);
  return confined::start(confinement_of(options, files), input.get(), command.directory, command.words);
}

}  // namespace process
