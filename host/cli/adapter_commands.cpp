#include <ostream>

#include "host/cli/commands.hpp"

namespace krux::cli {

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
