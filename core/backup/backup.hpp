// A data directory as files elsewhere, and back. docs/operations.md tells the operator's side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/backup/file_copy.hpp"

namespace krux {

struct BackupFile {
  std::string name;  ///< below the backup, "replica/notes/N1.db"
  CopiedFile copied;
};

struct BackupManifest {
  std::string version;  ///< of the program that made it
  std::int64_t made_at_ms = 0;
  std::string bundles_dir;  ///< where the bundles lay; empty: below the data directory, where a restore puts them
  std::vector<BackupFile> files;
};

struct BackupOrder {
  std::filesystem::path data_dir, bundles_dir;
  std::filesystem::path target;  ///< absolute; made, and not there before
  std::string version;
  std::int64_t now_ms = 0;
  bool replicas = true;  ///< also the local copies of the services' data, which could be synced anew
  CopyStop stop;
  /// The files below bundles_dir that the bundles.json in a directory pins: nothing else there is a bundle's. May throw
  /// krux::Error.
  std::function<std::vector<std::string>(const std::filesystem::path& directory)> pinned_files;
};

/// While the host runs or not: kruxos.db as it is at one moment, audit.db after that, the uploads that it names, the
/// bundles, the replicas each as it is at one moment after that. Each database is checked whole, every file is durable,
/// and `target` appears only then. What is started from it holds its writes. Never the vault's key. Throws krux::Error
/// InvalidInput (a target that cannot be one), ConflictError (it exists), DatabaseError (also for a directory that
/// cannot be read).
BackupManifest make_backup(const BackupOrder& order);

struct RestoreOrder {
  std::filesystem::path backup, data_dir;
  CopyStop stop;
};

/// Into a data directory that is empty or missing, and that no host uses. Bundles come below the data
/// directory, wherever they lay. Every file is compared with the backup's hashes, kruxos.db comes last; cut short, the
/// directory cannot be started, and the restore can be repeated. The next start holds every write that has not ended.
/// Throws krux::Error (InvalidInput, ConflictError, DatabaseError) or krux::ConfigError.
BackupManifest restore_backup(const RestoreOrder& order);

/// Throws ConfigError for a data directory in which a restore was cut short.
const std::filesystem::path& without_unfinished_restore(const std::filesystem::path& data_dir);

}  // namespace krux
