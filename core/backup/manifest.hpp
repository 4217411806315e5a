// backup.json: which files a backup has, and what they were.
#pragma once

#include <filesystem>
#include <string>

#include "core/backup/backup.hpp"

namespace krux {

std::string backup_manifest_json(const BackupManifest& manifest);

/// Throws krux::Error InvalidInput for a file that is none, or of a newer format.
BackupManifest parse_backup_manifest(const std::filesystem::path& file);

}  // namespace krux
