#include "host/plugins/verify.hpp"

#include <catch2/catch.hpp>

#include "core/util/json.hpp"
#include "host/plugins/testdata/plugin_dir.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("A good plugin passes every check, shown as text and as JSON") {
  const test::PluginDir dir;
  const auto report = verify_plugin(dir.add("mock_adapter"), test::options());
  CHECK(report.passed());
  CHECK(report.first_failure() == "");
  REQUIRE(report.checks.size() == 9);
  CHECK(report.checks.back().outcome == PluginCheck::Outcome::kSkipped);  // no definitions were given
  CHECK_THAT(report_text(report), Catch::Contains("entry symbol") && !Catch::Contains("FAILED"));
  const auto json = parse_json(report_json(report), "report");
  CHECK(*find_bool(json, "ok"));
  CHECK(*find_string(json, "service") == "mock");
  CHECK(find_member(json, "checks")->Size() == 9);
}

TEST_CASE("The first failed check skips the rest") {
  const test::PluginDir dir;
  const auto report = verify_plugin(dir.add("wrong_major"), test::options());
  CHECK_FALSE(report.passed());
  REQUIRE(report.checks.size() == 9);
  CHECK(report.checks[2].outcome == PluginCheck::Outcome::kPassed);
  CHECK(report.checks[3].outcome == PluginCheck::Outcome::kFailed);
  CHECK(report.checks[4].outcome == PluginCheck::Outcome::kSkipped);
  CHECK_THAT(report_text(report), Catch::Contains("FAILED") && Catch::Contains("krux_plugin_v2"));
  CHECK_FALSE(*find_bool(parse_json(report_json(report), "report"), "ok"));
}

TEST_CASE("Odd paths are reported, not thrown") {
  const test::PluginDir dir;
  CHECK_FALSE(verify_plugin("", test::options()).passed());
  CHECK_FALSE(verify_plugin(dir.path() / "a/b/c.so", test::options()).passed());
  CHECK_FALSE(verify_plugin(dir.path() / "missing.so", test::options()).passed());
  const auto odd = verify_plugin(dir.write("\x1b[31m\xff.so", "x"), test::options());
  CHECK_FALSE(odd.passed());
  CHECK(report_text(odd).find('\x1b') == std::string::npos);
  CHECK_NOTHROW(parse_json(report_json(odd), "report"));
}

TEST_CASE("A schema that the host does not take is shown with its rule and place") {
  const test::PluginDir dir;
  const auto report = verify_plugin(dir.add("endless_schema"), test::options());
  CHECK_FALSE(report.passed());
  CHECK_THAT(report_text(report), Catch::Contains("FAILED  description") && Catch::Contains("uses \"$ref\""));
}

namespace {

/// What verify says of the plugin's role tables.
PluginCheck role_tables(const std::string& plugin, bool passes) {
  const test::PluginDir dir;
  const auto report = verify_plugin(dir.add(plugin), test::options());
  CHECK(report.passed() == passes);
  REQUIRE(report.checks.size() == 9);
  CHECK(report.checks[7].name == "role tables");
  return report.checks[7];
}

class StrayDefinition final : public DefinitionIndex {
 public:
  explicit StrayDefinition(CapabilityDefinition capability) {
    definition_->service = definition_->prefix = "stray";
    definition_->version = "1.0.0";
    definition_->capabilities = {std::move(capability)};
  }
  std::shared_ptr<const ServiceDefinition> find(const std::string&, std::string&) const override { return definition_; }

 private:
  const std::shared_ptr<ServiceDefinition> definition_ = std::make_shared<ServiceDefinition>();
};

}  // namespace

TEST_CASE("A role's table that is truncated or lacks a function is told before any call") {
  const auto [plugin, sentence] = GENERATE(table<std::string, std::string>({
      {"truncated_role", "krux.write-executor/1 is truncated: it has 16 bytes, 24 are needed;"},
      {"null_function", "krux.write-executor/1 lacks execute_write: it is NULL;"},
      {"null_query", "krux_adapter lacks query: it is NULL;"},
  }));
  const auto check = role_tables(plugin, false);
  CHECK(check.outcome == PluginCheck::Outcome::kFailed);
  CHECK_THAT(check.detail, Catch::Contains(sentence) && Catch::Contains("ask its author"));
}

TEST_CASE("A table may end before an appended function, and an optional one may be NULL") {
  for (const auto* plugin : {"stray_adapter", "null_resolve"}) {
    const auto check = role_tables(plugin, true);
    CHECK(check.outcome == PluginCheck::Outcome::kPassed);
    CHECK(check.detail == "In order: read.");
  }
  CHECK(role_tables("mock_adapter", true).detail == "In order: sync, read, write, rollback, cleanup, account.");
}

TEST_CASE("An adapter that cannot be made without an account is not refused for it") {
  const auto [plugin, why] = GENERATE(
      table<std::string, std::string>({{"needs_account", "without an account"}, {"crashing_creation", "crashed"}}));
  const auto check = role_tables(plugin, true);
  CHECK(check.outcome == PluginCheck::Outcome::kSkipped);
  CHECK_THAT(check.detail, Catch::Contains(why));
}

TEST_CASE("A role whose table is NULL is told where the definition needs it") {
  const test::PluginDir dir;
  const auto file = dir.add("stray_adapter");
  const auto check = [&](CapabilityKind kind) {
    CapabilityDefinition capability;
    capability.name = "stray.thing";
    capability.kind = kind;
    const StrayDefinition definition(capability);
    const auto report = verify_plugin(file, test::options(&definition));
    CHECK(report.passed());
    return report.checks.back();
  };
  CHECK(check(CapabilityKind::kRead).outcome == PluginCheck::Outcome::kPassed);
  const auto write = check(CapabilityKind::kWrite);
  CHECK(write.outcome == PluginCheck::Outcome::kWarned);
  CHECK_THAT(write.detail, Catch::Contains("krux.write-executor/1 is NULL") && Catch::Contains("stray.thing"));
}

}  // namespace KRUXOS_TEST_FILE
