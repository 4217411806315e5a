// The operator's rules: policies_dir/rules, with system.yaml, organisation.yaml and agents/<name>.yaml.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/policy/rules/rule_parser.hpp"
#include "core/policy/rules/rule_set.hpp"

namespace krux {

/// Any thread.
class RuleBook {
 public:
  struct Problem {
    std::filesystem::path file;
    std::string reason;   ///< a sentence that names the file
    bool refuses = true;  ///< false: every rule that was written is in force
  };

  /// Reads `policies`/rules; without such a directory, or where `policies` is empty, there are no rules. A file that is
  /// broken, or that others than root and the user of this process could write, is a problem: until it is read, what it
  /// could be about is blocked, an agent's file that agent, the others everybody. A file among the agents' whose name
  /// is no agent's is a problem too, and is about nobody.
  explicit RuleBook(const std::filesystem::path& policies, const RuleSubjects& subjects = {});

  /// Reads it again. Of a file that is broken the rules before stay, and are about the new subjects too; those of one
  /// that is gone are lifted.
  void reload(const RuleSubjects& subjects);

  RuleSetPtr current() const;
  std::vector<Problem> problems() const;  ///< of the last reading
  const FactSource* facts() const;

 private:
  using Rules = std::map<std::filesystem::path, std::vector<Rule>>;
  void keep_before(const RuleSource& source, const RuleSubjects& subjects, Rules& rules) const;

  const std::filesystem::path directory_;
  std::mutex reloading_;
  Rules rules_;             ///< of whoever reloads
  bool read_once_ = false;  ///< likewise
  mutable std::mutex mutex_;
  std::vector<Problem> problems_;
  RuleSetPtr current_ = std::make_shared<const RuleSet>();
  const FactSource* facts_ = nullptr;
};

}  // namespace krux
