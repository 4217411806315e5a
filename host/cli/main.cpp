// The operator's command.
#include <sys/prctl.h>

#include <exception>

#include "core/policy/definition_set.hpp"
#include "core/util/text.hpp"
#include "host/bundles/inspect.hpp"
#include "host/certify/certify.hpp"
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

krux::BundleContents inspect_bundle(const krux::cli::BundleQuestion& asked) {
  auto bundle = krux::inspect_bundle(asked.directory, nullptr, {}, asked.shown);
  const auto directory = asked.definitions.empty() ? installed_definitions() : asked.definitions;
  krux::refuse_taken(*bundle.contents.definition, krux::DefinitionSet(directory).all());
  return std::move(bundle.contents);
}

krux::cli::VerifyReport certify(const krux::cli::CertifyRequest& request) {
  using namespace krux::certify;
  if (request.list) return {true, list_text(), list_json()};
  CertifyOptions options;
  options.bundle = request.file;
  options.only = request.only;
  options.time_limit_ms = request.time_limit_s * 1000;
  options.on_result = [&request](const CheckResult& result) {
    if (request.progress) request.progress(result.id + " " + krux::printable(result.subject));
  };
  const auto report = krux::certify::certify(options);
  auto text = report_text(report);
  const auto written = write_certificate(report, request.output);
  text +=
      written.empty() ? "No certificate was written.\n" : "Certificate: " + krux::printable(written.string()) + "\n";
  return {report.passed(), text, report_json(report)};
}

}  // namespace

int main(int count, char** values) {
  prctl(PR_SET_DUMPABLE, 0);  // it holds tokens and passphrases: no core dump, and no look by others of this user
  return krux::cli::run_command({values + 1, values + count}, krux::cli::system_console(), verify, certify,
                                inspect_bundle);
}
