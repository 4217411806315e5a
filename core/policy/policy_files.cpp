#include "core/policy/policy_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "core/policy/policy.hpp"
#include "core/util/error.hpp"
#include "core/util/file_owner.hpp"
#include "core/util/yaml_tree.hpp"

namespace krux {

PolicyFiles::PolicyFiles(std::filesystem::path directory) : directory_(std::move(directory)) {
  if (directory_.empty()) return;
  struct stat info {};
  if (::stat(directory_.c_str(), &info) == 0) {
    const auto problem = owner_problem(info);
    if (!problem.empty()) refusal_ = fmt::format("{}: the directory of the policies {}.", directory_.string(), problem);
  }
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    // Rules are read by themselves, and templates are there to be copied.
    if (name == "rules" || name == "templates") continue;
    if (!name.starts_with('.') && !name.ends_with(".md")) files_.insert(at->path());
  }
  if (error)
    refusal_ = fmt::format(
        "{}: the directory of the policies cannot be read: {}. Create it, or take policies_dir out "
        "of the configuration.",
        directory_.string(), error.message());
}

PolicyFiles::DefinitionPtr PolicyFiles::apply(const DefinitionPtr& definition) {
  if (!refusal_.empty()) throw ConfigError(refusal_);
  const auto& service = definition->service;
  asked_.insert(service + ".yaml");
  const auto file = directory_ / (service + ".yaml");
  if (!files_.contains(file)) return definition;
  auto under = under_policy(*definition, read_text_file(file, Writers::kTrusted), file.string(), PolicyOf::kOperator);
  applied_.insert(service);
  return std::make_shared<const ServiceDefinition>(std::move(under));
}

std::vector<std::filesystem::path> PolicyFiles::unused() const {
  std::vector<std::filesystem::path> out;
  for (const auto& file : files_) {
    if (!asked_.contains(file.filename().string())) out.push_back(file);
  }
  return out;
}

}  // namespace krux
