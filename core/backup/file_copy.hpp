// Copies that are there whole and durable, or not at all: of files, and of databases that are being written.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "core/storage/database.hpp"

namespace krux {

struct CopiedFile {
  std::int64_t size = 0;
  std::string sha256;  ///< hexadecimal
};

/// Asked now and then: true ends the copy with an Error.
using CopyStop = std::function<bool()>;

/// A new file of the same bytes and this mode, durable on return. Throws krux::Error DatabaseError.
CopiedFile copy_file_durably(const std::filesystem::path& from, const std::filesystem::path& to, mode_t mode,
                             const CopyStop& stop = {});

/// A consistent copy (0600) of a database that others may be writing, as it was at one moment: one file, whole by
/// SQLite's full integrity check, not yet made durable. While it is made, no checkpoint shortens the write-ahead log.
/// Throws krux::Error DatabaseError.
void copy_database(const std::filesystem::path& from, const DatabaseKind& kind, const std::filesystem::path& to,
                   const CopyStop& stop = {});

/// Why the file is no whole database, as SQLite says it; empty: it is one.
std::string integrity_problem(const std::filesystem::path& file);

CopiedFile hash_file(const std::filesystem::path& file);
void make_durable(const std::filesystem::path& file_or_directory);
/// The directory with all below it: their entries, not the files themselves.
void make_tree_durable(const std::filesystem::path& directory);

}  // namespace krux
