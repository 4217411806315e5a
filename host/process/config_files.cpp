// What a configuration names on the disk, tried as the start would.
#include <fmt/format.h>
#include <unistd.h>

#include "core/net/connection.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/http/byte_stream.hpp"
#include "host/process/config_check.hpp"

namespace krux {
namespace {

[[noreturn]] void refuse_place(const char* setting, const std::filesystem::path& path, const std::string& why) {
  throw ConfigError(
      fmt::format("{}: {} cannot be used: {}. Name another place.", setting, printable(path.string()), why));
}

/// What of the directory is there already must be one that the host may write to.
void must_be_makeable(const char* setting, const std::filesystem::path& directory) {
  std::error_code error;
  auto there = directory;
  while (!std::filesystem::exists(there, error) && there.has_parent_path() && there != there.parent_path())
    there = there.parent_path();
  const auto shown = printable(there.string());
  if (!std::filesystem::is_directory(there, error)) refuse_place(setting, directory, shown + " is no directory");
  if (::access(there.c_str(), W_OK | X_OK) != 0)
    refuse_place(setting, directory, fmt::format("the host may not write to {}", shown));
}

void check_key(const char* setting, const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return must_be_makeable(setting, file.parent_path());
  if (!std::filesystem::is_regular_file(file, error)) refuse_place(setting, file, "it is no file");
  if (::access(file.c_str(), R_OK) != 0) refuse_place(setting, file, "the host may not read it");
}

}  // namespace

void check_files(const Config& config) {
  must_be_makeable("data_dir", config.data_dir);
  check_key("vault_key_file", config.vault_key_file);
  check_key("audit.key_file", config.audit.key_file);
  if (!config.server.tls_certificate.empty())
    TlsContext({config.server.tls_certificate, config.server.tls_key});  // throws where they cannot be used
  if (!config.net.ca_file.empty()) Network(config.net.ca_file);
}

}  // namespace krux
