#include "host/cli/policy_files.hpp"

#include <fmt/format.h>

#include "core/util/text.hpp"

namespace krux::cli {
namespace {

namespace fs = std::filesystem;

/// Seen from this program.
fs::path installed(const char* directory) {
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "share/kruxos" / directory;
}

std::string configured(const Session& session, const char* key) {
  try {
    return text(part(session.host.get("/v1/config").json, key), "value");
  } catch (const CliError& error) {
    if (error.code() != kNotRunning) throw;
    return {};
  }
}

fs::path chosen(const Session& session, const std::string& given, const char* key, const char* directory) {
  if (!given.empty()) return given;
  const auto running = configured(session, key);
  return running.empty() ? installed(directory) : fs::path(running);
}

}  // namespace

PolicyFilesRead::PolicyFilesRead(const fs::path& policies, const fs::path& definitions) {
  const DefinitionSet set(definitions, policies);
  definitions_ = set.all();
  for (const auto& problem : set.problems()) problems_.push_back({problem.reason, problem.refuses});
  const RuleBook book(policies, {definitions_, &unanswered_facts()});
  rules_ = book.current();
  for (const auto& problem : book.problems()) problems_.push_back({problem.reason, problem.refuses});
}

void PolicyFilesRead::must_be_whole() const {
  for (const auto& problem : problems_) {
    if (problem.refuses) throw CliError(kFailed, problem.reason);
  }
}

PolicyPlaces find_policy_places(const Session& session, const PolicyArguments& arguments) {
  return {chosen(session, arguments.policies, "policies_dir", "policies"),
          chosen(session, arguments.definitions, "definitions_dir", "definitions")};
}

PolicyFilesRead read_policies(const fs::path& policies, const fs::path& definitions) {
  std::error_code error;
  if (!fs::is_directory(policies, error))
    throw CliError(kUsage, fmt::format("{} is no directory of policies.", printable(policies.string())));
  return {policies, definitions};
}

}  // namespace krux::cli
