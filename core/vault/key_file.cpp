#include "core/vault/key_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/util/error.hpp"
#include "core/util/paths.hpp"
#include "core/util/write_file.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHexBytes = 2 * kVaultKeyBytes;

struct File {
  int fd;
  explicit File(int f) : fd(f) {}
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

[[noreturn]] void fail(const fs::path& file, const std::string& message) {
  throw ConfigError(fmt::format("The key file {} {}", file.string(), message));
}

[[noreturn]] void fail_errno(const fs::path& file, const char* what) {
  const std::string why = std::strerror(errno);
  fail(file, fmt::format("cannot be {}: {}.", what, why));
}

void check_owner(const fs::path& file, const struct stat& info) {
  if (!S_ISREG(info.st_mode)) fail(file, "is not a regular file.");
  if (info.st_uid != ::geteuid())
    fail(file, fmt::format("belongs to another user; run the host as its owner, or: chown {} {}", ::geteuid(),
                           file.string()));
  if ((info.st_mode & 077) != 0)
    fail(file, fmt::format("can be read or written by others (mode {:o}). Run: chmod 600 {}", info.st_mode & 0777,
                           file.string()));
}

/// Reads at most one byte more than a key and its line feed have.
std::size_t read_some(const fs::path& file, int fd, Secret& text) {
  std::size_t got = 0;
  while (got < text.size()) {
    const auto n = ::read(fd, text.bytes() + got, text.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(file, "read");
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

void write_all(const fs::path& file, int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(file, "written");
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::fsync(fd) != 0) fail_errno(file, "made durable");
}

void create_directories(const fs::path& file, const fs::path& directory) {
  if (directory.empty() || fs::exists(directory)) return;
  create_directories(file, directory.parent_path());
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) fail_errno(file, "created");
}

/// One line of hexadecimal digits.
Secret text_of(const Secret& key) {
  Secret text(kHexBytes + 1);
  sodium_bin2hex(text.bytes(), text.size(), reinterpret_cast<const unsigned char*>(key.reveal().data()), key.size());
  text.bytes()[kHexBytes] = '\n';
  return text;
}

/// For changes while the host runs, which goes on.
[[noreturn]] void fail_change(const fs::path& file, const char* what) {
  const std::string why = std::strerror(errno);
  throw database_error(fmt::format("The key file {} cannot be {}: {}.", file.string(), what, why));
}

void sync_directory_of(const fs::path& file) {
  if (!sync_directory(file.parent_path())) fail_change(file, "made durable");
}

}  // namespace

void check_key_outside(const fs::path& file, const fs::path& directory, std::string_view what,
                       std::string_view setting) {
  bool inside = false;
  try {
    inside = lies_in(file, directory);
  } catch (const Error& error) {
    fail(file, fmt::format("cannot be compared with the {} directory: {}", what, error.what()));
  }
  if (inside)
    fail(file, fmt::format("lies inside the {} directory {}: whoever copies that directory would have the key with it. "
                           "Move it elsewhere and set {}.",
                           what, directory.string(), setting));
}

std::optional<Secret> read_secret_line(const fs::path& file, std::size_t most) {
  const File opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (opened.fd < 0 && errno == ENOENT) return std::nullopt;
  if (opened.fd < 0) fail_errno(file, "opened");
  struct stat info {};
  if (::fstat(opened.fd, &info) != 0) fail_errno(file, "opened");
  check_owner(file, info);
  Secret text(most + 2);
  auto size = read_some(file, opened.fd, text);
  if (size > 0 && text.bytes()[size - 1] == '\n') --size;
  return Secret(text.reveal().substr(0, size));
}

std::optional<Secret> read_key_file(const fs::path& file) {
  const auto text = read_secret_line(file, kHexBytes);
  if (!text) return std::nullopt;
  Secret key(kVaultKeyBytes);
  std::size_t decoded = 0;
  const int result = sodium_hex2bin(reinterpret_cast<unsigned char*>(key.bytes()), key.size(), text->reveal().data(),
                                    text->size(), nullptr, &decoded, nullptr);
  if (text->size() != kHexBytes || result != 0 || decoded != kVaultKeyBytes)
    fail(file, "does not hold a key: one line of 64 hexadecimal digits is expected. Put the right file back.");
  return key;
}

Secret new_vault_key() {
  Secret key(kVaultKeyBytes);
  randombytes_buf(key.bytes(), key.size());
  return key;
}

void create_secret_line(const fs::path& file, const Secret& line) {
  create_directories(file, file.parent_path());
  const File made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made.fd < 0) fail_errno(file, "created");
  try {
    write_all(file, made.fd, line.reveal());
  } catch (const ConfigError&) {
    ::unlink(file.c_str());
    throw;
  }
  if (!sync_directory(file.parent_path())) fail_errno(file, "made durable");
}

Secret create_key_file(const fs::path& file) {
  auto key = new_vault_key();
  create_secret_line(file, text_of(key));
  return key;
}

fs::path staged_key_file(const fs::path& file) {
  auto staged = file;
  return staged += ".new";
}

void stage_key_file(const fs::path& file, const Secret& key) {
  create_directories(file, file.parent_path());
  write_file_atomically(staged_key_file(file), text_of(key).reveal());
}

void adopt_staged_key_file(const fs::path& file) {
  const auto staged = staged_key_file(file);
  if (::rename(staged.c_str(), file.c_str()) != 0) fail_change(file, "replaced");
  sync_directory_of(file);
}

void remove_key_file(const fs::path& file) {
  if (::unlink(file.c_str()) != 0) {
    if (errno != ENOENT) fail_change(file, "removed");
    return;
  }
  sync_directory_of(file);
}

}  // namespace krux
