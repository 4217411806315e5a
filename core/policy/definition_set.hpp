// All definitions of a directory.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/definition/definition.hpp"

namespace krux {

/// Any thread.
class DefinitionSet {
 public:
  struct Problem {
    std::filesystem::path file;  ///< or the directory, of which then nothing was read
    std::string reason;          ///< a sentence that names the file
    bool refuses = true;         ///< false: nothing is missing for it
  };

  /// Loads every *.yaml below `directory` (not its subdirectories) that fits; what does not is a problem. So is what
  /// others than root and the user of this process could write; of such a directory nothing is loaded.
  /// Each definition is put under the operator's policy <policies>/<service>.yaml where there is one. A policy that
  /// cannot be applied refuses its service, a directory of policies that cannot be read refuses them all: nobody is
  /// served with less than the operator wrote. An empty `policies`: there are none.
  explicit DefinitionSet(std::filesystem::path directory, std::filesystem::path policies = {});

  /// Throws ConfigError where add_fixed() would. The policy of that service is no problem for acting on nothing from
  /// then on: the service is missing for the policy's sake.
  void check_policy(const std::shared_ptr<const ServiceDefinition>& definition);

  /// One more, from elsewhere, that no reload replaces, under the operator's policy like the others. Its service and
  /// prefix are free. Throws ConfigError when its policy cannot be applied.
  void add_fixed(std::shared_ptr<const ServiceDefinition> definition);

  /// Reads both directories again. A definition whose file is now broken or gone, or whose policy is broken, stays as
  /// it was, and is a problem. A policy whose file was taken away is lifted.
  void reload();

  /// Of the last load.
  std::vector<Problem> problems() const;
  std::vector<std::shared_ptr<const ServiceDefinition>> all() const;  ///< by service name
  std::shared_ptr<const ServiceDefinition> find(const std::string& service) const;
  const std::filesystem::path& directory() const { return directory_; }
  /// The services that an operator's policy is in force for, by name.
  std::vector<std::string> under_policies() const;

 private:
  const std::filesystem::path directory_, policies_;
  mutable std::mutex mutex_;
  std::vector<Problem> problems_;
  std::vector<std::shared_ptr<const ServiceDefinition>> fixed_;  ///< before any policy
  std::vector<std::shared_ptr<const ServiceDefinition>> definitions_;
  std::set<std::string> under_policies_;
  std::set<std::string> checked_;  ///< services that check_policy() was asked about
};

}  // namespace krux
