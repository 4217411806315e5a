// The operator's command.
#include <exception>

#include "core/capability/definition_set.hpp"
#include "host/cli/command_line.hpp"
#include "host/plugins/verify.hpp"

namespace {

/// Where an installed host has its definitions, seen from this program.
std::filesystem::path installed_definitions() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "share/kruxos/definitions";
}

krux::cli::VerifyReport verify(const std::filesystem::path& file, const std::filesystem::path& given) {
  const auto directory = given.empty() ? installed_definitions() : given;
  krux::InspectOptions options;
  if (given.empty() && !std::filesystem::is_directory(directory)) {
    const auto report = krux::verify_plugin(file, options);
    return {report.passed(), krux::report_text(report), krux::report_json(report)};
  }
  const krux::DefinitionSet definitions(directory);
  const krux::DefinitionSetIndex index(definitions);
  options.definitions = &index;
  const auto report = krux::verify_plugin(file, options);
  return {report.passed(), krux::report_text(report), krux::report_json(report)};
}

}  // namespace

int main(int count, char** values) {
  return krux::cli::run_command({values + 1, values + count}, krux::cli::system_console(), verify);
}
