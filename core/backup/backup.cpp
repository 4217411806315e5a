#include "core/backup/backup.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/backup/backup_files.hpp"
#include "core/backup/manifest.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/ids.hpp"
#include "core/util/paths.hpp"
#include "core/util/text.hpp"
#include "core/util/write_file.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;

void check_target(const BackupOrder& order) {
  const auto& target = order.target;
  if (!target.is_absolute() || !target.has_filename())
    throw invalid_input(
        fmt::format("{} is no place for a backup: name a directory that is to be made.", named_path(target)));
  const auto refuse_inside = [&target](const fs::path& outer, const char* what) {
    if (!lies_in(target, outer)) return;
    throw invalid_input(
        fmt::format("{} lies inside the {} directory {}. Name a directory elsewhere, best on another "
                    "disk.",
                    named_path(target), what, named_path(outer)));
  };
  refuse_inside(order.data_dir, "data");
  refuse_inside(order.bundles_dir, "bundles");
  std::error_code error;
  if (fs::exists(fs::symlink_status(target, error)))
    throw conflict(fmt::format("{} exists already. Name a directory that is to be made: a backup replaces nothing.",
                               named_path(target)));
  if (!fs::is_directory(target.parent_path(), error))
    throw invalid_input(
        fmt::format("There is no directory {}. Make it, or name another place.", named_path(target.parent_path())));
}

/// A backup that leaves out what it cannot read would be found out when it is needed.
void check_readable(const std::error_code& error, const fs::path& directory) {
  if (error)
    throw database_error(fmt::format("{} cannot be read: {}. No backup was made: mend that, then repeat it.",
                                     named_path(directory), error.message()));
}

/// Adds those below `directory / below`; a directory that is not there, or not any more, has none.
void add_files(const fs::path& directory, const fs::path& below, std::vector<std::string>& names) {
  std::error_code error;
  fs::directory_iterator at(directory / below, error);
  if (error == std::errc::no_such_file_or_directory) return;
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code gone;
    const auto type = at->symlink_status(gone).type();
    const auto name = below / at->path().filename();
    if (type == fs::file_type::directory) add_files(directory, name, names);
    if (type == fs::file_type::regular) names.push_back(name.generic_string());
    if (type == fs::file_type::none) check_readable(gone, at->path());
  }
  check_readable(error, directory / below);
}

/// Below `directory`, as names with '/'. Symbolic links are nobody's here.
std::vector<std::string> files_below(const fs::path& directory) {
  std::vector<std::string> names;
  add_files(directory, {}, names);
  std::sort(names.begin(), names.end());
  return names;
}

bool is_same(const fs::path& a, const fs::path& b) {
  return lies_in(a, b) && lies_in(b, a);
}

bool is_replica(const std::string& name) {
  return name.ends_with(".db");
}

/// Removes what was made unless it was finished.
class Unfinished {
 public:
  explicit Unfinished(fs::path directory) : directory_(std::move(directory)) {}
  ~Unfinished() {
    std::error_code error;
    if (!directory_.empty()) fs::remove_all(directory_, error);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  void finished() { directory_.clear(); }

 private:
  fs::path directory_;
};

class BackupMaker {
 public:
  BackupMaker(const BackupOrder& order, fs::path staging) : order_(order), staging_(std::move(staging)) {
    manifest_.version = order.version;
    manifest_.made_at_ms = order.now_ms;
    if (!is_same(order.bundles_dir, order.data_dir / "bundles")) manifest_.bundles_dir = order.bundles_dir.string();
  }

  BackupManifest make() {
    database(kBackupLedger, kLedgerKind);
    hold_when_started();
    note(kBackupLedger);
    KRUX_FAULT_POINT("backup.ledger.copied");
    // Behind the ledger: what the copy of that still has in its outbox is chained at the next start.
    if (exists(kBackupAudit)) {
      database(kBackupAudit, kAuditKind);
      note(kBackupAudit);
    }
    for (const auto& name : named_uploads()) file("uploads/" + name, 0600);
    if (exists("bundles.json")) file("bundles.json", 0600);
    for (const auto& name : order_.pinned_files(staging_)) bundle_file(name);
    if (order_.replicas) {
      for (const auto& name : files_below(order_.data_dir / "replica")) {
        if (is_replica(name)) replica("replica/" + name);
      }
    }
    write_file_atomically(staging_ / kBackupManifest, backup_manifest_json(manifest_));
    make_tree_durable(staging_);
    return std::move(manifest_);
  }

 private:
  bool exists(const std::string& name) const {
    std::error_code error;
    return fs::exists(order_.data_dir / name, error);
  }
  void database(const std::string& name, const DatabaseKind& kind) {
    make_directories((staging_ / name).parent_path());
    copy_database(order_.data_dir / name, kind, staging_ / name, order_.stop);
  }
  void note(const std::string& name) {
    make_durable(staging_ / name);
    manifest_.files.push_back({name, hash_file(staging_ / name)});
  }
  void file(const std::string& name, mode_t mode) { file(order_.data_dir / name, name, mode); }
  void file(const fs::path& from, const std::string& name, mode_t mode) {
    make_directories((staging_ / name).parent_path());
    manifest_.files.push_back({name, copy_file_durably(from, staging_ / name, mode, order_.stop)});
  }
  /// One that is missing keeps its bundle from being loaded, which the host says.
  void bundle_file(const std::string& name) {
    const auto from = order_.bundles_dir / name;
    struct stat info {};
    if (::stat(from.c_str(), &info) == 0) return file(from, "bundles/" + name, info.st_mode & 0700);
    if (errno != ENOENT) check_readable({errno, std::generic_category()}, from);
  }
  /// One that is being removed or set aside meanwhile is none any more.
  void replica(const std::string& name) {
    try {
      database(name, kReplicaKind);
    } catch (const Error&) {
      if (exists(name)) throw;
      std::error_code error;
      fs::remove(staging_ / name, error);
      return;
    }
    note(name);
  }

  void hold_when_started() {
    const auto db = open_database(staging_ / kBackupLedger, kLedgerKind, true);
    execute(db->getHandle(), "PRAGMA journal_mode=DELETE");
    hold_at_next_start(db->getHandle(), fmt::format("was restored from a backup of {}", format_time(order_.now_ms)));
  }

  /// Of which the ledger's copy knows. Their bytes never change; one that has expired since is gone.
  std::vector<std::string> named_uploads() const {
    const auto db = open_reader(staging_ / kBackupLedger, kLedgerKind);
    Statement rows(db->getHandle(), "SELECT upload_id FROM uploads ORDER BY upload_id");
    std::vector<std::string> names;
    while (rows.step()) {
      std::string name(rows.text(0));
      if (exists("uploads/" + name)) names.push_back(std::move(name));
    }
    return names;
  }

  static void hold_at_next_start(sqlite3* db, const std::string& reason);

  const BackupOrder& order_;
  const fs::path staging_;
  BackupManifest manifest_;
};

/// Also of a ledger that has no place yet.
void BackupMaker::hold_at_next_start(sqlite3* db, const std::string& reason) {
  Statement(db,
            "INSERT INTO place (only, ledger_id, counter, next_counter, hold_reason) VALUES (1, ?1, 0, 0, ?2) ON "
            "CONFLICT (only) DO UPDATE SET hold_reason = excluded.hold_reason")
      .bind_all(random_hex(16), reason)
      .run();
}

std::uintmax_t size_of_data(const BackupOrder& order) {
  std::vector<fs::path> files{order.data_dir / kBackupLedger, order.data_dir / "kruxos.db-wal",
                              order.data_dir / kBackupAudit, order.data_dir / "audit.db-wal",
                              order.data_dir / "bundles.json"};
  const auto add_all = [&files](const fs::path& directory) {
    for (const auto& name : files_below(directory)) files.push_back(directory / name);
  };
  add_all(order.data_dir / "uploads");
  for (const auto& name : order.pinned_files(order.data_dir)) files.push_back(order.bundles_dir / name);
  if (order.replicas) add_all(order.data_dir / "replica");
  std::uintmax_t bytes = 0;
  for (const auto& file : files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) bytes += size;
  }
  return bytes;
}

}  // namespace

BackupManifest make_backup(const BackupOrder& order) {
  check_target(order);
  check_room(order.target.parent_path(), size_of_data(order));
  const auto staging =
      order.target.parent_path() / fmt::format(".{}.{}", order.target.filename().string(), random_hex(4));
  make_directories(staging);
  Unfinished unfinished(staging);
  auto manifest = BackupMaker(order, staging).make();
  KRUX_FAULT_POINT("backup.files.durable");
  std::error_code error;
  if (fs::exists(fs::symlink_status(order.target, error)))
    throw conflict(fmt::format("{} has appeared meanwhile. Name another place.", named_path(order.target)));
  if (::rename(staging.c_str(), order.target.c_str()) != 0)
    throw database_error(fmt::format("{} cannot be made: {}.", named_path(order.target), std::strerror(errno)));
  unfinished.finished();
  make_durable(order.target.parent_path());
  return manifest;
}

}  // namespace krux
