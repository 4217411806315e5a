// Where a data directory is: by what a start knows whether it has become another one, and the counter that is kept
// outside of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace krux {

/// Of the directory and the database in it. A copy has other inodes, another machine another name.
struct PlaceMarks {
  std::string machine;  ///< a hash; empty where the machine has no id
  std::string boot_id;
  std::int64_t device = 0;      ///< within one boot it stays
  std::int64_t filesystem = 0;  ///< statvfs' id: most file systems keep it over boots
  std::int64_t file_inode = 0, directory_inode = 0;
};

/// Throws krux::ConfigError when one of them cannot be looked at.
PlaceMarks marks_of(const std::filesystem::path& directory, const std::filesystem::path& file,
                    const std::string& ledger_id, const std::string& machine_id, const std::string& boot_id);

/// What of `before` is not so any more, as the end of "This data directory ..."; empty when it is the same place. The
/// path may be another one: what is moved within its file system stays what it was.
std::string difference(const PlaceMarks& before, const PlaceMarks& now);

/// The content of a machine's id file, without its line feed; empty where there is none.
std::string read_machine_id(const std::filesystem::path& file = "/etc/machine-id");

/// Throws krux::ConfigError for a directory of counters that would be copied with the data directory.
void check_places_outside(const std::filesystem::path& places, const std::filesystem::path& data_dir);

/// A ledger's counter and lock, outside of all its copies: PLACES/<ledger id> and PLACES/<ledger id>.lock.
class PlaceRecord {
 public:
  /// Creates the directory (0700) and holds the lock until destroyed. Throws krux::ConfigError with what to do: another
  /// host runs on a copy, the directory cannot be used or lies inside `data_dir`.
  PlaceRecord(std::filesystem::path places, const std::string& ledger_id, std::filesystem::path data_dir);
  ~PlaceRecord();
  PlaceRecord(const PlaceRecord&) = delete;
  PlaceRecord& operator=(const PlaceRecord&) = delete;

  /// Nothing when there is none. Throws krux::ConfigError for one that cannot be read.
  std::optional<std::int64_t> counter() const;
  /// Durable on return. Throws krux::Error DatabaseError.
  void write(std::int64_t counter);

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path data_dir_, file_;
  int lock_ = -1;
};

/// DIR/identity: the ledger's id beside its database; empty where there is none.
std::string read_identity(const std::filesystem::path& directory);
void write_identity(const std::filesystem::path& directory, const std::string& ledger_id);

}  // namespace krux
