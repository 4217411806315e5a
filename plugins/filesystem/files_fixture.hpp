// The adapter with a root of its own, as tests call it.
#pragma once
#include <kruxos/kit/json.hpp>
#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "adapter.hpp"
#include "support/scratch.hpp"

namespace filesystem::test {

namespace fs = std::filesystem;
using kruxos::testing::Attempt;
using kruxos::testing::FakeWrite;
using kruxos::testing::Outcome;

struct Files {
  support::Scratch scratch;
  fs::path root = scratch.path() / "root";
  kruxos::testing::Workbench<FilesystemAdapter> bench;
  fs::path files = root / "agent_1" / "files";
  int writes = 0;

  explicit Files(const std::string& more = "")
      : bench(R"({"root":")" + (scratch.path() / "root").string() + "\"" + more + "}") {
    fs::create_directories(files);
    fs::permissions(root, fs::perms::owner_all);
  }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((files / path).parent_path());
    std::ofstream(files / path, std::ios::binary) << text;
  }
  std::string content(const std::string& path) const {
    std::ifstream in(files / path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool has(const std::string& path) const { return fs::exists(fs::symlink_status(files / path)); }

  FakeWrite change(const std::string& operation, const std::string& params) {
    FakeWrite write{"filesystem." + operation, params};
    write.write_id = "w_" + std::to_string(++writes);
    return write;
  }
  Attempt run(FakeWrite& write) { return bench.execute(write); }
  /// Throws what it fails with.
  std::string read(const std::string& capability, const std::string& params) {
    return bench.read("filesystem." + capability, params);
  }
  std::string why(const Attempt& attempt) const { return attempt.failure ? attempt.failure->message : "done"; }
};

inline std::string quoted_path(const std::string& path) {
  return R"({"path":)" + kruxos::kit::quoted(path) + "}";
}

}  // namespace filesystem::test
