// The operator's policies: a directory of <service>.yaml.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/definition/definition.hpp"

namespace krux {

/// One reading of the directory. One thread.
class PolicyFiles {
 public:
  using DefinitionPtr = std::shared_ptr<const ServiceDefinition>;

  /// An empty `directory`: there are no policies. One that cannot be read, or that others than root and the user of
  /// this process could write, is refused by every apply().
  explicit PolicyFiles(std::filesystem::path directory);

  /// The definition under its policy; itself where it has none. Throws ConfigError, a sentence that names the file.
  DefinitionPtr apply(const DefinitionPtr& definition);

  /// The services whose policy was applied.
  const std::set<std::string>& applied() const { return applied_; }
  /// Files that act on nothing: of services that are not there, misspelt, or not <service>.yaml. Hidden files, *.md,
  /// and the directories `rules` and `templates` may lie there.
  std::vector<std::filesystem::path> unused() const;

 private:
  const std::filesystem::path directory_;
  std::set<std::filesystem::path> files_;
  std::string refusal_;
  std::set<std::string> applied_, asked_;
};

}  // namespace krux
