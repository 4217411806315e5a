#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/scaffold.hpp"

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

int certify_adapter(const Session& session, CertifyRequest request) {
  if (!request.list && request.file.empty())
    throw CliError(kUsage, "Name the bundle's manifest.yaml or its directory: kruxos adapter certify FILE");
  request.progress = [&console = session.console](const std::string& line) { console.progress(line); };
  const auto report = session.certify(request);
  session.console.progress("");
  session.console.out() << (session.json ? report.json + "\n" : report.text);
  return report.passed ? kOk : kFailed;
}

}  // namespace krux::cli
