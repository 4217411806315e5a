#include "host/bundles/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/definition/definition_loader.hpp"
#include "core/storage/data_directory.hpp"
#include "core/util/checked_file.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/file_owner.hpp"
#include "core/util/text.hpp"
#include "core/util/write_file.hpp"
#include "core/util/yaml_tree.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestBundle = std::uintmax_t{512} << 20;
constexpr std::size_t kMostFiles = 64;

[[noreturn]] void cannot(const char* what, const fs::path& path, const std::string& why) {
  throw ConfigError(fmt::format("{} cannot be {}: {}.", printable(path.string()), what, why));
}

void make_durable(const fs::path& directory) {
  if (!sync_directory(directory)) cannot("written", directory, std::strerror(errno));
}

void make_bundles_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory.parent_path(), error);
  if (error || (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST))
    cannot("made", directory, error ? error.message() : std::strerror(errno));
  struct stat info {};
  if (::lstat(directory.c_str(), &info) != 0) cannot("used", directory, std::strerror(errno));
  if (!S_ISDIR(info.st_mode)) cannot("used", directory, "it is not a directory");
  if (const auto problem = owner_problem(info); !problem.empty())
    throw ConfigError(fmt::format("The directory {} {}.", printable(directory.string()), problem));
}

/// Negative where somebody else has it.
int take_lock(const fs::path& data_dir) {
  const auto file = data_dir / "bundles.lock";
  Descriptor fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.get() < 0) cannot("opened", file, std::strerror(errno));
  return ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 ? fd.release() : -1;
}

int take_free_lock(const fs::path& data_dir) {
  const int lock = take_lock(data_dir);
  if (lock < 0) throw ConfigError("Another kruxos installs or removes a bundle; try again when it has ended.");
  return lock;
}

fs::path prepared(const fs::path& data_dir) {
  struct stat info {};
  // Root could install, and the host could not read what it had installed.
  if (::stat(data_dir.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid != ::geteuid())
    throw ConfigError(
        fmt::format("The data directory {} belongs to the user with the uid {}. Run this command as that "
                    "user.",
                    printable(data_dir.string()), info.st_uid));
  prepare_data_directory(data_dir);
  return data_dir;
}

void write_durably(const fs::path& file, std::string_view bytes) {
  const Descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400));
  if (fd.get() < 0) cannot("written", file, std::strerror(errno));
  while (!bytes.empty()) {
    const auto n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) cannot("written", file, std::strerror(n == 0 ? ENOSPC : errno));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::fchmod(fd.get(), 0400) != 0 || ::fsync(fd.get()) != 0) cannot("written", file, std::strerror(errno));
}

fs::path directory_of(const fs::path& source) {
  std::error_code error;
  auto directory = fs::absolute(source, error).lexically_normal();
  if (!error && directory.filename() == kManifestName && !fs::is_directory(directory, error))
    directory = directory.parent_path();
  if (!fs::is_directory(directory, error))
    throw ConfigError(fmt::format("{} is not a directory: name the one that holds the bundle's {}.",
                                  printable(source.string()), kManifestName));
  return directory;
}

}  // namespace

BundleStore::BundleStore(const fs::path& data_dir, fs::path bundles_dir)
    : data_dir_(prepared(data_dir)),
      bundles_dir_(std::move(bundles_dir)),
      staging_(staging_directory(data_dir_, bundles_dir_)),
      lock_(take_free_lock(data_dir_)) {
  make_bundles_directory(bundles_dir_);
  pins_ = read_pins(data_dir_);
}

BundleStore::~BundleStore() {
  std::error_code ignored;
  fs::remove_all(staging_, ignored);
}

fs::path BundleStore::stage(const fs::path& source) {
  const auto from = directory_of(source);
  const auto& to = staging_;
  std::error_code error;
  fs::remove_all(to, error);  // of one that was interrupted: the lock is ours
  if (error) cannot("removed", to, error.message());
  if (::mkdir(to.c_str(), 0700) != 0) cannot("made", to, std::strerror(errno));
  auto room = kLargestBundle;
  copy(from, kManifestName, room);
  const auto place = printable((from / kManifestName).string());
  const auto manifest = parse_manifest(read_text_file(to / kManifestName), place);
  const auto names = files_of(manifest);
  if (names.size() > kMostFiles)
    throw ConfigError(fmt::format("{}: it names {} files, at most {} are accepted.", place, names.size(), kMostFiles));
  for (const auto& name : names) {
    if (name == kManifestName) throw ConfigError(fmt::format("{}: it names itself as one of its files.", place));
    copy(from, name, room);
    KRUX_FAULT_POINT("bundle.install.copied");
  }
  make_durable(to);
  KRUX_FAULT_POINT("bundle.install.staged");
  return to;
}

void BundleStore::copy(const fs::path& from, const std::string& name, std::uintmax_t& room) {
  const auto most = name.ends_with(".yaml") ? kLargestBundleText : kLargestBundleFile;
  // Whoever may write the source, what was copied is what is examined, shown and pinned.
  const auto file = read_checked_file(from / name, most, FileWriters::kAnybody);
  if (!file.problem.empty()) throw ConfigError(fmt::format("{}: {}", printable((from / name).string()), file.problem));
  if (file.bytes.size() > room)
    throw ConfigError(
        fmt::format("{}: the bundle is larger than {} MiB.", printable(from.string()), kLargestBundle >> 20));
  room -= file.bytes.size();
  write_durably(staging_ / name, file.bytes);
}

void BundleStore::install(BundlePin pin) {
  // A name that no running host has loaded an adapter from.
  do {
    pin.directory = fmt::format("{}-{}", pin.terms.service, pins_.next++);
  } while (fs::exists(fs::symlink_status(bundles_dir_ / pin.directory)));
  pins_.directories.push_back(pin.directory);
  write_pins();  // before it is there: a kill leaves nothing that nobody knows of
  if (::rename(staging_.c_str(), (bundles_dir_ / pin.directory).c_str()) != 0)
    cannot("renamed", staging_, std::strerror(errno));
  make_durable(bundles_dir_);
  KRUX_FAULT_POINT("bundle.install.named");
  std::erase_if(pins_.bundles, [&](const auto& other) { return other.terms.service == pin.terms.service; });
  pins_.bundles.push_back(std::move(pin));
  write_pins();
  KRUX_FAULT_POINT("bundle.install.pinned");
}

void BundleStore::remove(const std::string& service) {
  if (!pins_.find(service))
    throw ConfigError(fmt::format("No bundle of {} is installed: kruxos plugin list shows them.", printable(service)));
  std::erase_if(pins_.bundles, [&](const auto& pin) { return pin.terms.service == service; });
  write_pins();
  KRUX_FAULT_POINT("bundle.remove.unpinned");
}

void BundleStore::write_pins() {
  std::sort(pins_.bundles.begin(), pins_.bundles.end(),
            [](const auto& a, const auto& b) { return a.terms.service < b.terms.service; });
  write_file_atomically(pins_file(data_dir_), pins_json(pins_) + "\n");
}

fs::path staging_directory(const fs::path& data_dir, const fs::path& bundles_dir) {
  std::error_code error;
  const auto whole = fs::weakly_canonical(data_dir, error);
  return bundles_dir / (".new-" + sha256_hex((error ? data_dir : whole).string()).substr(0, 12));
}

void remove_leftovers(const fs::path& data_dir, const fs::path& bundles_dir) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(bundles_dir, error))) return;
  const Descriptor lock(take_lock(data_dir));
  if (lock.get() < 0) return;
  fs::remove_all(staging_directory(data_dir, bundles_dir), error);
  auto pins = read_pins(data_dir);
  const auto removed = std::erase_if(pins.directories, [&](const std::string& name) {
    const bool pinned =
        std::any_of(pins.bundles.begin(), pins.bundles.end(), [&](const auto& pin) { return pin.directory == name; });
    if (pinned) return false;
    fs::remove_all(bundles_dir / name, error);
    return !fs::exists(fs::symlink_status(bundles_dir / name, error));
  });
  if (removed == 0) return;
  try {
    write_file_atomically(pins_file(data_dir), pins_json(pins) + "\n");
  } catch (const Error&) {
    // The next start finds nothing under these names. It keeps no bundle from being loaded.
  }
}

}  // namespace krux
