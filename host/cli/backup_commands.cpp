// Backups of a running host, and their way back.
#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "core/backup/backup.hpp"
#include "core/storage/database.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"

namespace krux::cli {
namespace {

constexpr int kLongestBackupSeconds = 24 * 3600;

/// The host does not know where the command was called.
std::string absolute_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

double mebibytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

std::int64_t size_of(const BackupManifest& manifest) {
  std::int64_t bytes = 0;
  for (const auto& file : manifest.files) bytes += file.copied.size;
  return bytes;
}

ExitCode code_of(const Error& error) {
  return error.type() == ErrorCode::kConflictError  ? kConflict
         : error.type() == ErrorCode::kInvalidInput ? kUsage
                                                    : kFailed;
}

}  // namespace

int make_backup_of_host(const Session& session, const BackupArguments& arguments) {
  auto body =
      fmt::format(R"({{"directory":{},"replicas":{})", json_string(without_slash(absolute_path(arguments.directory))),
                  arguments.without_replicas ? "false" : "true");
  if (!arguments.key_file.empty()) body += ",\"key_file\":" + json_string(absolute_path(arguments.key_file));
  const auto answer = session.host.with_timeout(kLongestBackupSeconds).post("/v1/backup", body + "}");
  if (session.printed(answer)) return kOk;
  auto& out = session.console.out();
  out << fmt::format("Backup made: {} ({} files, {:.1f} MiB). Every database in it was checked.\n",
                     printable(text(answer.json, "directory")), number(answer.json, "files"),
                     mebibytes(number(answer.json, "bytes")));
  const auto key = text(answer.json, "key_file");
  if (!key.empty()) {
    out << fmt::format("The vault's key: {}. Whoever has both can use the services' tokens.\n", printable(key));
  } else if (flag(answer.json, "passphrase")) {
    out << "The vault's passphrase of this moment opens the tokens in it.\n";
  } else {
    out << "The vault's key is not in it; without that file its tokens cannot be opened (--with-key FILE copies it).\n";
  }
  return kOk;
}

int restore_data_directory(const Session& session, const std::string& backup) {
  if (session.data_dir.empty())
    throw CliError(kUsage, "A restore needs the data directory, and no running host: name it with --data-dir.");
  configure_sqlite();
  BackupManifest manifest;
  try {
    manifest =
        restore_backup({without_slash(absolute_path(backup)), without_slash(absolute_path(session.data_dir)), {}});
  } catch (const Error& error) {
    throw CliError(code_of(error), error.what());
  } catch (const ConfigError& error) {
    throw CliError(kConflict, error.what());
  }
  if (session.json) {
    session.console.out() << fmt::format(
        "{{\"data_dir\":{},\"made_at_ms\":{},\"files\":{},\"bytes\":{},\"bundles_dir\":{}}}\n",
        json_string(session.data_dir.string()), manifest.made_at_ms, manifest.files.size(), size_of(manifest),
        json_string(manifest.bundles_dir));
    return kOk;
  }
  session.console.out() << fmt::format(
      "Restored into {}: {} files, {:.1f} MiB, as of {}. Put the vault's key of that time into its place, then start "
      "kruxosd: every write that had not ended is held until you release, complete or discard it (kruxos held list).\n",
      printable(session.data_dir.string()), manifest.files.size(), mebibytes(size_of(manifest)),
      moment(manifest.made_at_ms, session.now_ms));
  if (!manifest.bundles_dir.empty()) {
    session.console.out() << fmt::format(
        "The installed bundles lay in {} and are in {} now. Where the configuration has bundles_dir, take it out, or "
        "copy "
        "them to where it leads, before you start kruxosd.\n",
        printable(manifest.bundles_dir), printable((session.data_dir / "bundles").string()));
  }
  return kOk;
}

}  // namespace krux::cli
