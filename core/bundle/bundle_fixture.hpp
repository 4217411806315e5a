// A bundle in a directory of a test's own. Its library is text unless a test puts another one there.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace krux::test {

inline constexpr const char* kMockManifest = R"(manifest: 1
service: mock
version: 1.2.0
abi: 1
library: mock.so
definition: mock.yaml
policy: mock.policy.yaml
hosts: [api.mock.example, files.mock.example]
)";

inline constexpr const char* kMockDefinition = R"(schema: 1
service: mock
display_name: Mock
description: A service of a test.
version: 1.0.0
adapter: {min_version: 1.0.0, below_version: 2.0.0}
api_base_url: https://api.mock.example/
hosts: [files.mock.example]
limits:
  - {operations: [mock.add, mock.edit], limit: 30, window: 1 h}
  - {operations: [mock.add], limit: 10, window: 1 h, per: room}
connect: {scopes: [items], token_pattern: "m-[a-z]+", help: "Any token."}
capabilities:
  - {name: mock.find, kind: read, tier: autonomous, purpose: Find., when_to_use: Often.}
  - {name: mock.add, kind: write, tier: notify, purpose: Add., when_to_use: Often., delay: 30 s, undoable: true,
     inputs: [{name: room, type: String, description: Where.}, {name: text, type: String, description: What.}]}
  - {name: mock.edit, kind: write, tier: autonomous, purpose: Edit., when_to_use: Often., delay: immediate}
  - {name: mock.drop, kind: write, tier: approval_required, purpose: Drop., when_to_use: Never.}
  - {name: mock.cancel, kind: cancel, tier: autonomous, purpose: Cancel., when_to_use: Often.}
)";

inline constexpr const char* kMockPolicy = R"(policy: 1
service: mock
capabilities:
  mock.add: {tier: approval_required, delay_seconds: 300, limits: [{limit: 5, window: 1 h}]}
)";

inline std::string replaced(std::string text, const std::string& find, const std::string& with) {
  const auto at = text.find(find);
  if (at == std::string::npos) throw std::runtime_error("the text has no " + find);
  return text.replace(at, find.size(), with);
}

class BundleFolder {
 public:
  BundleFolder() {
    std::filesystem::create_directory(path_);
    write("manifest.yaml", kMockManifest);
    write("mock.yaml", kMockDefinition);
    write("mock.policy.yaml", kMockPolicy);
    write("mock.so", "no library");
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path beside(const std::string& name) const { return scratch_ / name; }
  void write(const std::string& name, const std::string& text) const { support::write_safe(path_ / name, text); }
  void copy(const std::filesystem::path& from, const std::string& name) const {
    std::filesystem::remove(path_ / name);
    support::copy_safe(from, path_ / name);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void replace(const std::string& name, const std::string& find, const std::string& with) const {
    write(name, replaced(read(name), find, with));
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(path_ / name); }

 private:
  const support::Scratch owner_;
  const std::filesystem::path scratch_ = std::filesystem::canonical(owner_.path());
  const std::filesystem::path path_ = scratch_ / "bundle";
};

}  // namespace krux::test
