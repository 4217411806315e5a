#include "host/plugins/verify.hpp"

#include <fmt/format.h>

#include <system_error>

#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

std::string_view word(PluginCheck::Outcome outcome) {
  switch (outcome) {
    case PluginCheck::Outcome::kPassed:
      return "ok";
    case PluginCheck::Outcome::kWarned:
      return "warn";
    case PluginCheck::Outcome::kFailed:
      return "FAILED";
    case PluginCheck::Outcome::kSkipped:
      return "-";
  }
  return "-";
}

}  // namespace

PluginReport verify_plugin(const std::filesystem::path& file, const InspectOptions& options) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(file, error).lexically_normal();
  const auto directory = error ? absolute : std::filesystem::canonical(absolute.parent_path(), error);
  if (!error) return inspect_plugin(directory / absolute.filename(), options);
  PluginReport report;
  report.file = file;
  report.checks.push_back({"directory", PluginCheck::Outcome::kFailed,
                           fmt::format("The directory of {} cannot be used: {}.", file.string(), error.message())});
  return report;
}

std::string report_text(const PluginReport& report) {
  std::string out = printable(report.file.string()) + "\n";
  for (const auto& check : report.checks) {
    out += fmt::format("  {:<7} {:<30} {}\n", word(check.outcome), check.name, printable(check.detail));
  }
  return out;
}

std::string report_json(const PluginReport& report) {
  std::string checks;
  for (const auto& check : report.checks) {
    checks +=
        fmt::format("{}{{\"name\":{},\"outcome\":{},\"detail\":{}}}", checks.empty() ? "" : ",",
                    json_string(check.name), json_string(word(check.outcome)), json_string(printable(check.detail)));
  }
  return fmt::format(
      "{{\"file\":{},\"ok\":{},\"service\":{},\"prefix\":{},\"version\":{},\"abi_minor\":{},\"sha256\":{},\"checks\":[{"
      "}]}}",
      json_string(printable(report.file.string())), report.passed(), json_string(report.entry.service),
      json_string(report.entry.prefix), json_string(report.entry.version), report.entry.abi_minor,
      json_string(report.sha256), checks);
}

}  // namespace krux
