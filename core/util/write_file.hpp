// Small files that are there whole or not at all.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace krux {

/// Replaces `file` by `content`: written beside it, made durable, renamed. After a crash the old or the new content is
/// there, never a part. Throws krux::Error DatabaseError.
void write_file_atomically(const std::filesystem::path& file, std::string_view content, mode_t mode = 0600);

/// Makes durable which files are there; false with errno where that fails.
bool sync_directory(const std::filesystem::path& directory);

}  // namespace krux
