#include "core/storage/place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "core/util/error.hpp"
#include "core/util/paths.hpp"
#include "core/util/text.hpp"
#include "core/util/write_file.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCounterLine = "counter ";

struct stat status_of_path(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    throw ConfigError(fmt::format("{} cannot be looked at: {}.", path.string(), std::strerror(errno)));
  return info;
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line.substr(0, 200);
}

void create_private(const fs::path& directory) {
  std::error_code error;
  if (fs::is_directory(directory, error)) return;
  if (directory.has_parent_path()) create_private(directory.parent_path());
  if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return;
  throw ConfigError(
      fmt::format("The host keeps a counter of each data directory outside of it, and {} cannot be created: {}. Set "
                  "places_dir to a directory that this user can write and that outlives restarts.",
                  directory.string(), std::strerror(errno)));
}

void check_places_owner(const fs::path& places) {
  const auto info = status_of_path(places);
  if (info.st_uid != ::geteuid())
    throw ConfigError(
        fmt::format("places_dir {} belongs to another user (uid {}). Run the host as that user, or set "
                    "places_dir to a directory of this one.",
                    places.string(), info.st_uid));
  if ((info.st_mode & 022) != 0)
    throw ConfigError(fmt::format("Other users can write places_dir {} (mode {:o}). Run: chmod 700 '{}'",
                                  places.string(), info.st_mode & 0777, places.string()));
}

/// The lock's file says for people who holds it.
int take_lock_of(const fs::path& file, const fs::path& data_dir) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) throw ConfigError(fmt::format("{} cannot be opened: {}.", file.string(), std::strerror(errno)));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    throw ConfigError(
        fmt::format("Another kruxosd ({}) runs on a copy of the data directory {}, or this one is the copy. Two copies "
                    "of one ledger never run at once: they would send the same writes. Stop it first.",
                    printable(first_line(file)), data_dir.string()));
  }
  const auto holder = fmt::format("pid {} on {}\n", ::getpid(), data_dir.string());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, holder.data(), holder.size(), 0) < 0) {
    const std::string reason = std::strerror(errno);
    ::close(fd);
    throw ConfigError(fmt::format("{} cannot be written: {}.", file.string(), reason));
  }
  return fd;
}

}  // namespace

PlaceMarks marks_of(const fs::path& directory, const fs::path& file, const std::string& ledger_id,
                    const std::string& machine_id, const std::string& boot_id) {
  const auto of_file = status_of_path(file), of_directory = status_of_path(directory);
  struct statvfs filesystem {};
  ::statvfs(directory.c_str(), &filesystem);
  PlaceMarks marks;
  // The id itself is not to be shown to others: machine-id(5).
  if (!machine_id.empty()) marks.machine = sha256_hex("kruxos place " + ledger_id + " " + machine_id);
  marks.boot_id = boot_id;
  marks.device = static_cast<std::int64_t>(of_file.st_dev);
  marks.filesystem = static_cast<std::int64_t>(filesystem.f_fsid);
  marks.file_inode = static_cast<std::int64_t>(of_file.st_ino);
  marks.directory_inode = static_cast<std::int64_t>(of_directory.st_ino);
  return marks;
}

std::string difference(const PlaceMarks& before, const PlaceMarks& now) {
  if (before.machine != now.machine) return "was used on another machine before";
  if (before.file_inode != now.file_inode) return "holds another file kruxos.db than before";
  if (before.directory_inode != now.directory_inode) return "is another directory than before";
  // Devices may be numbered anew by a boot; within one a clone of a whole volume has another.
  const bool same_device = before.device == now.device;
  const bool same_filesystem = before.filesystem == now.filesystem && before.boot_id != now.boot_id;
  if (!same_device && !same_filesystem) return "lies on another file system than before";
  return {};
}

void check_places_outside(const fs::path& places, const fs::path& data_dir) {
  if (!lies_in(places, data_dir)) return;
  throw ConfigError(
      fmt::format("places_dir {} lies inside the data directory {}: who copies that directory would copy the counter "
                  "that shows copies. Set places_dir to a directory elsewhere.",
                  places.string(), data_dir.string()));
}

std::string read_machine_id(const fs::path& file) {
  return first_line(file);
}

PlaceRecord::PlaceRecord(fs::path places, const std::string& ledger_id, fs::path data_dir)
    : data_dir_(std::move(data_dir)), file_(places / ledger_id) {
  check_places_outside(places, data_dir_);
  create_private(places);
  check_places_owner(places);
  auto lock = file_;
  lock_ = take_lock_of(lock += ".lock", data_dir_);
}

PlaceRecord::~PlaceRecord() {
  ::close(lock_);
}

std::optional<std::int64_t> PlaceRecord::counter() const {
  std::error_code error;
  if (!fs::exists(file_, error) && !error) return std::nullopt;
  const auto line = first_line(file_);
  std::int64_t counter = 0;
  const auto* end = line.data() + line.size();
  if (line.starts_with(kCounterLine)) {
    const auto read = std::from_chars(line.data() + kCounterLine.size(), end, counter);
    if (read.ec == std::errc() && read.ptr == end && counter > 0) return counter;
  }
  throw ConfigError(
      fmt::format("{} does not hold a counter (\"counter 17\"). If nobody can say what stood there, remove it: the "
                  "next start then holds every write that has not ended.",
                  file_.string()));
}

void PlaceRecord::write(std::int64_t counter) {
  write_file_atomically(file_, fmt::format("{}{}\ndata_dir {}\n", kCounterLine, counter, data_dir_.string()));
}

std::string read_identity(const fs::path& directory) {
  return first_line(directory / "identity");
}

void write_identity(const fs::path& directory, const std::string& ledger_id) {
  write_file_atomically(directory / "identity", ledger_id + "\n");
}

}  // namespace krux
