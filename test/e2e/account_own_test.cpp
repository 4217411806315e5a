// Accounts with an address and settings of their own, over the whole chain.
#include <filesystem>
#include <fstream>

#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kOtherToken = "xoxb-other-5ecret-0f-a-tenant";

class Tenants : public Rig {
 public:
  Tenants() {
    std::ofstream(path("definitions/slack.yaml"), std::ios::app) << R"(
accounts:
  base_url: {description: The workspace's own address., hosts: [127.0.0.1]}
  settings: [{name: region, description: Where it is., one_of: [eu, us]}]
)";
  }

  Finished connect_with(const std::vector<std::string>& more, const std::string& token) {
    std::vector<std::string> arguments{"connect", "slack"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return kruxos(arguments, token + "\n");
  }
  Json connection() { return operate({"connect", "status"}); }
};

SlackEmulatorOptions other_tokens() {
  SlackEmulatorOptions options;
  options.tokens = {kOtherToken};
  return options;
}

}  // namespace

TEST_CASE("an account's own address gets its token, and stays with it") {
  Tenants rig;
  SlackEmulator other(other_tokens());
  rig.start();
  const auto at_other = "--base-url=" + other.api_base_url();

  auto refused = rig.connect_with({at_other, "--set", "region=mars"}, kOtherToken);
  CHECK(refused.status.code != 0);
  CHECK_THAT(refused.err, Catch::Contains("is one of eu, us"));
  refused = rig.connect_with({"--base-url=https://slack.example.com/api/"}, kOtherToken);
  CHECK_THAT(refused.err, Catch::Contains("lies at 127.0.0.1"));
  refused = rig.connect_with({"--set", "region"}, kOtherToken);
  CHECK_THAT(refused.err, Catch::Contains("NAME=VALUE"));

  // The other one alone knows this token.
  const auto connected = rig.connect_with({at_other, "--set", "region=eu"}, kOtherToken);
  INFO(connected.err);
  REQUIRE(connected.status.code == 0);
  CHECK_THAT(connected.out, Catch::Contains(other.api_base_url() + ", region=eu"));
  CHECK(text_at(rig.connection(), "/connections/0/base_url") == other.api_base_url());
  CHECK_THAT(rig.kruxos({"connect", "status"}).out, Catch::Contains(other.api_base_url()));

  // Without a name nobody knows where a token is to go.
  refused = rig.connect_with({}, kOtherToken);
  CHECK_THAT(refused.err, Catch::Contains("--account default"));
  // A setting does not say whose address is meant: the token would go to the service's.
  refused = rig.connect_with({"--set", "region=us"}, kOtherToken);
  CHECK(refused.status.code != 0);
  CHECK_THAT(refused.err, Catch::Contains("of its own. Connect it again with --account"));
  REQUIRE(rig.connect_with({"--account", "default", "--set", "region=us"}, kOtherToken).status.code == 0);
  CHECK(text_at(rig.connection(), "/connections/0/base_url") == other.api_base_url());
  CHECK(text_at(rig.connection(), "/connections/0/settings/region") == "us");

  // The same workspace id at another address may be somebody else's.
  refused = rig.connect_with({"--account", "second", "--set", "region=eu"}, kToken);
  CHECK(refused.status.code == 5);
  CHECK_THAT(refused.err, Catch::Contains("is connected at " + other.api_base_url()));

  rig.stop();
  rig.start();
  CHECK(text_at(rig.connection(), "/connections/0/base_url") == other.api_base_url());
  CHECK(text_at(rig.connection(), "/connections/0/settings/region") == "us");
  CHECK(eventually([&] { return rig.synced(); }));
  CHECK(rig.log().find(kOtherToken) == std::string::npos);
}

TEST_CASE("a backup keeps an account's own address and settings, and what is restored goes on with them") {
  Tenants rig;
  SlackEmulator other(other_tokens());
  rig.start();
  REQUIRE(rig.connect_with({"--base-url=" + other.api_base_url(), "--set", "region=eu"}, kOtherToken).status.ok());
  REQUIRE(rig.kruxos({"backup", rig.path("monday").string()}).status.ok());
  REQUIRE(rig.connect_with({"--account", "default", "--set", "region=us"}, kOtherToken).status.ok());
  rig.stop();
  std::filesystem::rename(rig.data(), rig.path("original"));
  REQUIRE(rig.kruxos({"restore", rig.path("monday").string()}).status.ok());

  rig.start();
  CHECK(text_at(rig.connection(), "/connections/0/base_url") == other.api_base_url());
  CHECK(text_at(rig.connection(), "/connections/0/settings/region") == "eu");
  CHECK(eventually([&] { return rig.synced(); }));  // there alone this token is known
}

}  // namespace KRUXOS_TEST_FILE
