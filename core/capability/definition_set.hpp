// All definitions of a directory.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/capability/definition.hpp"

namespace krux {

/// Any thread.
class DefinitionSet {
 public:
  struct Problem {
    std::filesystem::path file;  ///< or the directory, of which then nothing was read
    std::string reason;          ///< a sentence that names the file
  };

  /// Loads every *.yaml below `directory` (not its subdirectories) that fits; what does not is a problem. So is what
  /// others than root and the user of this process could write; of such a directory nothing is loaded.
  explicit DefinitionSet(std::filesystem::path directory);

  /// One more, from elsewhere, that no reload changes or replaces. Its service and prefix are free.
  void add_fixed(std::shared_ptr<const ServiceDefinition> definition);

  /// Reads the directory again. A definition whose file is now broken or gone stays as it was, and is a problem.
  void reload();

  /// Of the last load.
  std::vector<Problem> problems() const;
  std::vector<std::shared_ptr<const ServiceDefinition>> all() const;  ///< by service name
  std::shared_ptr<const ServiceDefinition> find(const std::string& service) const;
  const std::filesystem::path& directory() const { return directory_; }

 private:
  const std::filesystem::path directory_;
  mutable std::mutex mutex_;
  std::vector<Problem> problems_;
  std::vector<std::shared_ptr<const ServiceDefinition>> fixed_;
  std::vector<std::shared_ptr<const ServiceDefinition>> definitions_;
};

}  // namespace krux
