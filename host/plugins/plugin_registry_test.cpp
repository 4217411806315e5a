#include "host/plugins/plugin_registry.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "core/util/error.hpp"
#include "host/plugins/testdata/plugin_dir.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
namespace fs = std::filesystem;

namespace {

/// The reason of the one plugin in `dir`.
std::string reason(const test::PluginDir& dir, const InspectOptions& options = test::options()) {
  const auto registry = PluginRegistry::discover(dir.path(), options);
  REQUIRE(registry.all().size() == 1);
  CHECK(registry.all()[0].state == PluginInfo::State::kRefused);
  CHECK(registry.all()[0].entry == nullptr);
  return registry.all()[0].reason;
}

std::string reason_of(const std::string& plugin) {
  const test::PluginDir dir;
  dir.add(plugin);
  return reason(dir);
}

class FakeDefinitions final : public DefinitionIndex {
 public:
  ServiceDefinition definition;
  FakeDefinitions() {
    definition.service = definition.prefix = "mock";
    definition.version = "1.0.0";
    definition.adapter_min_version = "1.0.0";
    definition.adapter_max_version = "2.0.0";
  }
  std::shared_ptr<const ServiceDefinition> find(const std::string& service, std::string& why) const override {
    if (service == "mock") return std::make_shared<ServiceDefinition>(definition);
    why = "there is no such file.";
    return nullptr;
  }
};

}  // namespace

TEST_CASE("A good adapter is loaded with what it says of itself") {
  const test::PluginDir dir;
  const auto file = dir.add("mock_adapter");
  const FakeDefinitions definitions;
  const auto registry = PluginRegistry::discover(dir.path(), test::options(&definitions));
  REQUIRE(registry.all().size() == 1);
  const auto& plugin = registry.all()[0];
  CHECK(plugin.reason == "");
  REQUIRE(plugin.state == PluginInfo::State::kLoaded);
  CHECK(plugin.file == file);
  CHECK(plugin.service == "mock");
  CHECK(plugin.prefix == "mock");
  CHECK(plugin.version == "1.2.0");
  CHECK(plugin.abi_minor == KRUX_ABI_MINOR);
  CHECK(plugin.sha256.size() == 64);
  REQUIRE(plugin.collections.size() == 1);
  CHECK(plugin.collections[0].name == "items");
  CHECK(plugin.config_schema_json.find("additionalProperties") != std::string::npos);
  CHECK(plugin.entry != nullptr);
  CHECK(registry.find("mock") == &plugin);
  CHECK(registry.find("other") == nullptr);
}

TEST_CASE("Each broken plugin is refused with its reason") {
  const std::map<std::string, std::string> expected{
      {"wrong_major", "built for krux_plugin_v2, this host speaks krux_plugin_v1"},
      {"no_entry", "exports no krux_plugin_v1"},
      {"function_entry", "is not a table"},
      {"bad_magic", "magic number"},
      {"truncated_entry", "truncated"},
      {"short_symbol", "truncated"},
      {"no_describe", "lacks describe or create"},
      {"bad_service", "service \"../etc\""},
      {"bad_prefix", "prefix \"Bad\""},
      {"bad_version", "version \"1.0\""},
      {"bad_description", "description is unfit"},
      {"endless_description", "larger than 256 KiB"},
      {"endless_schema", "config_schema uses \"$ref\", which the host does not take"},
      {"throwing_description", "describe itself: The file \\x1b[1m of names is missing."},
      {"crashing_constructor", "crashed while it was loaded"},
      {"exiting_constructor", "ended the process"},
  };
  for (const auto& [plugin, words] : expected) {
    INFO(plugin);
    CHECK_THAT(reason_of(plugin), Catch::Contains(words));
  }
}

TEST_CASE("A constructor that hangs is ended") {
  const test::PluginDir dir;
  dir.add("hanging_constructor");
  auto options = test::options();
  options.probe.timeout_ms = 300;
  CHECK_THAT(reason(dir, options), Catch::Contains("did not finish loading"));
}

TEST_CASE("Files that are no libraries are refused") {
  const test::PluginDir text, cut;
  text.write("a.so", "not a library");
  CHECK(reason(text) == "It is not an ELF file.");
  const auto whole = test::read_file(fs::path(KRUXOS_TEST_PLUGINS) / "mock_adapter.so");
  cut.write("a.so", whole.substr(0, 5000));
  CHECK(reason(cut) == "It is truncated or damaged.");
}

TEST_CASE("A library that is damaged inside crashes the probe alone") {
  const test::PluginDir dir;
  const auto whole = test::read_file(fs::path(KRUXOS_TEST_PLUGINS) / "mock_adapter.so");
  for (int i = 0; i < 12; ++i) {
    auto bytes = whole;
    // From the tables of the dynamic linker on, behind the headers.
    for (std::size_t at = 0x400 + static_cast<std::size_t>(i) * 64; at < bytes.size(); at += 1009) bytes[at] ^= 0x5a;
    dir.write("damaged" + std::to_string(i) + ".so", bytes);
  }
  const auto registry = PluginRegistry::discover(dir.path(), test::options());
  CHECK(registry.all().size() == 12);
  for (const auto& plugin : registry.all()) CHECK(plugin.state == PluginInfo::State::kRefused);
}

TEST_CASE("One bad file ends nothing, files come in the order of their names, others are ignored") {
  const test::PluginDir dir;
  dir.write("0_text.so", "text");
  dir.write("readme.txt", "no plugin");
  dir.add("mock_adapter", "b_mock");
  dir.add("bad_magic", "a_bad");
  dir.add("stray_adapter", "z_stray");
  const auto registry = PluginRegistry::discover(dir.path(), test::options());
  REQUIRE(registry.all().size() == 4);
  std::vector<std::string> names;
  for (const auto& plugin : registry.all()) names.push_back(plugin.file.filename());
  CHECK(names == std::vector<std::string>{"0_text.so", "a_bad.so", "b_mock.so", "z_stray.so"});
  CHECK(registry.find("mock"));
  CHECK(registry.find("stray"));
}

TEST_CASE("Of two plugins for one service the first by name is taken, and both are named") {
  const test::PluginDir dir;
  dir.add("mock_adapter", "b_mock");
  dir.add("mock_adapter", "a_mock");
  const auto registry = PluginRegistry::discover(dir.path(), test::options());
  REQUIRE(registry.all().size() == 2);
  CHECK(registry.all()[0].state == PluginInfo::State::kLoaded);
  CHECK(registry.all()[1].state == PluginInfo::State::kRefused);
  CHECK_THAT(registry.all()[1].reason, Catch::Contains("a_mock.so") && Catch::Contains("b_mock.so"));
}

TEST_CASE("A definition that is missing or does not fit refuses the adapter") {
  const test::PluginDir dir, stray;
  dir.add("mock_adapter");
  stray.add("stray_adapter");
  FakeDefinitions definitions;
  const auto options = test::options(&definitions);
  CHECK_THAT(reason(stray, options), Catch::Contains("no fit definition: there is no such file."));
  definitions.definition.service = "other";
  CHECK_THAT(reason(dir, options), Catch::Contains("is for the service other"));
  definitions.definition.service = "mock";
  definitions.definition.prefix = "other";
  CHECK_THAT(reason(dir, options), Catch::Contains("says prefix other"));
  definitions.definition.prefix = "mock";
  definitions.definition.adapter_min_version = "1.2.1";
  CHECK_THAT(reason(dir, options), Catch::Contains("from 1.2.1 to below 2.0.0"));
  definitions.definition.adapter_min_version = "1.0.0";
  definitions.definition.adapter_max_version = "1.2.0";
  CHECK_THAT(reason(dir, options), Catch::Contains("to below 1.2.0"));
  definitions.definition.adapter_max_version = "";
  CHECK(PluginRegistry::discover(dir.path(), options).find("mock"));
}

TEST_CASE("Files that others can write and symbolic links are refused") {
  const test::PluginDir dir, elsewhere;
  fs::permissions(dir.add("mock_adapter"), fs::perms(0666));
  CHECK_THAT(reason(dir), Catch::Contains("chmod go-w"));
  const test::PluginDir links;
  fs::create_symlink(elsewhere.add("mock_adapter"), links.path() / "link.so");
  CHECK_THAT(reason(links), Catch::Contains("symbolic link"));
}

TEST_CASE("A plugins directory that is missing or that others can write ends the start") {
  const test::PluginDir dir;
  CHECK_THROWS_AS(PluginRegistry::discover(dir.path() / "missing", test::options()), ConfigError);
  fs::permissions(dir.path(), fs::perms(0777));
  CHECK_THROWS_WITH(PluginRegistry::discover(dir.path(), test::options()), Catch::Contains("chmod go-w"));
}

TEST_CASE("A missing probe is said") {
  const test::PluginDir dir;
  dir.add("mock_adapter");
  auto options = test::options();
  options.probe.program = dir.path() / "nothing";
  CHECK_THAT(reason(dir, options), Catch::Contains("could not be probed"));
}

}  // namespace KRUXOS_TEST_FILE
