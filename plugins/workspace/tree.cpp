#include "workspace/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <kruxos/kit/text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "workspace/failure.hpp"
#include "workspace/home.hpp"

namespace workspace {
namespace {

constexpr int kInside = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::size_t kPiece = 64 * 1024;
constexpr int kDeepest = 96;  ///< of directories: each costs a descriptor
constexpr std::uint64_t kMostEntries = 1'000'000;

using Listing = std::unique_ptr<DIR, int (*)(DIR*)>;

/// Of a directory's entries as the kernel gives them, without "." and "..".
template <class Use>
void each_name(int directory, const Use& use) {
  const int again = openat(directory, ".", kInside);  // a position of its own
  if (again < 0) throw failure_of(errno, kRoot, "listed");
  const Listing listing(fdopendir(again), &closedir);
  if (!listing) throw failure_of(errno, kRoot, "listed");
  while (true) {
    errno = 0;
    const auto* const entry = readdir(listing.get());
    if (!entry) {
      if (errno != 0) throw failure_of(errno, kRoot, "listed");
      return;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !use(name)) return;
  }
}

bool is_readable(std::string_view name) {
  return kruxos::kit::is_utf8(name) && std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

class Hash {
 public:
  Hash() { crypto_hash_sha256_init(&state_); }
  Hash& add(std::string_view bytes) {
    crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    return *this;
  }
  std::string hex() {
    std::array<unsigned char, crypto_hash_sha256_BYTES> bytes{};
    crypto_hash_sha256_final(&state_, bytes.data());
    std::array<char, 2 * crypto_hash_sha256_BYTES + 1> text{};
    sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
    return text.data();
  }

 private:
  crypto_hash_sha256_state state_{};
};

Descriptor regular_file(int directory, const std::string& name, struct stat& found) {
  Descriptor file(openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
  if (!file || fstat(file.get(), &found) != 0) throw failure_of(errno, name, "read");
  if (!S_ISREG(found.st_mode)) throw conflict("A file has become something else meanwhile.");
  return file;
}

template <class Use>
void each_piece(int file, const MayGoOn& may_go_on, const Use& use) {
  std::vector<char> piece(kPiece);
  while (true) {
    may_go_on();
    const auto got = read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failure_of(errno, kRoot, "read");
    if (got == 0) return;
    use(std::string_view(piece.data(), static_cast<std::size_t>(got)));
  }
}

void write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto put = write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw failure_of(errno, kRoot, "written");
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

/// For a directory that somebody has closed to its owner; what it has become meanwhile is left alone.
void let_in(int directory, const std::string& name, mode_t mode) {
  const Descriptor place(openat(directory, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (place) (void)!chmod(("/proc/self/fd/" + std::to_string(place.get())).c_str(), mode & 0777);
}

void must_be_shallow(int depth) {
  if (depth > kDeepest) throw refused("The directory is nested too deeply: 96 levels are accepted.", "TooLarge");
}

std::string file_print(int directory, const std::string& name, const MayGoOn& may_go_on) {
  struct stat found {};
  const auto file = regular_file(directory, name, found);
  Hash hash;
  each_piece(file.get(), may_go_on, [&](std::string_view piece) { hash.add(piece); });
  return "file " + std::to_string(found.st_mode & 07777) + " " + hash.hex();
}

std::string link_text(int directory, const std::string& name) {
  std::array<char, 4096> text{};
  const auto length = readlinkat(directory, name.c_str(), text.data(), text.size());
  return length < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(length));
}

void add_prints(int directory, int depth, Hash& hash, const MayGoOn& may_go_on);

void add_print(int directory, const std::string& name, const struct stat& found, int depth, Hash& hash,
               const MayGoOn& may_go_on) {
  must_be_shallow(depth);
  may_go_on();
  hash.add(name).add({"\0", 1}).add(type_of(found.st_mode));
  if (S_ISREG(found.st_mode))
    hash.add(std::to_string(found.st_size))
        .add(" ")
        .add(std::to_string(found.st_mtim.tv_sec) + "." + std::to_string(found.st_mtim.tv_nsec));
  if (S_ISLNK(found.st_mode)) hash.add(link_text(directory, name));
  hash.add({"\0", 1});
  if (!S_ISDIR(found.st_mode)) return;
  const Descriptor below(openat(directory, name.c_str(), kInside));
  if (!below) throw failure_of(errno, name, "read");
  add_prints(below.get(), depth + 1, hash, may_go_on);
  hash.add("end");
}

/// Of all that is in the directory, whatever its name.
void add_prints(int directory, int depth, Hash& hash, const MayGoOn& may_go_on) {
  std::vector<std::string> names;
  each_name(directory, [&](std::string_view name) {
    if (names.size() >= kMostEntries) throw refused("The directory has too many entries.", "TooLarge");
    names.emplace_back(name);
    return true;
  });
  std::sort(names.begin(), names.end());
  for (const auto& name : names) {
    struct stat found {};
    if (fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
    add_print(directory, name, found, depth, hash, may_go_on);
  }
}

/// What has gone meanwhile is of no size; anything else that cannot be looked at could hide whatever it likes.
void note_unseen(Size& size) {
  if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) size.is_whole = false;
}

/// A sparse file counts in full, and so does what is reserved behind a file's end.
std::uint64_t bytes_of(const struct stat& found) {
  constexpr std::uint64_t rounding = 4096;
  const auto said = static_cast<std::uint64_t>(found.st_size);
  const auto taken = static_cast<std::uint64_t>(found.st_blocks) * 512;
  return taken > said + rounding ? taken : said;
}

/// Throws nothing of its own: whoever changes the directory meanwhile ends no walk.
void add_size(int directory, const std::string& name, int depth, std::uint64_t most, Size& size,
              const MayGoOn& may_go_on) {
  struct stat found {};
  if (size.entries >= most) return;
  if (fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return note_unseen(size);
  may_go_on();
  ++size.entries;
  if (S_ISREG(found.st_mode)) size.bytes += bytes_of(found);
  if (!S_ISDIR(found.st_mode)) return;
  if (depth == kDeepest) {
    size.is_whole = false;
    return;
  }
  if ((found.st_mode & 0500) != 0500) let_in(directory, name, found.st_mode | 0500);
  const int below = openat(directory, name.c_str(), kInside);
  if (below < 0) return note_unseen(size);
  const Listing listing(fdopendir(below), &closedir);
  if (!listing) return note_unseen(size);
  for (errno = 0; const auto* const entry = size.entries < most ? readdir(listing.get()) : nullptr; errno = 0) {
    const std::string child = entry->d_name;
    if (child != "." && child != "..") add_size(below, child, depth + 1, most, size, may_go_on);
  }
  if (errno != 0) note_unseen(size);
}

struct Copying {
  const Path& shown;
  Size most, done{};
  const MayGoOn& may_go_on;
};

void count(Copying& copying, std::uint64_t entries, std::uint64_t bytes) {
  copying.done.entries += entries;
  copying.done.bytes += bytes;
  if (copying.done.entries > copying.most.entries || copying.done.bytes > copying.most.bytes)
    throw refused(copying.shown.shown() + " is too large: the workspace has no room for a copy.", "WorkspaceFull");
}

void copy_file(int from, const std::string& name, int to, const std::string& as, Copying& copying) {
  struct stat found {};
  const auto source = regular_file(from, name, found);
  const Descriptor target(openat(to, as.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target) throw failure_of(errno, copying.shown.shown(), "copied");
  each_piece(source.get(), copying.may_go_on, [&](std::string_view piece) {
    count(copying, 0, piece.size());
    write_all(target.get(), piece);
  });
  if (fchmod(target.get(), found.st_mode & 0777) != 0 || fsync(target.get()) != 0)
    throw failure_of(errno, copying.shown.shown(), "copied");
}

void copy_one(int from, const std::string& name, int to, const std::string& as, int depth, Copying& copying) {
  struct stat found {};
  must_be_shallow(depth);
  if (fstatat(from, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
    throw failure_of(errno, copying.shown.shown(), "copied");
  count(copying, 1, 0);
  if (S_ISREG(found.st_mode)) return copy_file(from, name, to, as, copying);
  if (!S_ISDIR(found.st_mode))
    throw refused(
        copying.shown.shown() + " holds a " + type_of(found.st_mode) + "; only files and directories are copied.",
        "NotAFile");
  if (mkdirat(to, as.c_str(), 0755) != 0) throw failure_of(errno, copying.shown.shown(), "copied");
  const Descriptor source(openat(from, name.c_str(), kInside)), target(openat(to, as.c_str(), kInside));
  if (!source || !target) throw failure_of(errno, copying.shown.shown(), "copied");
  each_name(source.get(), [&](std::string_view child) {
    copy_one(source.get(), std::string(child), target.get(), std::string(child), depth + 1, copying);
    return true;
  });
  sync_directory(target.get());
}

bool remove_at(int directory, const std::string& name, int depth) {
  if (unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return true;
  if (errno != EISDIR && errno != EPERM && errno != EACCES) return false;
  if (depth > kDeepest) return false;
  if (unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0) return true;
  let_in(directory, name, 0700);
  const Descriptor below(openat(directory, name.c_str(), kInside));
  if (!below) return false;
  bool all = true;
  std::vector<std::string> names;
  each_name(below.get(), [&](std::string_view child) {
    names.emplace_back(child);
    return true;
  });
  for (const auto& child : names) all = remove_at(below.get(), child, depth + 1) && all;
  return unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0 && all;
}

}  // namespace

Names names_in(int directory, std::size_t most, const MayGoOn& may_go_on) {
  Names all;
  each_name(directory, [&](std::string_view name) {
    may_go_on();
    if (!is_readable(name)) {
      ++all.unreadable;
      return true;
    }
    all.is_cut = all.names.size() == most;
    if (!all.is_cut) all.names.emplace_back(name);
    return !all.is_cut;
  });
  std::sort(all.names.begin(), all.names.end());
  return all;
}

Size size_of(int directory, const std::string& name, std::uint64_t most_entries, const MayGoOn& may_go_on) {
  Size size;
  add_size(directory, name, 0, most_entries, size, may_go_on);
  return size;
}

std::string print_of(int directory, const std::string& name, const MayGoOn& may_go_on) {
  struct stat found {};
  if (fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    throw failure_of(errno, name, "looked at");
  }
  if (S_ISREG(found.st_mode)) return file_print(directory, name, may_go_on);
  Hash hash;
  // The name itself does not count: what was moved is the same under another one.
  hash.add(type_of(found.st_mode));
  if (S_ISLNK(found.st_mode)) hash.add(link_text(directory, name));
  if (!S_ISDIR(found.st_mode)) return hash.hex();
  const Descriptor below(openat(directory, name.c_str(), kInside));
  if (!below) throw failure_of(errno, name, "read");
  add_prints(below.get(), 1, hash, may_go_on);
  return "tree " + hash.hex();
}

std::string sha256_of(std::string_view bytes) {
  return Hash().add(bytes).hex();
}

void copy_tree(int from, const std::string& name, int to, const std::string& as, const Path& shown, Size most,
               const MayGoOn& may_go_on) {
  Copying copying{shown, most, {}, may_go_on};
  copy_one(from, name, to, as, 0, copying);
}

bool remove_tree(int directory, const std::string& name) {
  try {
    return remove_at(directory, name, 0);
  } catch (const kruxos::ProxyError&) {
    return false;
  }
}

void put_file(int directory, const std::string& name, std::string_view bytes, mode_t mode) {
  const Descriptor file(openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) throw failure_of(errno, name, "written");
  write_all(file.get(), bytes);
  if (fchmod(file.get(), mode & 0777) != 0 || fsync(file.get()) != 0) throw failure_of(errno, name, "written");
}

void put_durably(int directory, const std::string& name, std::string_view bytes) {
  const auto next = name + ".new";
  remove_tree(directory, next);
  put_file(directory, next, bytes, 0600);
  if (renameat(directory, next.c_str(), directory, name.c_str()) != 0) throw failure_of(errno, kRoot, "written");
  sync_directory(directory);
}

void sync_directory(int directory) {
  if (fsync(directory) != 0) throw failure_of(errno, kRoot, "written");
}

std::string small_file(int directory, const std::string& name) {
  constexpr std::size_t most = 64 * 1024;
  struct stat found {};
  if (fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return {};
  const auto file = regular_file(directory, name, found);
  std::string all;
  each_piece(
      file.get(), [] {},
      [&](std::string_view piece) {
        all.append(piece);
        if (all.size() > most) throw conflict("A file of the undo store is too large.");
      });
  return all;
}

}  // namespace workspace
