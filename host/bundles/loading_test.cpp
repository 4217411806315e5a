// The bundles at the host's start, with real libraries and the real probe.
#include "host/bundles/loading.hpp"

#include <catch2/catch.hpp>

#include "core/bundle/bundle_fixture.hpp"
#include "core/util/error.hpp"
#include "host/bundles/inspect.hpp"
#include "host/bundles/store.hpp"
#include "host/plugins/testdata/plugin_dir.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

fs::path plugin(const std::string& name) {
  return fs::path(KRUXOS_TEST_PLUGINS) / (name + ".so");
}

/// A data directory, a directory of definitions, a plugins directory, and a bundle with a real library.
struct Host {
  test::BundleFolder bundle;
  support::Scratch scratch;
  const fs::path root = fs::canonical(scratch.path()), data = root / "data", bundles = data / "bundles";
  const fs::path definitions_dir = root / "definitions", policies_dir = root / "policies";
  test::PluginDir plugins_dir;
  std::optional<Isolation> chosen;

  Host() {
    bundle.copy(plugin("mock_adapter"), "mock.so");
    for (const auto& directory : {definitions_dir, policies_dir}) {
      fs::create_directory(directory);
      fs::permissions(directory, fs::perms::owner_all);
    }
  }
  void install() const {
    BundleStore store(data, bundles);
    const auto found = inspect_bundle(store.stage(bundle.path()), nullptr, test::options().probe, bundle.path());
    BundlePin pin;
    pin.terms = terms_of(*found.contents.definition, found.contents.manifest.version, found.contents.manifest.hosts);
    pin.files = found.contents.files;
    pin.library = found.contents.manifest.library;
    pin.installed_by = "a test";
    store.install(std::move(pin));
  }
  std::string install_refusal() const {
    try {
      install();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "it was installed";
  }
  fs::path installed(const std::string& name) const { return bundles / "mock-1" / name; }

  struct Started {
    DefinitionSet definitions;
    DefinitionSetIndex index{definitions};
    PluginRegistry plugins;
    explicit Started(const Host& h, bool tidies = true)
        : definitions(h.definitions_dir, h.policies_dir),
          plugins(PluginRegistry::discover(h.plugins_dir.path(), test::options(&index))) {
      load_bundles({h.data, h.bundles, test::options().probe, [&h](const auto&) { return h.chosen; }, tidies}, plugins,
                   definitions);
    }
    const PluginInfo& last() const { return plugins.all().back(); }
  };
};

}  // namespace

TEST_CASE("an installed bundle is registered for a process of its own, with its tightened definition") {
  Host host;
  host.install();
  const Host::Started started(host);
  REQUIRE(started.plugins.all().size() == 1);
  const auto& info = started.last();
  CHECK(info.reason == "");
  CHECK(info.state == PluginInfo::State::kLoaded);
  CHECK(info.origin == PluginInfo::Origin::kBundle);
  CHECK(info.isolation == Isolation::kProcess);
  CHECK(info.entry == nullptr);
  CHECK(info.file == host.installed("mock.so"));
  CHECK(info.version == "1.2.0");
  const auto definition = started.definitions.find("mock");
  REQUIRE(definition);
  CHECK(definition->find("mock.add")->tier == Tier::kApprovalRequired);
  CHECK(definition->find("mock.add")->delay_ms == 300'000);
}

TEST_CASE("a bundle stands under the operator's policy, and is refused whole where that cannot be applied") {
  Host host;
  host.install();
  const auto policy = host.policies_dir / "mock.yaml";
  support::write_safe(policy, "policy: 1\nservice: mock\ncapabilities: {mock.add: {tier: blocked}}\n");
  CHECK(Host::Started(host).definitions.find("mock")->find("mock.add")->tier == Tier::kBlocked);
  support::write_safe(policy, "policy: [");
  host.chosen = GENERATE(Isolation::kProcess, Isolation::kInProcess);
  const Host::Started started(host);
  REQUIRE(started.plugins.all().size() == 1);
  CHECK(started.last().state == PluginInfo::State::kRefused);
  CHECK_THAT(started.last().reason, Contains(policy.string()));
  CHECK_FALSE(started.definitions.find("mock"));
  CHECK_FALSE(started.plugins.find("mock"));
  CHECK(started.definitions.problems().empty());
}

TEST_CASE("the operator's word for another isolation is kept to") {
  Host host;
  host.install();
  host.chosen = Isolation::kInProcess;
  const Host::Started started(host);
  CHECK(started.last().isolation == Isolation::kInProcess);
  CHECK(started.last().entry != nullptr);
}

TEST_CASE("a reload neither changes nor replaces a bundle's definition") {
  Host host;
  host.install();
  Host::Started started(host);
  support::write_safe(host.definitions_dir / "mock.yaml", test::kMockDefinition);
  started.definitions.reload();
  CHECK(started.definitions.find("mock")->find("mock.add")->tier == Tier::kApprovalRequired);
  REQUIRE(started.definitions.problems().size() == 1);
  CHECK_THAT(started.definitions.problems()[0].reason, Contains("an installed bundle has the service"));
}

TEST_CASE("a bundle that was touched is refused by the file's name, and the others are loaded") {
  const std::string name = GENERATE("manifest.yaml", "mock.yaml", "mock.policy.yaml", "mock.so");
  const std::string how = GENERATE("flipped", "removed", "linked");
  CAPTURE(name, how);
  Host host;
  host.install();
  host.plugins_dir.add("stray_adapter");
  const auto file = host.installed(name);
  if (how == "flipped") {
    auto bytes = test::read_file(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    fs::permissions(file, fs::perms::owner_all);
    std::ofstream(file, std::ios::binary) << bytes;
  } else {
    fs::rename(file, host.root / "elsewhere");
    if (how == "linked") fs::create_symlink(host.root / "elsewhere", file);
  }
  const Host::Started started(host);
  REQUIRE(started.plugins.all().size() == 2);
  const auto& info = started.last();
  CHECK(info.state == PluginInfo::State::kRefused);
  CHECK(info.service == "mock");
  CHECK(info.version == "1.2.0");
  CHECK_THAT(info.reason,
             Contains(file.string()) && Contains("kruxos plugin install") && Contains("kruxos plugin remove mock"));
  CHECK(started.plugins.find("mock") == nullptr);
  CHECK(started.definitions.find("mock") == nullptr);
}

TEST_CASE("what the next start will change is known") {
  Host host;
  const auto ahead = [&](const PluginRegistry& plugins) {
    std::vector<std::string> all;
    for (const auto& bundle : bundles_ahead(host.data, plugins))
      all.push_back(bundle.service + " " + bundle.version + (bundle.removed ? " removed" : ""));
    return all;
  };
  using Names = std::vector<std::string>;
  const Host::Started before(host);
  CHECK(ahead(before.plugins).empty());
  host.install();
  CHECK(ahead(before.plugins) == Names{"mock 1.2.0"});
  const Host::Started started(host);
  CHECK(ahead(started.plugins).empty());
  host.install();
  CHECK(ahead(started.plugins) == Names{"mock 1.2.0"});
  BundleStore(host.data, host.bundles).remove("mock");
  CHECK(ahead(started.plugins) == Names{"mock 1.2.0 removed"});
  std::ofstream(pins_file(host.data)) << "damaged";
  CHECK(ahead(started.plugins).empty());
}

TEST_CASE("a bundle with a file more is refused") {
  Host host;
  host.install();
  std::ofstream(host.installed("libc.so.6")) << "found by $ORIGIN";
  const Host::Started started(host);
  CHECK_THAT(started.last().reason, Contains("libc.so.6: It was not there"));
}

TEST_CASE("a bundle takes nobody's place") {
  Host host;
  SECTION("a definition with its service") {
    host.install();
    support::write_safe(host.definitions_dir / "mock.yaml", test::kMockDefinition);
    CHECK_THAT(Host::Started(host).last().reason, Contains("The service mock is there already"));
  }
  SECTION("a definition with its prefix") {
    host.install();
    auto other = test::replaced(test::kMockDefinition, "service: mock\n", "service: other\nprefix: mock\n");
    support::write_safe(host.definitions_dir / "other.yaml", other);
    CHECK_THAT(Host::Started(host).last().reason, Contains("The prefix mock") && Contains("service other"));
  }
  SECTION("an adapter with its service, even one that is refused") {
    host.install();
    host.plugins_dir.add("mock_adapter");
    const Host::Started started(host);
    REQUIRE(started.plugins.all().size() == 2);
    CHECK_THAT(started.last().reason, Contains("has the service mock and the prefix mock already"));
  }
}

TEST_CASE("damaged pins load no bundle and end nothing") {
  Host host;
  host.install();
  host.plugins_dir.add("stray_adapter");
  std::ofstream(pins_file(host.data)) << "{\"pins\":1,";
  const Host::Started started(host);
  REQUIRE(started.plugins.all().size() == 2);
  CHECK_THAT(started.last().reason, Contains("No bundle is loaded") && Contains("bundles.json"));
  CHECK(fs::exists(host.installed("mock.so")));
}

TEST_CASE("what is left of other installations is removed at start, and a missing bundles directory is none") {
  Host host;
  CHECK(Host::Started(host).plugins.all().empty());
  host.install();
  host.install();
  REQUIRE(fs::exists(host.bundles / "mock-1"));
  const auto staging = staging_directory(host.data, host.bundles);
  fs::create_directory(staging);
  // Not this data directory's: another one's bundle, or something else altogether.
  fs::create_directory(host.bundles / "mock-7");
  fs::create_directory(host.bundles / "backup-2024");
  CHECK(Host::Started(host, false).plugins.all().size() == 1);
  CHECK(fs::exists(staging));  // an installation may be under way beside whoever only looks
  CHECK(fs::exists(host.bundles / "mock-1"));
  CHECK(Host::Started(host).plugins.all().size() == 1);
  CHECK_FALSE(fs::exists(staging));
  CHECK_FALSE(fs::exists(host.bundles / "mock-1"));
  CHECK(fs::exists(host.bundles / "mock-7"));
  CHECK(fs::exists(host.bundles / "backup-2024"));
  CHECK(read_pins(host.data).directories == std::vector<std::string>{"mock-2"});
  fs::remove_all(host.bundles);
  CHECK_THAT(Host::Started(host).last().reason, Contains("mock-2"));
}

TEST_CASE("a bundle is refused where the kernel does not confine it, when it is installed and at each start") {
  Host host;
  host.install();
  auto unconfined = test::options().probe;
  unconfined.confinement.landlock_abi = 0;
  DefinitionSet definitions(host.definitions_dir, host.policies_dir);
  PluginRegistry plugins;
  load_bundles({host.data, host.bundles, unconfined, {}}, plugins, definitions);
  REQUIRE(plugins.all().size() == 1);
  CHECK(plugins.all()[0].state == PluginInfo::State::kRefused);
  CHECK_THAT(plugins.all()[0].reason, Contains("does not confine") && Contains("has no Landlock"));
  BundleStore store(host.data, host.bundles);
  const auto staged = store.stage(host.bundle.path());
  CHECK_THROWS_WITH(inspect_bundle(staged, nullptr, unconfined), Contains("does not confine"));
}

TEST_CASE("libraries that do not pass the checks are not installed") {
  const auto [name, words] = GENERATE(table<std::string, std::string>({
      {"wrong_major", "built for krux_plugin_v2"},
      {"no_entry", "exports no krux_plugin_v1"},
      {"crashing_constructor", "crashed while it was loaded"},
      {"exiting_constructor", "ended the process"},
      {"stray_adapter", "has no fit definition"},
  }));
  CAPTURE(name);
  Host host;
  host.bundle.copy(plugin(name), "mock.so");
  CHECK_THAT(host.install_refusal(), Contains(host.bundle.path().string() + "/mock.so: ") && Contains(words));
  CHECK(read_pins(host.data).bundles.empty());
  CHECK(fs::is_empty(host.bundles));
}

TEST_CASE("a library whose constructor hangs is not installed") {
  Host host;
  host.bundle.copy(plugin("hanging_constructor"), "mock.so");
  BundleStore store(host.data, host.bundles);
  const auto staged = store.stage(host.bundle.path());
  auto probe = test::options().probe;
  probe.timeout_ms = 300;
  CHECK_THROWS_WITH(inspect_bundle(staged, nullptr, probe), Contains("did not finish loading"));
}

TEST_CASE("a manifest that speaks of another adapter is refused") {
  Host host;
  SECTION("the version") {
    host.bundle.replace("manifest.yaml", "version: 1.2.0", "version: 1.3.0");
    CHECK_THAT(host.install_refusal(), Contains("It says version 1.3.0, the library says version 1.2.0"));
  }
  SECTION("the ABI") {
    host.bundle.replace("manifest.yaml", "abi: 1", "abi: 2");
    CHECK_THAT(host.install_refusal(), Contains("It says ABI 2"));
  }
}

TEST_CASE("nothing runs of a library with another hash than the pinned one") {
  Host host;
  auto options = test::options();
  options.sha256 = std::string(64, '0');
  const auto report = inspect_plugin(host.bundle.path() / "mock.so", options);
  CHECK_THAT(report.first_failure(), Contains("Its SHA-256 is"));
  CHECK(report.entry.service.empty());
}

}  // namespace KRUXOS_TEST_FILE
