#include "support/at_rest.hpp"

#include <filesystem>
#include <fstream>
#include <string>

namespace krux::test {

std::optional<std::uint64_t> at_rest(pid_t pid) {
  std::uint64_t switches = 0;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream file(task.path() / "status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("State:") && line.find("\tS") == std::string::npos) return std::nullopt;
      const auto colon = line.find("_ctxt_switches:");
      if (colon != std::string::npos) switches += std::stoull(line.substr(colon + 15));
    }
  }
  return switches;
}

std::optional<std::uint64_t> family_at_rest(pid_t pid) {
  auto all = at_rest(pid);
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream file(task.path() / "children");
    for (pid_t child = 0; file >> child;) {
      const auto its = at_rest(child);
      all = all && its ? std::optional(*all + *its) : std::nullopt;
    }
  }
  return all;
}

}  // namespace krux::test
