#include "core/storage/data_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

void make_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (directory.has_parent_path()) std::filesystem::create_directories(directory.parent_path(), error);
  if (error || (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)) {
    throw ConfigError(fmt::format("The directory {} cannot be created: {}. Create it, or name another data_dir.",
                                  directory.string(), error ? error.message() : std::strerror(errno)));
  }
}

void check_directory(const std::filesystem::path& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) {
    throw ConfigError(
        fmt::format("The data directory {} cannot be used: {}.", directory.string(), std::strerror(errno)));
  }
  if (!S_ISDIR(info.st_mode)) {
    throw ConfigError(fmt::format("{} is not a directory. Name another data_dir.", directory.string()));
  }
  if (info.st_uid != ::geteuid()) {
    throw ConfigError(
        fmt::format("The data directory {} belongs to another user (uid {}). Run the host as that user, or: "
                    "chown -R {} '{}'",
                    directory.string(), info.st_uid, ::geteuid(), directory.string()));
  }
  if ((info.st_mode & 077) != 0) {
    throw ConfigError(fmt::format("Other users can reach the data directory {} (mode {:o}). Run: chmod 700 '{}'",
                                  directory.string(), info.st_mode & 0777, directory.string()));
  }
}

std::string owner_of_lock(int fd) {
  char buffer[32] = {};
  const auto n = ::pread(fd, buffer, sizeof buffer - 1, 0);
  std::string pid;
  for (ssize_t i = 0; i < n && buffer[i] >= '0' && buffer[i] <= '9'; ++i) pid += buffer[i];
  return pid.empty() ? "unknown" : pid;
}

int take_lock(const std::filesystem::path& directory) {
  const auto file = directory / "lock";
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) throw ConfigError(fmt::format("{} cannot be opened: {}.", file.string(), std::strerror(errno)));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const auto owner = owner_of_lock(fd);
    ::close(fd);
    throw ConfigError(
        fmt::format("Another kruxosd (pid {}) uses the data directory {}. Stop it, or name another data_dir.", owner,
                    directory.string()));
  }
  const auto pid = fmt::format("{}\n", ::getpid());
  // The pid is there for people; the lock itself does not depend on it.
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) {
    const std::string reason = std::strerror(errno);
    ::close(fd);
    throw ConfigError(fmt::format("{} cannot be written: {}.", file.string(), reason));
  }
  return fd;
}

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '@' || c == '+';
}

}  // namespace

void prepare_data_directory(const std::filesystem::path& directory) {
  make_directory(directory);
  check_directory(directory);
}

DataDirectory::DataDirectory(std::filesystem::path directory) : directory_(std::move(directory)) {
  directory_ = std::filesystem::absolute(directory_).lexically_normal();
  if (!directory_.has_filename()) directory_ = directory_.parent_path();
  prepare_data_directory(directory_);
  lock_ = take_lock(directory_);
}

DataDirectory::~DataDirectory() {
  ::close(lock_);
}

std::filesystem::path DataDirectory::uploads() const {
  auto folder = directory_ / "uploads";
  make_directory(folder);
  return folder;
}

std::filesystem::path DataDirectory::replica(std::string_view service, std::string_view account_id) const {
  const auto folder = directory_ / "replica" / safe_file_name(service);
  make_directory(folder.parent_path());
  make_directory(folder);
  return folder / (safe_file_name(account_id) + ".db");
}

std::string safe_file_name(std::string_view text) {
  constexpr std::size_t longest = 200;
  if (text.empty()) return "%";
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inner_dot = text[i] == '.' && i > 0 && i + 1 < text.size();
    if (stays(text[i]) || inner_dot) {
      name += text[i];
    } else {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(text[i]));
    }
  }
  if (name.size() > longest) name = fmt::format("{}%-{}", name.substr(0, longest - 66), sha256_hex(text));
  return name;
}

}  // namespace krux
