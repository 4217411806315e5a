#include "bench/process_figures.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "bench/report.hpp"

namespace krux::bench {
namespace {

double cpu_s(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  const std::string line((std::istreambuf_iterator<char>(stat)), {});
  // The name, in parentheses, may hold anything. Behind it, user and system time are the 12th and 13th field.
  std::istringstream fields(line.substr(std::min(line.rfind(')') + 1, line.size())));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  if (!(fields >> user >> system)) wrong("the system does not tell what a process has used");
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

ProcessFigures process_figures(pid_t pid) {
  ProcessFigures figures;
  figures.cpu_s = cpu_s(pid);
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) figures.private_mb = std::stod(line.substr(8)) / 1024;
    if (line.starts_with("VmHWM:")) figures.peak_mb = std::stod(line.substr(6)) / 1024;
  }
  if (figures.peak_mb == 0) wrong("the system does not tell the memory of a process");
  return figures;
}

}  // namespace krux::bench
