// A bundle in a directory of a test's own.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "host/certify/certify.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace krux::test {

class BundleDir {
 public:
  const std::filesystem::path& path() const { return path_; }
  void copy(const std::filesystem::path& from, const std::string& as) const { support::copy_safe(from, path_ / as); }
  void link(const std::filesystem::path& to, const std::string& as) const {
    std::filesystem::create_symlink(to, path_ / as);
  }
  void write(const std::string& name, const std::string& text) const { support::write_safe(path_ / name, text); }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  certify::CertifyOptions options() const {
    certify::CertifyOptions options;
    options.bundle = path_;
    options.worker = KRUXOS_CERTIFY_WORKER;
    options.probe = KRUXOS_PLUGIN_PROBE;
    return options;
  }

 private:
  const support::Scratch scratch_;
  const std::filesystem::path path_ = std::filesystem::canonical(scratch_.path());
};

/// The example's service with an adapter's library; `find` in its manifest is replaced by `with`.
class NotesBundle : public BundleDir {
 public:
  explicit NotesBundle(const std::filesystem::path& library) {
    copy(library, "notes.so");
    copy(std::filesystem::path(KRUXOS_NOTES_EXAMPLE) / "definitions/notes.yaml", "notes.yaml");
    copy(std::filesystem::path(KRUXOS_NOTES_EXAMPLE) / "fake_notes.py", "fake_notes.py");
    copy(std::filesystem::path(KRUXOS_NOTES_EXAMPLE) / "manifest.yaml", "manifest.yaml");
  }
  void replace(const std::string& find, const std::string& with) const {
    auto text = read("manifest.yaml");
    const auto at = text.find(find);
    if (at == std::string::npos) throw std::runtime_error("the manifest has no " + find);
    write("manifest.yaml", text.replace(at, find.size(), with));
  }
};

}  // namespace krux::test
