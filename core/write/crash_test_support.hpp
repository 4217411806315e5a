// A host in a process of its own, which is killed at a fault point, and what is known of it afterwards.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "support/fault.hpp"

namespace write_test {

/// Lines that survive the process that wrote them: what the service did, what the agent was told.
class Record {
 public:
  explicit Record(std::filesystem::path file) : file_(std::move(file)) {}
  void add(const std::string& line) const {
    const int fd = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    const auto text = line + "\n";
    const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    if (!written) ::_exit(3);
  }
  std::multiset<std::string> lines() const {
    std::multiset<std::string> all;
    std::ifstream in(file_);
    for (std::string line; std::getline(in, line);) all.insert(line);
    return all;
  }

 private:
  std::filesystem::path file_;
};

/// The exit status of a child that does `work`, killed at `fault` if it is given.
template <class Work>
int in_child(std::string_view fault, int pass, Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!fault.empty()) support::arm_fault(fault, pass);
    try {
      work();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "the child failed: %s\n", e.what());
      ::_exit(5);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace write_test
