#include "core/policy/definition_set.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/util/error.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
namespace fs = std::filesystem;

namespace {

struct Directory {
  support::Scratch scratch;
  fs::path path = scratch.path();
  void put(const std::string& file, const std::string& text) const { support::write_safe(path / file, text); }
};

std::string definition(const std::string& service, const std::string& version = "1.0.0") {
  return "schema: 1\nservice: " + service + "\ndisplay_name: N\ndescription: N\nversion: " + version +
         "\nadapter: {min_version: 0.1.0}\napi_base_url: https://n.example/\ncapabilities:\n  - {name: " + service +
         ".list, kind: read, tier: autonomous, purpose: P, when_to_use: W}\n";
}

}  // namespace

TEST_CASE("a directory's good definitions are loaded, past the bad ones") {
  const Directory dir;
  dir.put("notes.yaml", definition("notes"));
  dir.put("tasks.yaml", definition("tasks"));
  dir.put("broken.yaml", "schema: [");
  dir.put("misnamed.yaml", definition("other"));
  dir.put("twin.yaml", definition("twin") + "prefix: notes\n");
  dir.put("README.md", "not a definition");
  const DefinitionSet set(dir.path);
  REQUIRE(set.all().size() == 2);
  CHECK(set.find("notes"));
  CHECK(set.find("tasks"));
  CHECK_FALSE(set.find("other"));
  REQUIRE(set.problems().size() == 3);
  CHECK_THAT(set.problems()[0].reason, Catch::Contains("broken.yaml:1") && Catch::Contains("not valid YAML"));
  CHECK_THAT(set.problems()[1].reason, Catch::Contains("its name must be other.yaml"));
}

TEST_CASE("two definitions with one prefix: the second is refused") {
  const Directory dir;
  dir.put("notes.yaml", definition("notes"));
  auto twin = definition("twin");
  twin.replace(twin.find("twin.list"), 9, "notes.get");
  dir.put("twin.yaml", twin + "prefix: notes\n");
  const DefinitionSet set(dir.path);
  CHECK(set.all().size() == 1);
  REQUIRE(set.problems().size() == 1);
  CHECK_THAT(set.problems()[0].reason, Catch::Contains("the prefix \"notes\" is taken"));
}

TEST_CASE("reloading takes what is new and keeps what has broken") {
  const Directory dir;
  dir.put("notes.yaml", definition("notes"));
  dir.put("tasks.yaml", definition("tasks"));
  DefinitionSet set(dir.path);
  const auto held = set.find("notes");
  dir.put("notes.yaml", "schema: 1\nservcie: notes\n");
  dir.put("tasks.yaml", definition("tasks", "1.1.0"));
  set.reload();
  CHECK(set.find("notes") == held);
  CHECK(set.find("tasks")->version == "1.1.0");
  REQUIRE(set.problems().size() == 1);
  CHECK_THAT(set.problems()[0].reason, Catch::Contains("did you mean \"service\""));

  fs::remove(dir.path / "notes.yaml");
  set.reload();
  CHECK(set.find("notes") == held);
  REQUIRE(set.problems().size() == 1);
  CHECK_THAT(set.problems()[0].reason, Catch::Contains("is gone"));

  dir.put("notes.yaml", definition("notes", "2.0.0"));
  set.reload();
  CHECK(set.find("notes")->version == "2.0.0");
  CHECK(held->version == "1.0.0");
  CHECK(set.problems().empty());
}

TEST_CASE("a definition that other users can write is refused, and reloading keeps the one before") {
  const Directory dir;
  dir.put("notes.yaml", definition("notes"));
  dir.put("tasks.yaml", definition("tasks"));
  DefinitionSet set(dir.path);
  REQUIRE(set.problems().empty());
  fs::permissions(dir.path / "notes.yaml", fs::perms(0646));
  set.reload();
  CHECK(set.find("notes"));
  REQUIRE(set.problems().size() == 1);
  CHECK_THAT(set.problems()[0].reason, Catch::Contains("notes.yaml: it can be written by other users") &&
                                           Catch::Contains("chmod go-w") && Catch::EndsWith("."));
  const DefinitionSet fresh(dir.path);
  CHECK_FALSE(fresh.find("notes"));
  CHECK(fresh.find("tasks"));
}

TEST_CASE("of a directory that other users can write nothing is loaded, whatever stands above it") {
  const Directory dir;
  const auto inner = dir.path / "inner";
  fs::create_directory(inner);
  fs::permissions(inner, fs::perms(0755));
  dir.put("inner/notes.yaml", definition("notes"));
  fs::permissions(dir.path, fs::perms(01777));
  DefinitionSet set(inner);
  CHECK(set.find("notes"));
  CHECK(set.problems().empty());
  for (const auto mode : {0757, 01777}) {
    fs::permissions(inner, fs::perms(mode));
    set.reload();
    CHECK(set.find("notes"));
    REQUIRE(set.problems().size() == 1);
    CHECK(set.problems()[0].file == inner);
    CHECK_THAT(set.problems()[0].reason, Catch::Contains("inner: the directory of the definitions can be written") &&
                                             Catch::Contains("chmod go-w") && Catch::EndsWith("."));
    CHECK(DefinitionSet(inner).all().empty());
  }
  fs::permissions(inner, fs::perms(0755));
  fs::create_directory_symlink(inner, dir.path / "link");
  CHECK(DefinitionSet(dir.path / "link").find("notes"));
}

TEST_CASE("definitions of another user are refused, where the test may give them away") {
  if (::geteuid() != 0) {
    WARN("left out: only root can give files away");
    return;
  }
  const Directory dir;
  dir.put("notes.yaml", definition("notes"));
  REQUIRE(::chown((dir.path / "notes.yaml").c_str(), 12345, 0) == 0);
  const DefinitionSet file(dir.path);
  CHECK(file.all().empty());
  REQUIRE(file.problems().size() == 1);
  CHECK_THAT(file.problems()[0].reason, Catch::Contains("notes.yaml: it belongs to user 12345"));
  REQUIRE(::chown((dir.path / "notes.yaml").c_str(), 0, 12345) == 0);
  fs::permissions(dir.path / "notes.yaml", fs::perms(0664));
  CHECK(DefinitionSet(dir.path).all().empty());
  fs::permissions(dir.path / "notes.yaml", fs::perms(0644));
  CHECK(DefinitionSet(dir.path).all().size() == 1);
  REQUIRE(::chown(dir.path.c_str(), 12345, 0) == 0);
  CHECK(DefinitionSet(dir.path).all().empty());
}

TEST_CASE("a directory that is not there is a problem, not a crash") {
  const DefinitionSet set("/nonexistent/definitions");
  CHECK(set.all().empty());
  REQUIRE(set.problems().size() == 1);
  CHECK_THAT(set.problems()[0].reason, Catch::Contains("cannot be read"));
}

namespace {

std::string policy(const std::string& service, const std::string& tier) {
  return "policy: 1\nservice: " + service + "\ncapabilities: {" + service + ".list: {tier: " + tier + "}}\n";
}

Tier tier_of(const DefinitionSet& set, const std::string& service) {
  return set.find(service)->find(service + ".list")->tier;
}

}  // namespace

TEST_CASE("definitions are served under the operator's policies") {
  const Directory dir, policies;
  dir.put("notes.yaml", definition("notes"));
  dir.put("tasks.yaml", definition("tasks"));
  policies.put("notes.yaml", policy("notes", "blocked"));
  DefinitionSet set(dir.path, policies.path);
  CHECK(set.problems().empty());
  CHECK(set.under_policies() == std::vector<std::string>{"notes"});
  CHECK(tier_of(set, "notes") == Tier::kBlocked);
  CHECK(tier_of(set, "tasks") == Tier::kAutonomous);

  SECTION("one that is broken later leaves the one before in force") {
    policies.put("notes.yaml", "policy: 1\n");
    set.reload();
    REQUIRE(set.problems().size() == 1);
    CHECK_THAT(set.problems()[0].reason, Catch::Contains((policies.path / "notes.yaml").string()));
    CHECK(tier_of(set, "notes") == Tier::kBlocked);
  }
  SECTION("one that is taken away is lifted") {
    fs::remove(policies.path / "notes.yaml");
    set.reload();
    REQUIRE(set.problems().size() == 1);
    CHECK_FALSE(set.problems()[0].refuses);
    CHECK_THAT(set.problems()[0].reason, Catch::Contains("held to its definition alone"));
    CHECK(set.under_policies().empty());
    CHECK(tier_of(set, "notes") == Tier::kAutonomous);
    set.reload();
    CHECK(set.problems().empty());
  }
  SECTION("a file that acts on nothing says so") {
    for (const auto* name : {"nots.yaml", "notes.yml", "Notes.yaml", "notes.YAML", "notes.yaml.bak"}) {
      policies.put(name, policy("notes", "blocked"));
      policies.put("README.md", "What stands here.");
      policies.put(".notes.yaml.swp", "");
      set.reload();
      REQUIRE(set.problems().size() == 1);
      CHECK_FALSE(set.problems()[0].refuses);
      CHECK_THAT(set.problems()[0].reason, Catch::Contains(name) && Catch::Contains("no service is held"));
      fs::remove(policies.path / name);
    }
  }
}

TEST_CASE("a service whose policy cannot be applied is not served") {
  const Directory dir, policies;
  dir.put("notes.yaml", definition("notes"));
  dir.put("tasks.yaml", definition("tasks"));
  policies.put("notes.yaml", "policy: [");
  const DefinitionSet set(dir.path, policies.path);
  CHECK_FALSE(set.find("notes"));
  CHECK(set.find("tasks"));
  REQUIRE(set.problems().size() == 1);
  CHECK(set.problems()[0].refuses);
}

TEST_CASE("a directory of policies that is missing, or that others can write, refuses every service") {
  const Directory dir, policies;
  dir.put("notes.yaml", definition("notes"));
  const DefinitionSet missing(dir.path, policies.path / "none");
  CHECK(missing.all().empty());
  REQUIRE(missing.problems().size() == 1);
  CHECK_THAT(missing.problems()[0].reason, Catch::Contains("cannot be read") && Catch::Contains("policies_dir"));

  fs::permissions(policies.path, fs::perms::others_write, fs::perm_options::add);
  const DefinitionSet open(dir.path, policies.path);
  CHECK(open.all().empty());
}

TEST_CASE("a bundle's definition is under the operator's policy too") {
  const Directory dir, policies;
  policies.put("tasks.yaml", policy("tasks", "approval_required"));
  DefinitionSet set(dir.path, policies.path);
  REQUIRE(set.problems().size() == 1);  // nobody has the service yet
  dir.put("tasks.yaml", definition("tasks"));
  const auto tasks = std::make_shared<const ServiceDefinition>(load_definition(dir.path / "tasks.yaml"));
  fs::remove(dir.path / "tasks.yaml");
  set.add_fixed(tasks);
  CHECK(set.problems().empty());
  CHECK(tier_of(set, "tasks") == Tier::kApprovalRequired);

  policies.put("tasks.yaml", policy("tasks", "blocked"));
  set.reload();
  CHECK(tier_of(set, "tasks") == Tier::kBlocked);
  policies.put("tasks.yaml", "policy: [");
  set.reload();
  CHECK(tier_of(set, "tasks") == Tier::kBlocked);

  Directory other;
  DefinitionSet broken(other.path, policies.path);
  CHECK_FALSE(broken.problems().empty());
  CHECK_THROWS_AS(broken.check_policy(tasks), ConfigError);
  CHECK(broken.problems().empty());  // nobody is told to remove the policy
  broken.reload();
  CHECK(broken.problems().empty());
  CHECK_THROWS_AS(broken.add_fixed(tasks), ConfigError);
  CHECK(broken.all().empty());
}

}  // namespace KRUXOS_TEST_FILE
