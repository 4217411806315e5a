// The way back of a backup.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "core/backup/backup.hpp"
#include "core/backup/backup_files.hpp"
#include "core/backup/manifest.hpp"
#include "core/storage/data_directory.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/paths.hpp"
#include "core/util/text.hpp"
#include "core/util/write_file.hpp"

namespace krux {
namespace {

constexpr const char* kUnfinished = ".restoring";

/// Names that stand in a manifest lead nowhere but below the backup.
void check_file_name(const std::string& name) {
  const std::filesystem::path path(name);
  const bool plain = !name.empty() && path.is_relative() && path.lexically_normal() == path &&
                     std::none_of(path.begin(), path.end(), [](const std::filesystem::path& p) { return p == ".."; });
  if (!plain)
    throw invalid_input(fmt::format("The backup's {} names the file \"{}\", which cannot be one of its own.",
                                    kBackupManifest, printable(name)));
}

BackupManifest read_manifest(const std::filesystem::path& backup) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(backup / kBackupManifest, error))
    throw invalid_input(fmt::format("{} is no backup: it has no {}. Name a directory that kruxos backup has made.",
                                    named_path(backup), kBackupManifest));
  auto manifest = parse_backup_manifest(backup / kBackupManifest);
  for (const auto& file : manifest.files) check_file_name(file.name);
  const auto is_ledger = [](const BackupFile& file) { return file.name == kBackupLedger; };
  if (std::none_of(manifest.files.begin(), manifest.files.end(), is_ledger))
    throw invalid_input(
        fmt::format("{} holds no {}: it is no backup of a data directory.", named_path(backup), kBackupLedger));
  return manifest;
}

/// But for the lock that is held in it.
void empty_it(const std::filesystem::path& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const auto name = entry.path().filename();
    if (name != "lock" && name != kUnfinished) std::filesystem::remove_all(entry.path());
  }
}

void must_be_empty(const std::filesystem::path& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().filename() == "lock") continue;
    throw conflict(
        fmt::format("The data directory {} is not empty ({} is there). Move it away, or name another one "
                    "with --data-dir: a restore replaces nothing.",
                    named_path(directory), printable(entry.path().filename().string())));
  }
}

/// Under `to`, and only as what the backup says that it is.
void restore_file(const RestoreOrder& order, const BackupFile& file, const std::filesystem::path& to) {
  make_directories(to.parent_path());
  const auto from = order.backup / file.name;
  struct stat info {};
  const mode_t mode = ::stat(from.c_str(), &info) == 0 ? info.st_mode & 0700 : 0600;
  const auto copied = copy_file_durably(from, to, mode | 0600, order.stop);
  if (copied.sha256 == file.copied.sha256 && copied.size == file.copied.size) return;
  throw database_error(
      fmt::format("{} is not what it was when the backup was made (its SHA-256 differs). Nothing was "
                  "restored: use another backup.",
                  named_path(from)));
}

void restore_files(const RestoreOrder& order, const BackupManifest& manifest) {
  const auto& data = order.data_dir;
  const BackupFile* ledger = nullptr;
  for (const auto& file : manifest.files) {
    if (file.name == kBackupLedger) {
      ledger = &file;
    } else {
      restore_file(order, file, data / file.name);
    }
    KRUX_FAULT_POINT("restore.file.copied");
  }
  const auto staged = data / "kruxos.db.new";
  restore_file(order, *ledger, staged);
  if (const auto problem = integrity_problem(staged); !problem.empty())
    throw database_error(fmt::format("The backup's {} is not whole: {}. Use another backup.", kBackupLedger, problem));
  KRUX_FAULT_POINT("restore.ledger.copied");
  if (::rename(staged.c_str(), (data / kBackupLedger).c_str()) != 0)
    throw database_error(
        fmt::format("{} cannot be named {}: {}.", named_path(staged), kBackupLedger, std::strerror(errno)));
}

}  // namespace

BackupManifest restore_backup(const RestoreOrder& order) {
  auto manifest = read_manifest(order.backup);
  if (lies_in(order.backup, order.data_dir))
    throw invalid_input(fmt::format("The backup {} lies inside the data directory. Move it elsewhere first.",
                                    named_path(order.backup)));
  const DataDirectory directory(order.data_dir);
  std::error_code error;
  if (!std::filesystem::exists(order.data_dir / kUnfinished, error)) {
    must_be_empty(order.data_dir);
    std::uintmax_t bytes = 0;
    for (const auto& file : manifest.files) bytes += static_cast<std::uintmax_t>(file.copied.size);
    check_room(order.data_dir, bytes);
    write_file_atomically(order.data_dir / kUnfinished, order.backup.string() + "\n");
  }
  empty_it(order.data_dir);
  KRUX_FAULT_POINT("restore.marker.written");
  try {
    restore_files(order, manifest);
  } catch (...) {
    // Nothing of a restore that failed stays: the directory is as empty as it was.
    empty_it(order.data_dir);
    std::filesystem::remove(order.data_dir / kUnfinished, error);
    throw;
  }
  make_tree_durable(order.data_dir);
  make_durable(order.data_dir.parent_path());
  std::filesystem::remove(order.data_dir / kUnfinished, error);
  make_durable(order.data_dir);
  return manifest;
}

const std::filesystem::path& without_unfinished_restore(const std::filesystem::path& data_dir) {
  std::error_code error;
  if (!std::filesystem::exists(data_dir / kUnfinished, error)) return data_dir;
  throw ConfigError(
      fmt::format("A restore into the data directory {} was cut short: what is there is not whole. "
                  "Repeat kruxos restore, or remove the directory.",
                  named_path(data_dir)));
}

}  // namespace krux
