#include "core/backup/file_copy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/storage/sqlite_error.hpp"
#include "core/storage/statement.hpp"
#include "core/util/descriptor.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr std::size_t kCopyBlock = 1 << 20;
constexpr int kPagesAtOnce = 1024;

[[noreturn]] void copy_failed(const std::filesystem::path& file, const char* what) {
  const std::string why = std::strerror(errno);
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  throw database_error(fmt::format("{} cannot be {}: {}.{}", file.string(), what, why,
                                   full ? " Free some space there, then repeat this." : ""));
}

void check_stop(const CopyStop& stop) {
  if (stop && stop())
    throw Error(ErrorCode::kServiceUnavailable, "The host stops. Repeat this when it runs again.", true);
}

class Sha256 {
 public:
  Sha256() { crypto_hash_sha256_init(&state_); }
  void add(const char* bytes, std::size_t size) {
    crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes), size);
  }
  std::string hex() {
    std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
    crypto_hash_sha256_final(&state_, hash.data());
    std::string text(2 * hash.size() + 1, '\0');
    sodium_bin2hex(text.data(), text.size(), hash.data(), hash.size());
    text.pop_back();
    return text;
  }

 private:
  crypto_hash_sha256_state state_{};
};

std::size_t read_block(const std::filesystem::path& file, int fd, std::vector<char>& block) {
  for (;;) {
    const auto n = ::read(fd, block.data(), block.size());
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) copy_failed(file, "read");
  }
}

void write_block(const std::filesystem::path& file, int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const auto n = ::write(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) copy_failed(file, "written");
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
}

/// A new file that only its owner can reach, also while it grows.
void create_empty(const std::filesystem::path& file) {
  const Descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.get() < 0) copy_failed(file, "created");
}

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
using DatabaseHandle = std::unique_ptr<sqlite3, CloseDatabase>;

DatabaseHandle open_plain(const std::filesystem::path& file, int flags) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &db, flags, nullptr);
  DatabaseHandle handle(db);
  if (code != SQLITE_OK) throw storage_error(code, file.string(), db ? sqlite3_errmsg(db) : "");
  return handle;
}

/// All pages as they are in the source's open read transaction.
void copy_pages(sqlite3* from, sqlite3* to, const std::filesystem::path& target, const CopyStop& stop) {
  sqlite3_backup* const backup = sqlite3_backup_init(to, "main", from, "main");
  if (!backup) throw storage_error(sqlite3_errcode(to), target.string(), sqlite3_errmsg(to));
  int code = SQLITE_OK;
  bool stopped = false;
  while (code == SQLITE_OK && !stopped) {
    code = sqlite3_backup_step(backup, kPagesAtOnce);
    stopped = code == SQLITE_OK && stop && stop();
  }
  const int end = sqlite3_backup_finish(backup);
  if (stopped) check_stop(stop);
  if (code != SQLITE_DONE) throw storage_error(code, target.string(), sqlite3_errmsg(to));
  if (end != SQLITE_OK) throw storage_error(end, target.string(), sqlite3_errmsg(to));
}

}  // namespace

CopiedFile copy_file_durably(const std::filesystem::path& from, const std::filesystem::path& to, mode_t mode,
                             const CopyStop& stop) {
  const Descriptor in(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (in.get() < 0) copy_failed(from, "opened");
  create_empty(to);
  const Descriptor out(::open(to.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (out.get() < 0) copy_failed(to, "opened");
  std::vector<char> block(kCopyBlock);
  CopiedFile copied;
  Sha256 hash;
  while (const auto n = read_block(from, in.get(), block)) {
    check_stop(stop);
    write_block(to, out.get(), block.data(), n);
    hash.add(block.data(), n);
    copied.size += static_cast<std::int64_t>(n);
  }
  if (::fchmod(out.get(), mode) != 0 || ::fsync(out.get()) != 0) copy_failed(to, "made durable");
  copied.sha256 = hash.hex();
  return copied;
}

void copy_database(const std::filesystem::path& from, const DatabaseKind& kind, const std::filesystem::path& to,
                   const CopyStop& stop) {
  const auto source = open_reader(from, kind);
  execute(source->getHandle(), "BEGIN");
  {
    // The moment that is copied: from here on the reader sees nothing else.
    Statement first(source->getHandle(), "SELECT count(*) FROM sqlite_master");
    first.run();
  }
  create_empty(to);
  {
    const auto target = open_plain(to, SQLITE_OPEN_READWRITE);
    copy_pages(source->getHandle(), target.get(), to, stop);
    // One file: a copy needs no write-ahead log beside it.
    execute(target.get(), "PRAGMA journal_mode=DELETE");
  }
  execute(source->getHandle(), "ROLLBACK");
  check_stop(stop);
  if (const auto problem = integrity_problem(to); !problem.empty())
    throw database_error(
        fmt::format("The copy {} is not whole: {}. Check the disk, then repeat this.", to.string(), problem));
}

std::string integrity_problem(const std::filesystem::path& file) {
  try {
    const auto db = open_plain(file, SQLITE_OPEN_READONLY);
    Statement check(db.get(), "PRAGMA integrity_check(1)");
    const bool any = check.step();
    const auto said = any ? std::string(check.text(0)) : std::string("it said nothing");
    return said == "ok" ? std::string() : said;
  } catch (const Error& error) {
    return error.what();
  }
}

CopiedFile hash_file(const std::filesystem::path& file) {
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (in.get() < 0) copy_failed(file, "opened");
  std::vector<char> block(kCopyBlock);
  CopiedFile found;
  Sha256 hash;
  while (const auto n = read_block(file, in.get(), block)) {
    hash.add(block.data(), n);
    found.size += static_cast<std::int64_t>(n);
  }
  found.sha256 = hash.hex();
  return found;
}

void make_durable(const std::filesystem::path& file_or_directory) {
  const Descriptor fd(::open(file_or_directory.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) copy_failed(file_or_directory, "made durable");
}

void make_tree_durable(const std::filesystem::path& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.is_directory()) make_tree_durable(entry.path());
  }
  make_durable(directory);
}

}  // namespace krux
