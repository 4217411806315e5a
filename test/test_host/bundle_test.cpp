// A bundle, and a mock in its adapter's place.
#include "test_host/started_host.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;
namespace fs = std::filesystem;

namespace {

struct Bundle {
  support::Scratch scratch;
  fs::path directory = scratch.path() / "notes";
  Bundle() {
    fs::create_directory(directory);
    const fs::path example = KRUXOS_NOTES_EXAMPLE;
    support::copy_safe(KRUXOS_NOTES_PLUGIN, directory / "notes.so");
    support::copy_safe(example / "definitions/notes.yaml", directory / "notes.yaml");
    std::ifstream in(example / "manifest.yaml");
    std::string manifest{std::istreambuf_iterator<char>(in), {}};
    support::write_safe(directory / "manifest.yaml", manifest + "policy: notes.policy.yaml\n");
    support::write_safe(directory / "notes.policy.yaml",
                        "policy: 1\nservice: notes\ncapabilities:\n  notes.create: {tier: approval_required}\n");
  }
};

constexpr const char* kNote = R"({"text":"b"})";

}  // namespace

TEST_CASE("a bundle is installed and served in a process of its own") {
  const Bundle bundle;
  StartedHost host({bundle.directory});
  CHECK(text_at(host.ready, "/services/0/adapter") == "bundle");
  CHECK_FALSE(bool_at(host.ready, "/services/0/connected"));
  CHECK_THAT(host.operate({"plugin", "list"}).out, Catch::Contains("not started"));
}

TEST_CASE("with a mock in a bundle's place the bundle's policy is in force") {
  const Bundle bundle;
  StartedHost host({"notes", bundle.directory});
  CHECK(size_at(host.ready, "/services") == 1);
  CHECK(text_at(host.ready, "/services/0/adapter") == "mock");
  const auto made = host.invoke("notes.create", kNote);
  INFO(text_of(made.document));
  CHECK(text_at(made.document, "/result/error/context/status") == "pending_approval");
}

TEST_CASE("of a bundle's policy and the tester's own one is in force, and he says which") {
  const Bundle bundle;
  const auto policies = bundle.scratch.path() / "policies";
  fs::create_directory(policies);
  support::write_safe(policies / "notes.yaml",
                      "policy: 1\nservice: notes\ncapabilities:\n  notes.create: {tier: blocked}\n");
  CHECK_THAT(refusal({"notes", bundle.directory, "--policies", policies}), Catch::Contains("Take notes.yaml out"));
  const StartedHost host({bundle.directory, "--policies", policies});
  CHECK(text_at(host.ready, "/services/0/adapter") == "bundle");
}

}  // namespace KRUXOS_TEST_FILE
