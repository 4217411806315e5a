#include "core/bundle/contents.hpp"

#include <fmt/format.h>

#include <set>

#include "core/definition/definition_loader.hpp"
#include "core/policy/policy.hpp"
#include "core/util/checked_file.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;

class Reading {
 public:
  Reading(const fs::path& directory, const FileHashes* pins, const fs::path& shown)
      : directory_(directory), pins_(pins), shown_(shown.empty() ? directory : shown) {}

  BundleContents run() {
    list();
    for (const auto& name : names_) read(name);
    auto& manifest = contents_.manifest;
    manifest = parse_manifest(text(kManifestName), place(kManifestName));
    manifest.directory = directory_;
    manifest.file = directory_ / kManifestName;
    for (const auto& name : files_of(manifest)) {
      if (!names_.contains(name)) fail(name, "It is named in the manifest, and is missing.");
    }
    check_given_hashes();
    parse();
    return std::move(contents_);
  }

 private:
  [[noreturn]] void fail(const std::string& name, const std::string& why) const {
    throw ConfigError(fmt::format("{}: {}", place(name), why));
  }
  [[noreturn]] void fail_pinned(const std::string& name, const std::string& why) const {
    fail(name, why + " If that was not you, find out who it was.");
  }
  std::string place(const std::string& name) const { return printable((shown_ / name).string()); }

  /// An entry that is no regular file is met when it is read.
  void list() {
    std::error_code error;
    for (fs::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error))
      names_.insert(at->path().filename().string());
    if (error) throw ConfigError(fmt::format("{} cannot be read: {}.", printable(shown_.string()), error.message()));
    if (!pins_) return;
    for (const auto& [name, hash] : *pins_) {
      if (!names_.contains(name)) fail_pinned(name, "It was installed, and is missing.");
    }
    for (const auto& name : names_) {
      if (!pins_->contains(name)) fail_pinned(name, "It was not there when the bundle was installed.");
    }
  }

  void read(const std::string& name) {
    const bool is_text = name.ends_with(".yaml");
    auto file = read_checked_file(directory_ / name, is_text ? kLargestBundleText : kLargestBundleFile);
    if (!file.problem.empty()) fail(name, file.problem);
    if (pins_ && pins_->at(name) != file.sha256)
      fail_pinned(name, fmt::format("It was changed since it was installed: its SHA-256 is {}, not {}.", file.sha256,
                                    pins_->at(name)));
    contents_.files[name] = file.sha256;
    if (is_text) texts_[name] = std::move(file.bytes);
  }

  const std::string& text(const std::string& name) const {
    const auto found = texts_.find(name);
    if (found == texts_.end()) fail(name, "It is missing.");
    return found->second;
  }

  void check_given_hashes() const {
    for (const auto& [name, given] : contents_.manifest.hashes) {
      if (const auto& real = contents_.files.at(name); real != given)
        fail(name, fmt::format("It has the SHA-256 {}, not the one that the manifest gives under hashes. Take the "
                               "bundle anew from its author, or, if it is your own, write the new hash.",
                               real));
    }
  }

  void parse() {
    const auto& manifest = contents_.manifest;
    auto definition = parse_definition(text(manifest.definition), place(manifest.definition));
    if (const auto why = why_not_definition(manifest, definition); !why.empty()) fail(kManifestName, why);
    if (!manifest.policy.empty())
      definition =
          under_policy(std::move(definition), text(manifest.policy), place(manifest.policy), PolicyOf::kAuthor);
    contents_.definition = std::make_shared<const ServiceDefinition>(std::move(definition));
  }

  const fs::path& directory_;
  const FileHashes* const pins_;
  const fs::path shown_;
  std::set<std::string> names_;
  std::map<std::string, std::string> texts_;  ///< of the YAML files
  BundleContents contents_;
};

}  // namespace

BundleContents read_bundle(const fs::path& directory, const FileHashes* pins, const fs::path& shown) {
  return Reading(directory, pins, shown).run();
}

std::vector<std::string> files_of(const BundleManifest& manifest) {
  std::set<std::string> names{manifest.library, manifest.definition};
  if (!manifest.policy.empty()) names.insert(manifest.policy);
  for (const auto& [name, hash] : manifest.hashes) names.insert(name);
  return {names.begin(), names.end()};
}

}  // namespace krux
