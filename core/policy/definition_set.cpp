#include "core/policy/definition_set.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/definition/definition_loader.hpp"
#include "core/policy/policy_files.hpp"
#include "core/util/error.hpp"
#include "core/util/file_owner.hpp"

namespace krux {
namespace {

using Definitions = std::vector<std::shared_ptr<const ServiceDefinition>>;
using Problems = std::vector<DefinitionSet::Problem>;

bool by_service(const std::shared_ptr<const ServiceDefinition>& a, const std::shared_ptr<const ServiceDefinition>& b) {
  return a->service < b->service;
}

std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& directory, Problems& problems) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".yaml") files.push_back(at->path());
  }
  if (error)
    problems.push_back({directory, fmt::format("{}: the directory of the definitions cannot be read: {}.",
                                               directory.string(), error.message())});
  std::sort(files.begin(), files.end());
  return files;
}

/// One prefix belongs to one service: agents find a capability's service by it. Two of one service: the other one is
/// no file of the directory.
void add_unless_taken(Definitions& loaded, Problems& problems, const std::filesystem::path& file,
                      ServiceDefinition definition, PolicyFiles& policies) {
  for (const auto& other : loaded) {
    if (other->service == definition.service) {
      problems.push_back({file, fmt::format("{}: an installed bundle has the service \"{}\"; remove one of them.",
                                            file.string(), definition.service)});
      return;
    }
    if (other->prefix == definition.prefix) {
      problems.push_back({file, fmt::format("{}: the prefix \"{}\" is taken by the service \"{}\"; choose another one.",
                                            file.string(), definition.prefix, other->service)});
      return;
    }
  }
  loaded.push_back(policies.apply(std::make_shared<const ServiceDefinition>(std::move(definition))));
}

/// Those of bundles. One whose policy is broken stays as it is `served`.
Definitions load_fixed(const Definitions& fixed, const Definitions& served, PolicyFiles& policies, Problems& problems,
                       const std::filesystem::path& directory) {
  Definitions loaded;
  for (const auto& definition : fixed) {
    try {
      loaded.push_back(policies.apply(definition));
    } catch (const ConfigError& e) {
      problems.push_back({directory / (definition->service + ".yaml"), e.what()});
      const auto same = [&](const auto& d) { return d->service == definition->service; };
      loaded.push_back(*std::find_if(served.begin(), served.end(), same));
    }
  }
  return loaded;
}

void tell_lifted(const std::set<std::string>& before, const std::set<std::string>& now,
                 const std::filesystem::path& directory, Problems& problems) {
  for (const auto& service : before) {
    const auto file = directory / (service + ".yaml");
    if (now.contains(service) || std::filesystem::exists(file)) continue;
    problems.push_back(
        {file,
         fmt::format("{}: the file is gone; {} is held to its definition alone from now on.", file.string(), service),
         false});
  }
}

void tell_unused(const PolicyFiles& policies, Problems& problems) {
  for (const auto& file : policies.unused())
    problems.push_back({file,
                        fmt::format("{}: no service is held to this file; name it <service>.yaml after a service that "
                                    "there is, or remove it.",
                                    file.string()),
                        false});
}

void forget_unused(Problems& problems, const std::filesystem::path& policies, const std::string& service) {
  const auto own = policies / (service + ".yaml");
  std::erase_if(problems, [&](const auto& p) { return !p.refuses && p.file == own; });
}

/// Whether others could put a file into the directory. What stands above it does not count, as for any file that is
/// named in the configuration.
bool is_trusted(const std::filesystem::path& directory, Problems& problems) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) return true;  // listing it says why
  const auto problem = owner_problem(info);
  if (!problem.empty())
    problems.push_back(
        {directory, fmt::format("{}: the directory of the definitions {}.", directory.string(), problem)});
  return problem.empty();
}

Definitions load_all(const std::filesystem::path& directory, Definitions loaded, PolicyFiles& policies,
                     Problems& problems) {
  if (!is_trusted(directory, problems)) return loaded;
  for (const auto& file : yaml_files(directory, problems)) {
    try {
      add_unless_taken(loaded, problems, file, load_definition(file), policies);
    } catch (const ConfigError& e) {
      problems.push_back({file, e.what()});
    }
  }
  return loaded;
}

}  // namespace

DefinitionSet::DefinitionSet(std::filesystem::path directory, std::filesystem::path policies)
    : directory_(std::move(directory)), policies_(std::move(policies)) {
  reload();
}

void DefinitionSet::check_policy(const std::shared_ptr<const ServiceDefinition>& definition) {
  {
    const std::lock_guard lock(mutex_);
    checked_.insert(definition->service);
    forget_unused(problems_, policies_, definition->service);
  }
  PolicyFiles(policies_).apply(definition);
}

void DefinitionSet::add_fixed(std::shared_ptr<const ServiceDefinition> definition) {
  PolicyFiles policies(policies_);
  auto under = policies.apply(definition);
  const std::lock_guard lock(mutex_);
  under_policies_.insert(policies.applied().begin(), policies.applied().end());
  forget_unused(problems_, policies_, definition->service);
  fixed_.push_back(std::move(definition));
  definitions_.push_back(std::move(under));
  std::sort(definitions_.begin(), definitions_.end(), by_service);
}

void DefinitionSet::reload() {
  Problems problems;
  PolicyFiles policies(policies_);
  const auto [fixed, served] = [this] {
    const std::lock_guard lock(mutex_);
    return std::pair(fixed_, definitions_);
  }();
  auto loaded = load_fixed(fixed, served, policies, problems, directory_);
  loaded = load_all(directory_, std::move(loaded), policies, problems);
  tell_unused(policies, problems);
  const std::lock_guard lock(mutex_);
  for (const auto& service : checked_) forget_unused(problems, policies_, service);
  for (const auto& old : definitions_) {
    const auto same = [&](const auto& d) { return d->service == old->service || d->prefix == old->prefix; };
    if (std::any_of(loaded.begin(), loaded.end(), same)) continue;
    const auto file = directory_ / (old->service + ".yaml");
    const auto told = [&](const Problem& p) { return p.file == file || p.file == directory_; };
    if (std::none_of(problems.begin(), problems.end(), told))
      problems.push_back({file, fmt::format("{}: the file is gone; the definition read before stays in use until the "
                                            "next start.",
                                            file.string())});
    loaded.push_back(old);
  }
  std::sort(loaded.begin(), loaded.end(), by_service);
  definitions_ = std::move(loaded);
  problems_ = std::move(problems);
  tell_lifted(under_policies_, policies.applied(), policies_, problems_);
  under_policies_ = policies.applied();
}

std::vector<std::string> DefinitionSet::under_policies() const {
  const std::lock_guard lock(mutex_);
  return {under_policies_.begin(), under_policies_.end()};
}

std::vector<DefinitionSet::Problem> DefinitionSet::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

std::vector<std::shared_ptr<const ServiceDefinition>> DefinitionSet::all() const {
  const std::lock_guard lock(mutex_);
  return definitions_;
}

std::shared_ptr<const ServiceDefinition> DefinitionSet::find(const std::string& service) const {
  const std::lock_guard lock(mutex_);
  for (const auto& definition : definitions_) {
    if (definition->service == service) return definition;
  }
  return nullptr;
}

}  // namespace krux
