// What backup and restore share. Internal to them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace krux {

inline constexpr const char* kBackupManifest = "backup.json";
inline constexpr const char* kBackupLedger = "kruxos.db";
inline constexpr const char* kBackupAudit = "audit.db";

/// For people.
std::string named_path(const std::filesystem::path& path);
/// 0700. Throws krux::Error DatabaseError.
void make_directories(const std::filesystem::path& directory);
/// Throws krux::Error DatabaseError where the file system of `at` has less left.
void check_room(const std::filesystem::path& at, std::uintmax_t needed);

}  // namespace krux
