#include "host/bundles/store.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <set>

#include "core/bundle/bundle_fixture.hpp"
#include "core/util/error.hpp"
#include "support/fault.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

struct Place {
  support::Scratch scratch;
  fs::path data = fs::canonical(scratch.path()) / "data", bundles = data / "bundles";

  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(bundles)) all.insert(entry.path().filename());
    return all;
  }
  std::string stage_refusal(const fs::path& source) const {
    BundleStore store(data, bundles);
    try {
      store.stage(source);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "it was accepted";
  }
};

void install(const Place& place, const fs::path& source, const std::string& version = "1.2.0") {
  BundleStore store(place.data, place.bundles);
  const auto contents = read_bundle(store.stage(source));
  BundlePin pin;
  pin.terms = terms_of(*contents.definition, version, contents.manifest.hosts);
  pin.files = contents.files;
  pin.library = contents.manifest.library;
  pin.installed_by = "a test";
  store.install(std::move(pin));
}

/// The version of the bundle that the pins name, whose files are as they say.
std::string whole_version(const Place& place) {
  const auto pins = read_pins(place.data);
  const auto* pin = pins.find("mock");
  if (!pin) return "none";
  read_bundle(place.bundles / pin->directory, &pin->files);
  return pin->terms.version;
}

/// Runs it in a process that kills itself at the fault point; whether it did.
template <class Body>
bool killed_at(const std::string& point, int pass, Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    support::arm_fault(point, pass);
    try {
      body();
    } catch (...) {
      ::_exit(3);
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace

TEST_CASE("an installed bundle is a private, read-only copy of the files that its manifest names") {
  const Place place;
  const test::BundleFolder bundle;
  bundle.write("notes.txt", "nobody named it");
  bundle.write("data.bin", "named under hashes");
  bundle.replace("manifest.yaml",
                 "hosts:", "hashes: {data.bin: " + read_bundle(bundle.path()).files.at("data.bin") + "}\nhosts:");
  install(place, bundle.path());
  CHECK(place.names() == std::set<std::string>{"mock-1"});
  const auto pin = read_pins(place.data).bundles.at(0);
  CHECK(pin.directory == "mock-1");
  CHECK(pin.files.contains("data.bin"));
  CHECK_FALSE(fs::exists(place.bundles / "mock-1/notes.txt"));
  for (const auto& [name, hash] : pin.files) {
    struct stat info {};
    REQUIRE(::stat((place.bundles / "mock-1" / name).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0400);
  }
  struct stat info {};
  REQUIRE(::stat(pins_file(place.data).c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(whole_version(place) == "1.2.0");
}

TEST_CASE("a new version leaves the old one's files to the host's start") {
  const Place place;
  const test::BundleFolder bundle;
  install(place, bundle.path(), "1.0.0");
  install(place, bundle.path() / "manifest.yaml", "1.1.0");
  CHECK(place.names() == std::set<std::string>{"mock-1", "mock-2"});
  CHECK(whole_version(place) == "1.1.0");
  fs::create_directory(place.bundles / "somebody's own");
  remove_leftovers(place.data, place.bundles);
  CHECK(place.names() == std::set<std::string>{"mock-2", "somebody's own"});
  CHECK(whole_version(place) == "1.1.0");
}

TEST_CASE("what is not installed is removed again") {
  const Place place;
  const test::BundleFolder bundle;
  {
    BundleStore store(place.data, place.bundles);
    CHECK(fs::exists(store.stage(bundle.path()) / "mock.so"));
  }
  CHECK(place.names().empty());
}

TEST_CASE("two installations exclude each other, and leftovers stay while one is under way") {
  const Place place;
  const test::BundleFolder bundle;
  BundleStore store(place.data, place.bundles);
  const auto staged = store.stage(bundle.path());
  CHECK_THROWS_WITH(BundleStore(place.data, place.bundles), Contains("Another kruxos"));
  remove_leftovers(place.data, place.bundles);
  CHECK(fs::exists(staged / "mock.so"));
}

TEST_CASE("a removed bundle is gone, with its files at the host's next start") {
  const Place place;
  const test::BundleFolder bundle;
  install(place, bundle.path());
  BundleStore(place.data, place.bundles).remove("mock");
  CHECK(whole_version(place) == "none");
  CHECK(place.names() == std::set<std::string>{"mock-1"});
  remove_leftovers(place.data, place.bundles);
  CHECK(place.names().empty());
  CHECK_THROWS_WITH(BundleStore(place.data, place.bundles).remove("mock"), Contains("No bundle of mock"));
}

TEST_CASE("sources that are no bundle are refused, and nothing is left of them") {
  const Place place;
  const test::BundleFolder bundle;
  const auto so = bundle.path() / "mock.so";
  SECTION("names that lead elsewhere") {
    const std::string name = GENERATE("../mock.so", "/etc/mock.so", "a/mock.so", "..", "a\\\\b.so");
    bundle.replace("manifest.yaml", "library: mock.so", "library: \"" + name + "\"");
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("manifest.yaml:5:"));
  }
  SECTION("a FIFO") {
    bundle.remove("mock.so");
    REQUIRE(::mkfifo(so.c_str(), 0600) == 0);
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("mock.so: It is not a regular file"));
  }
  SECTION("a directory") {
    bundle.remove("mock.so");
    fs::create_directory(so);
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("mock.so: It is not a regular file"));
  }
  SECTION("a link") {
    bundle.remove("mock.so");
    fs::create_symlink("/etc/passwd", so);
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("mock.so: It is a symbolic link"));
  }
  SECTION("a file without end, or nearly") {
    fs::resize_file(so, (std::uintmax_t{256} << 20) + 1);  // a hole: it takes no room
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("mock.so: It is larger than 256 MiB"));
  }
  SECTION("a huge manifest") {
    bundle.write("manifest.yaml", std::string((1 << 20) + 1, '#'));
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("manifest.yaml: It is larger than 1 MiB"));
  }
  SECTION("too many files") {
    std::string hashes;
    for (int i = 0; i < 70; ++i) hashes += "  f" + std::to_string(i) + ": " + std::string(64, '0') + "\n";
    bundle.replace("manifest.yaml", "hosts:", "hashes:\n" + hashes + "hosts:");
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("names 73 files"));
  }
  SECTION("a manifest among its own files") {
    bundle.replace("manifest.yaml", "hosts:", "hashes: {manifest.yaml: " + std::string(64, '0') + "}\nhosts:");
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("names itself"));
  }
  SECTION("no directory, no manifest") {
    CHECK_THAT(place.stage_refusal("/nowhere/at/all"), Contains("is not a directory"));
    CHECK_THAT(place.stage_refusal(so), Contains("is not a directory"));
    bundle.remove("manifest.yaml");
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("manifest.yaml: It cannot be opened"));
  }
  SECTION("a manifest that is a link") {
    fs::rename(bundle.path() / "manifest.yaml", bundle.beside("m"));
    fs::create_symlink(bundle.beside("m"), bundle.path() / "manifest.yaml");
    CHECK_THAT(place.stage_refusal(bundle.path()), Contains("manifest.yaml: It is a symbolic link"));
  }
  CHECK(place.names().empty());
}

TEST_CASE("directories that others can reach are refused") {
  const Place place;
  fs::create_directories(place.bundles);
  SECTION("the data directory") {
    ::chmod(place.data.c_str(), 0755);
    CHECK_THROWS_WITH(BundleStore(place.data, place.bundles), Contains("chmod 700"));
  }
  SECTION("a data directory of the host's own user") {
    if (::geteuid() != 0) return;  // only root can give it to somebody
    REQUIRE(::chown(place.data.c_str(), 4711, 4711) == 0);
    CHECK_THROWS_WITH(BundleStore(place.data, place.bundles), Contains("uid 4711. Run this command as that user"));
  }
  SECTION("the bundles directory") {
    ::chmod(place.data.c_str(), 0700);
    ::chmod(place.bundles.c_str(), 0777);
    CHECK_THROWS_WITH(BundleStore(place.data, place.bundles), Contains("chmod go-w"));
  }
  SECTION("a link instead of it") {
    ::chmod(place.data.c_str(), 0700);
    fs::remove(place.bundles);
    fs::create_symlink("/tmp", place.bundles);
    CHECK_THROWS_WITH(BundleStore(place.data, place.bundles), Contains("not a directory"));
  }
}

TEST_CASE("killed at any point of an installation, the old or the new version is there whole") {
  const std::string point =
      GENERATE("bundle.install.copied", "bundle.install.staged", "bundle.install.named", "bundle.install.pinned");
  const bool update = GENERATE(false, true);
  const int pass = point == "bundle.install.copied" ? GENERATE(1, 2, 3) : 1;
  CAPTURE(point, update, pass);
  const Place place;
  const test::BundleFolder bundle;
  if (update) install(place, bundle.path(), "1.0.0");
  bundle.replace("mock.yaml", "Often.", "Seldom.");
  REQUIRE(killed_at(point, pass, [&] { install(place, bundle.path(), "1.1.0"); }));
  const bool done = point == "bundle.install.pinned";
  CHECK(whole_version(place) == (done ? "1.1.0" : update ? "1.0.0" : "none"));
  SECTION("the host's start removes what is left") {
    remove_leftovers(place.data, place.bundles);
    CHECK(place.names().size() == (done || update ? 1 : 0));
    CHECK(whole_version(place) == (done ? "1.1.0" : update ? "1.0.0" : "none"));
  }
  SECTION("so that the same command goes through") {
    install(place, bundle.path(), "1.1.0");
    remove_leftovers(place.data, place.bundles);
    CHECK(place.names().size() == 1);
    CHECK(whole_version(place) == "1.1.0");
  }
}

TEST_CASE("killed while it is removed, it is gone or there") {
  const Place place;
  const test::BundleFolder bundle;
  install(place, bundle.path());
  REQUIRE(killed_at("bundle.remove.unpinned", 1, [&] { BundleStore(place.data, place.bundles).remove("mock"); }));
  CHECK(whole_version(place) == "none");
  install(place, bundle.path(), "2.0.0");
  CHECK(whole_version(place) == "2.0.0");
}

}  // namespace KRUXOS_TEST_FILE
