#include "host/plugins/verify.hpp"

#include <catch2/catch.hpp>

#include "core/util/json.hpp"
#include "host/plugins/testdata/plugin_dir.hpp"

using namespace krux;

TEST_CASE("A good plugin passes every check, shown as text and as JSON") {
  const test::PluginDir dir;
  const auto report = verify_plugin(dir.add("mock_adapter"), test::options());
  CHECK(report.passed());
  CHECK(report.first_failure() == "");
  REQUIRE(report.checks.size() == 8);
  CHECK(report.checks.back().outcome == PluginCheck::Outcome::kSkipped);  // no definitions were given
  CHECK_THAT(report_text(report), Catch::Contains("entry symbol") && !Catch::Contains("FAILED"));
  const auto json = parse_json(report_json(report), "report");
  CHECK(*find_bool(json, "ok"));
  CHECK(*find_string(json, "service") == "mock");
  CHECK(find_member(json, "checks")->Size() == 8);
}

TEST_CASE("The first failed check skips the rest") {
  const test::PluginDir dir;
  const auto report = verify_plugin(dir.add("wrong_major"), test::options());
  CHECK_FALSE(report.passed());
  REQUIRE(report.checks.size() == 8);
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
