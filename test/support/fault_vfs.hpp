// A disk that fails on demand: a SQLite VFS laid over the default one.
#pragma once

#include <atomic>
#include <string>

namespace support {

/// While one lives, it is SQLite's default VFS: connections opened meanwhile go through it. They must be closed before
/// it dies.
class FaultVfs {
 public:
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  /// From the `after`-th write (0: the next) to a file whose name ends with `suffix` on, writes return `code`, until
  /// heal().
  void fail_writes(int code, int after = 0, const std::string& suffix = "");
  /// The next sync of such a file returns `code` after the data has reached the disk; further ones as well if
  /// `lasting`.
  void fail_syncs(int code, const std::string& suffix = "", bool lasting = false);
  /// Opening files fails with SQLITE_CANTOPEN.
  void fail_opens(bool fail);
  void heal();

  /// How often a fault was returned.
  int faults() const;
  /// How often a log (-wal) was synced.
  int log_syncs() const;
};

}  // namespace support
