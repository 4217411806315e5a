// Policies and rules as the policy commands read them: from directories, with or without a running host.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/policy/definition_set.hpp"
#include "core/policy/rules/rule_book.hpp"
#include "host/cli/session.hpp"

namespace krux::cli {

struct PolicyArguments {
  std::string policies;     ///< policies_dir; empty: the running host's, else the installed one
  std::string definitions;  ///< the same of definitions_dir
  std::string before, now;  ///< two directories of policies, to be compared
  std::string capability, agent, arguments, at;
  std::string since, until;  ///< of simulate
};

/// One directory of policies over one of definitions.
class PolicyFilesRead {
 public:
  PolicyFilesRead(const std::filesystem::path& policies, const std::filesystem::path& definitions);

  /// Throws CliError with the first sentence where something is refused.
  void must_be_whole() const;

  const std::vector<std::shared_ptr<const ServiceDefinition>>& definitions() const { return definitions_; }
  const RuleSet& rules() const { return *rules_; }
  struct Problem {
    std::string reason;
    bool refuses = true;
  };
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<std::shared_ptr<const ServiceDefinition>> definitions_;
  RuleSetPtr rules_;
  std::vector<Problem> problems_;
};

struct PolicyPlaces {
  std::filesystem::path policies, definitions;
};
/// Where they are: as the arguments say, else as the running host has them, else as they are installed.
PolicyPlaces find_policy_places(const Session& session, const PolicyArguments& arguments);

/// Of a directory that the arguments name.
PolicyFilesRead read_policies(const std::filesystem::path& policies, const std::filesystem::path& definitions);

}  // namespace krux::cli
