#include "core/backup/manifest.hpp"

#include <fmt/format.h>

#include "core/util/checked_file.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kManifestFormat = 1;
constexpr std::size_t kLargestManifest = 64 << 20;

}  // namespace

std::string backup_manifest_json(const BackupManifest& manifest) {
  std::string files;
  for (const auto& file : manifest.files)
    files += fmt::format("{}\n  {{\"name\":{},\"size\":{},\"sha256\":\"{}\"}}", files.empty() ? "" : ",",
                         json_string(file.name), file.copied.size, file.copied.sha256);
  return fmt::format("{{\"format\":{},\"version\":{},\"made_at_ms\":{},\"bundles_dir\":{},\"files\":[{}]}}\n",
                     kManifestFormat, json_string(manifest.version), manifest.made_at_ms,
                     json_string(manifest.bundles_dir), files);
}

BackupManifest parse_backup_manifest(const std::filesystem::path& path) {
  const auto read = read_checked_file(path, kLargestManifest, FileWriters::kAnybody);
  const auto name = printable(path.string());
  if (!read.problem.empty()) throw invalid_input(fmt::format("{}: {}", name, read.problem));
  const auto document = parse_json(read.bytes, name, {kLargestManifest, 8});
  const auto format = find_int(document, "format");
  if (format && *format > kManifestFormat)
    throw invalid_input(fmt::format("{} was made by a newer version of this program ({}). Update the program first.",
                                    name, printable(find_string(document, "version").value_or("unknown"))));
  const auto* files = find_member(document, "files");
  if (!format || !files || !files->IsArray()) throw invalid_input(fmt::format("{} describes no backup.", name));
  BackupManifest manifest;
  manifest.version = find_string(document, "version").value_or("");
  manifest.made_at_ms = find_int(document, "made_at_ms").value_or(0);
  manifest.bundles_dir = find_string(document, "bundles_dir").value_or("");
  for (const auto& file : files->GetArray()) {
    const auto named = file.IsObject() ? find_string(file, "name") : std::nullopt;
    const auto size = file.IsObject() ? find_int(file, "size") : std::nullopt;
    const auto sha256 = file.IsObject() ? find_string(file, "sha256") : std::nullopt;
    if (!named || !size || !sha256) throw invalid_input(fmt::format("{} describes no backup.", name));
    manifest.files.push_back({std::string(*named), {*size, std::string(*sha256)}});
  }
  return manifest;
}

}  // namespace krux
