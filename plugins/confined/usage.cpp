#include "usage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workspace/descriptor.hpp"

namespace confined {
namespace {

/// The fields of /proc/PID/stat behind the name, which may hold anything.
std::vector<std::string_view> fields_of(std::string_view stat) {
  std::vector<std::string_view> fields;
  const auto name_ends = stat.rfind(')');
  if (name_ends == std::string_view::npos) return fields;
  stat.remove_prefix(name_ends + 1);
  while (!stat.empty()) {
    const auto begin = std::min(stat.find_first_not_of(' '), stat.size());
    stat.remove_prefix(begin);
    const auto end = std::min(stat.find(' '), stat.size());
    if (end > 0) fields.push_back(stat.substr(0, end));
    stat.remove_prefix(end);
  }
  return fields;
}

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Files that no directory shows any more, or ever did: deleted ones, and those of memfd_create().
class Nameless {
 public:
  Nameless(dev_t disk, Usage& usage) : disk_(disk), usage_(usage) {}

  void of_process(pid_t pid) {
    const auto at = "/proc/" + std::to_string(pid) + "/fd";
    const std::unique_ptr<DIR, int (*)(DIR*)> open_ones(opendir(at.c_str()), &closedir);
    if (!open_ones) return;  // it has ended
    while (const auto* entry = readdir(open_ones.get())) {
      struct stat found {};
      if (entry->d_name[0] == '.' || fstatat(dirfd(open_ones.get()), entry->d_name, &found, 0) != 0) continue;
      if (!S_ISREG(found.st_mode) || found.st_nlink != 0) continue;
      if (!seen_.emplace(found.st_dev, found.st_ino).second) continue;
      (found.st_dev == disk_ ? usage_.nameless_disk : usage_.bytes) += std::int64_t{found.st_blocks} * 512;
    }
  }

 private:
  const dev_t disk_;
  Usage& usage_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

}  // namespace

ProcessTable::ProcessTable() {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), &closedir);
  if (!proc) return;
  const auto page = sysconf(_SC_PAGESIZE);
  while (const auto* entry = readdir(proc.get())) {
    const auto pid = static_cast<pid_t>(number_in(entry->d_name));
    if (pid <= 0) continue;
    const auto name = std::string(entry->d_name) + "/stat";
    const workspace::Descriptor file(openat(dirfd(proc.get()), name.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 1024> text{};
    const auto length = file ? read(file.get(), text.data(), text.size()) : -1;
    if (length <= 0) continue;
    const auto fields = fields_of({text.data(), static_cast<std::size_t>(length)});
    constexpr std::size_t parent = 1, resident = 21;  // counted behind the name: "state ppid ... rss"
    if (fields.size() <= resident) continue;
    const Entry one{static_cast<pid_t>(number_in(fields[parent])), number_in(fields[resident]) * page};
    all_.emplace(pid, one);
    children_.emplace(one.parent, pid);
  }
}

Usage ProcessTable::below(pid_t root, dev_t disk) const {
  Usage usage;
  Nameless nameless(disk, usage);
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const auto parent = open.back();
    open.pop_back();
    const auto [begin, end] = children_.equal_range(parent);
    for (auto at = begin; at != end; ++at) {
      ++usage.processes;
      usage.bytes += all_.at(at->second).bytes;
      nameless.of_process(at->second);
      open.push_back(at->second);
    }
  }
  return usage;
}

}  // namespace confined
