#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/scaffold.hpp"
#include "host/plugins/probe.hpp"

namespace krux::cli {

int new_adapter(const Session& session, const ScaffoldPlan& plan) {
  const auto made = scaffold_adapter(plan);
  auto& out = session.console.out();
  if (session.json) {
    out << "{\"service\":" << json_string(made.name) << ",\"prefix\":" << json_string(made.prefix)
        << ",\"directory\":" << json_string(printable(made.directory.string())) << ",\"files\":[";
    for (std::size_t i = 0; i < made.files.size(); ++i) out << (i == 0 ? "" : ",") << json_string(made.files[i]);
    out << "]}\n";
    return kOk;
  }
  const auto directory = printable(made.directory.string());
  out << fmt::format("An adapter of {} is in {}. It builds and passes its tests as it is:\n\n", made.display_name,
                     directory)
      << fmt::format("  cd {}\n  cmake -S . -B build && cmake --build build && ctest --test-dir build\n\n", directory)
      << fmt::format("README.md says how to try it with a host, and what to change first.\n");
  return kOk;
}

namespace {

/// Of the running host, for a command that goes without one where it is told its directories.
HostAnswer config_of(const Session& session) {
  try {
    return session.host.get("/v1/config");
  } catch (const CliError& error) {
    if (error.code() != kNotRunning) throw;
    throw CliError(kNotRunning,
                   fmt::format("{} Or say where the files go, with --adapters and --definitions.", error.what()));
  }
}

}  // namespace

int wrap_server(const Session& session, std::vector<std::string> words) {
  const auto program = find_helper("kruxos-wrap-mcp");
  if (program.empty())
    throw CliError(kUsage,
                   "kruxos-wrap-mcp, which wraps MCP servers, is not where it is installed: beside kruxos, or in "
                   "../libexec/kruxos.");
  // What stands behind -- is the wrapped program's.
  const auto own = std::find(words.begin(), words.end(), "--");
  const auto has = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(words.begin(), own, [&](const std::string& word) {
      return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return word == name || word.starts_with(std::string(name) + "=");
      });
    });
  };
  std::vector<std::string> all{program.string()};
  if (!words.empty() && !has({"-h", "--help"}) && !(has({"--adapters"}) && has({"--definitions"}))) {
    const auto config = config_of(session);
    const auto directory = [&](const char* key) { return std::string(text(part(config.json, key), "value")); };
    if (!has({"--adapters"})) all.insert(all.end(), {"--adapters", directory("plugins_dir")});
    if (!has({"--definitions"})) all.insert(all.end(), {"--definitions", directory("definitions_dir")});
  }
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (auto& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  session.console.out().flush();
  ::execv(pointers[0], pointers.data());
  throw CliError(kUsage, fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

namespace {

/// Of a directory that is no bundle itself: the bundles in it, by name. Otherwise the one that was named.
std::vector<std::string> bundles_of(const std::string& named) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(named, error) || fs::exists(fs::path(named) / "manifest.yaml", error)) return {named};
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(named, error)) {
    if (fs::exists(entry.path() / "manifest.yaml", error)) out.push_back(entry.path().string());
  }
  if (out.empty())
    throw CliError(kUsage, fmt::format("Neither {} nor a directory in it holds a manifest.yaml.", printable(named)));
  std::sort(out.begin(), out.end());
  return out;
}

int certify_several(const Session& session, CertifyRequest request, const std::vector<std::string>& bundles) {
  if (!request.output.empty())
    throw CliError(kUsage, "--output goes with one bundle. Leave it out: each certificate stands beside its manifest.");
  auto& out = session.console.out();
  std::string reports;
  std::vector<std::string> failed;
  for (const auto& bundle : bundles) {
    const auto name = std::filesystem::path(bundle).filename().string();
    request.file = bundle;
    VerifyReport report;
    try {
      report = session.certify(request);
    } catch (const std::exception& error) {  // its manifest cannot be used; that ends none of the others
      report.text = std::string(error.what()) + "\n";
      report.json = fmt::format("{{\"passed\":false,\"error\":{}}}", json_string(error.what()));
    }
    session.console.progress("");
    if (!report.passed) failed.push_back(printable(name));
    if (!session.json) out << fmt::format("== {}\n{}\n", printable(name), report.text) << std::flush;
    reports += fmt::format("{}{{\"bundle\":{},\"report\":{}}}", reports.empty() ? "" : ",",
                           json_string(printable(name)), report.json);
  }
  if (session.json) {
    out << fmt::format("{{\"passed\":{},\"bundles\":[{}]}}\n", failed.empty(), reports);
  } else if (failed.empty()) {
    out << fmt::format("All {} adapters passed.\n", bundles.size());
  } else {
    out << fmt::format("{} of {} adapters failed: {}\n", failed.size(), bundles.size(), fmt::join(failed, ", "));
  }
  return failed.empty() ? kOk : kFailed;
}

}  // namespace

int certify_adapter(const Session& session, CertifyRequest request) {
  if (!request.list && request.file.empty())
    throw CliError(kUsage, "Name the bundle's manifest.yaml or its directory: kruxos adapter certify FILE");
  request.progress = [&console = session.console](const std::string& line) { console.progress(line); };
  if (!request.list) {
    const auto bundles = bundles_of(request.file);
    if (bundles.size() > 1 || bundles.front() != request.file) return certify_several(session, request, bundles);
  }
  const auto report = session.certify(request);
  session.console.progress("");
  session.console.out() << (session.json ? report.json + "\n" : report.text);
  return report.passed ? kOk : kFailed;
}

}  // namespace krux::cli
