// A file with a key: the vault's, the audit log's.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/vault/secret.hpp"

namespace krux {

inline constexpr std::size_t kVaultKeyBytes = 32;

/// Throws ConfigError unless `file` lies outside `directory`, symbolic links followed: who copies what the host keeps
/// there must not get the key with it. `what` names the directory: "data"; `setting` says where the file is:
/// "vault_key_file".
void check_key_outside(const std::filesystem::path& file, const std::filesystem::path& directory, std::string_view what,
                       std::string_view setting);

/// The key (32 bytes); nothing when there is no such file. Throws ConfigError for a file that is no regular file,
/// belongs to another user, can be read or written by others, or does not hold 64 hexadecimal digits.
std::optional<Secret> read_key_file(const std::filesystem::path& file);

/// The same of any secret of one line of at most `most` bytes, without its line feed.
std::optional<Secret> read_secret_line(const std::filesystem::path& file, std::size_t most);
/// As create_key_file().
void create_secret_line(const std::filesystem::path& file, const Secret& line);

/// Creates the file (0600) and its directories (0700) with a new key, durable on return. Throws ConfigError, also when
/// the file exists.
Secret create_key_file(const std::filesystem::path& file);

Secret new_vault_key();

// A key that is to replace another one, or a passphrase, stands beside its place first. All are durable on return;
// they throw krux::Error DatabaseError, or ConfigError where directories cannot be made.
std::filesystem::path staged_key_file(const std::filesystem::path& file);  ///< "<file>.new"
void stage_key_file(const std::filesystem::path& file, const Secret& key);
void adopt_staged_key_file(const std::filesystem::path& file);  ///< renames it into its place
/// Nothing happens when it is not there.
void remove_key_file(const std::filesystem::path& file);

}  // namespace krux
