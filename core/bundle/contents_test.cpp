#include "core/bundle/contents.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "core/bundle/bundle_fixture.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

std::string refusal(const test::BundleFolder& bundle, const FileHashes* pins = nullptr) {
  try {
    read_bundle(bundle.path(), pins);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was accepted";
}

}  // namespace

TEST_CASE("a bundle is read with its policy applied, and every file hashed") {
  const test::BundleFolder bundle;
  const auto contents = read_bundle(bundle.path());
  CHECK(contents.manifest.service == "mock");
  CHECK(contents.manifest.library == "mock.so");
  CHECK(contents.definition->find("mock.add")->tier == Tier::kApprovalRequired);
  CHECK(contents.files.size() == 4);
  CHECK(contents.files.at("mock.so").size() == 64);
  CHECK(files_of(contents.manifest) == std::vector<std::string>{"mock.policy.yaml", "mock.so", "mock.yaml"});
  CHECK(read_bundle(bundle.path(), &contents.files).files == contents.files);
}

TEST_CASE("without a policy the definition stands as it is") {
  const test::BundleFolder bundle;
  bundle.replace("manifest.yaml", "policy: mock.policy.yaml\n", "");
  CHECK(read_bundle(bundle.path()).definition->find("mock.add")->tier == Tier::kNotify);
}

TEST_CASE("what is not as it was pinned is refused by its name") {
  const test::BundleFolder bundle;
  const auto pins = read_bundle(bundle.path()).files;
  const std::string name = GENERATE("manifest.yaml", "mock.yaml", "mock.policy.yaml", "mock.so");
  CAPTURE(name);
  SECTION("a changed byte") {
    bundle.write(name, bundle.read(name) + "\n");
    CHECK_THAT(refusal(bundle, &pins), Contains("/" + name + ": It was changed"));
  }
  SECTION("missing") {
    bundle.remove(name);
    CHECK_THAT(refusal(bundle, &pins), Contains("/" + name + ": It was installed, and is missing"));
  }
  SECTION("a link to the same bytes") {
    fs::rename(bundle.path() / name, bundle.beside("elsewhere"));
    fs::create_symlink(bundle.beside("elsewhere"), bundle.path() / name);
    CHECK_THAT(refusal(bundle, &pins), Contains("/" + name + ": It is a symbolic link"));
  }
  SECTION("a directory, a FIFO") {
    bundle.remove(name);
    const bool fifo = GENERATE(true, false);
    REQUIRE((fifo ? ::mkfifo((bundle.path() / name).c_str(), 0600) : ::mkdir((bundle.path() / name).c_str(), 0700)) ==
            0);
    CHECK_THAT(refusal(bundle, &pins), Contains("/" + name + ": It is not a regular file"));
  }
  SECTION("others may write it") {
    ::chmod((bundle.path() / name).c_str(), 0666);
    CHECK_THAT(refusal(bundle, &pins), Contains("/" + name + ": It can be written by other users"));
  }
}

TEST_CASE("what was added to an installed bundle is refused") {
  const test::BundleFolder bundle;
  const auto pins = read_bundle(bundle.path()).files;
  bundle.write("libmore.so", "");
  CHECK_THAT(refusal(bundle, &pins), Contains("libmore.so: It was not there"));
  bundle.remove("libmore.so");
  fs::create_directory(bundle.path() / "more");
  CHECK_THAT(refusal(bundle, &pins), Contains("/more: It was not there"));
}

TEST_CASE("parts of a bundle that do not fit each other are refused") {
  const test::BundleFolder bundle;
  SECTION("a host more") {
    bundle.replace("mock.yaml", "[files.mock.example]", "[files.mock.example, evil.example]");
    CHECK_THAT(refusal(bundle), Contains("evil.example"));
  }
  SECTION("a policy that loosens") {
    bundle.replace("mock.policy.yaml", "approval_required", "autonomous");
    CHECK_THAT(refusal(bundle), Contains("mock.policy.yaml:4:") && Contains("looser"));
  }
  SECTION("a missing policy") {
    bundle.remove("mock.policy.yaml");
    CHECK_THAT(refusal(bundle), Contains("mock.policy.yaml: It is named in the manifest"));
  }
  SECTION("another hash") {
    bundle.replace("manifest.yaml", "hosts:", "hashes: {mock.so: " + std::string(64, 'a') + "}\nhosts:");
    CHECK_THAT(refusal(bundle), Contains("mock.so: It has the SHA-256"));
  }
  SECTION("a huge manifest") {
    bundle.write("manifest.yaml", std::string(2 << 20, ' '));
    CHECK_THAT(refusal(bundle), Contains("manifest.yaml: It is larger than 1 MiB"));
  }
  SECTION("no manifest") {
    bundle.remove("manifest.yaml");
    CHECK_THAT(refusal(bundle), Contains("manifest.yaml: It is missing"));
  }
}

TEST_CASE("sentences name the directory that the bundle came from") {
  const test::BundleFolder bundle;
  bundle.replace("mock.yaml", "schema: 1", "schema: x");
  CHECK_THROWS_WITH(read_bundle(bundle.path(), nullptr, "/from/here"), Contains("/from/here/mock.yaml:1:"));
  bundle.remove("mock.so");
  CHECK_THROWS_WITH(read_bundle(bundle.path(), nullptr, "/from/here"), Contains("/from/here/mock.so"));
}

}  // namespace KRUXOS_TEST_FILE
