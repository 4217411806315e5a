// The one directory that a host owns while it runs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace krux {

/// Creates the directory (0700) where it is missing. Throws krux::ConfigError with the command to run when it belongs
/// to another user or others can enter it.
void prepare_data_directory(const std::filesystem::path& directory);

/// Creates the directory (0700) and holds an exclusive lock on DIR/lock until destroyed. Throws krux::ConfigError with
/// the command to run when the directory belongs to another user, when others can enter it, or when another host uses
/// it.
class DataDirectory {
 public:
  explicit DataDirectory(std::filesystem::path directory);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  const std::filesystem::path& path() const { return directory_; }
  std::filesystem::path ledger() const { return directory_ / "kruxos.db"; }
  std::filesystem::path audit() const { return directory_ / "audit.db"; }
  std::filesystem::path control_socket() const { return directory_ / "control.sock"; }
  std::filesystem::path ports_file() const { return directory_ / "ports.json"; }

  /// Of uploads; creates it.
  std::filesystem::path uploads() const;
  /// replica/<service>/<account>.db with names made safe; creates its directory.
  std::filesystem::path replica(std::string_view service, std::string_view account_id) const;

 private:
  std::filesystem::path directory_;
  int lock_ = -1;
};

/// `text` as one file name: letters, digits, '_', '-', '@', '+' and inner dots stay, every other byte becomes %XX; what
/// would be too long is cut and ends with its SHA-256. Different texts give different names.
std::string safe_file_name(std::string_view text);

}  // namespace krux
