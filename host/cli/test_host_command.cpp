#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "host/cli/commands.hpp"
#include "host/plugins/probe.hpp"

namespace krux::cli {

int begin_test_host(const TestHostOptions& options) {
  const auto program = find_helper("kruxos-test-host");
  if (program.empty())
    throw CliError(kUsage,
                   "kruxos-test-host, which is a host for tests, is not where it is installed: beside kruxos, or in "
                   "../libexec/kruxos. It comes with what is for testing.");
  auto words = words_of(options);
  words.insert(words.begin(), program.string());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  throw CliError(kUsage, fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

}  // namespace krux::cli
