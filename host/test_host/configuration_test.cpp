#include "host/test_host/configuration.hpp"

#include <catch2/catch.hpp>

#include "core/config/config.hpp"
#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("a time is a number with its unit") {
  CHECK(time_in_ms("500 ms") == 500);
  CHECK(time_in_ms("90s") == 90'000);
  CHECK(time_in_ms("30 min") == 1'800'000);
  CHECK(time_in_ms("24 h") == 86'400'000);
  CHECK(time_in_ms("366 d") == 366LL * 86'400'000);
  CHECK(time_in_ms("0 s") == 0);
  for (const auto* wrong : {"", "5", "h", "-1 s", "1.5 s", "1 hour", "1 s 2", "367 d", "99999999999999999999 s"}) {
    INFO(wrong);
    CHECK_THROWS_WITH(time_in_ms(wrong), Catch::Contains("is no time") && Catch::Contains("24 h"));
  }
}

TEST_CASE("no setting leads a host for tests out of its directory") {
  CHECK_NOTHROW(check_settings({"server.port=7701", "services.notes.isolation=process"}));
  for (const auto* own :
       {"data_dir=/home/ann", "places_dir=x", "vault_key_file=x", "audit.key_file=x", "bundles_dir=x"}) {
    INFO(own);
    CHECK_THROWS_WITH(check_settings({"server.port=0", own}), Catch::Contains("has its own"));
  }
}

TEST_CASE("the configuration of a host for tests is one") {
  const support::Scratch scratch;
  ServiceDefinition notes;
  notes.service = "notes";
  notes.capabilities.resize(3);
  notes.capabilities[0].name = "notes.search";
  notes.capabilities[1].name = "notes.add";
  notes.capabilities[1].kind = CapabilityKind::kWrite;
  notes.capabilities[1].delay_ms = 60'000;
  notes.capabilities[2].name = "notes.mark";
  notes.capabilities[2].kind = CapabilityKind::kWrite;
  notes.capabilities[2].immediate = true;
  const std::vector<TestedService> services{
      {TestedService::Kind::kMock, std::make_shared<const ServiceDefinition>(notes), "", false, ""}};
  const auto read = [&](const cli::TestHostOptions& options) {
    const auto file = scratch.path() / "kruxos.yaml";
    std::ofstream(file) << configuration_of(scratch.path() / "a \"b\": {c}", options, services);
    return load_config(file, {}, {});
  };
  using Delays = std::map<std::string, std::int64_t>;
  cli::TestHostOptions options;
  auto config = read(options);
  CHECK(config.data_dir == scratch.path() / "a \"b\": {c}/data");
  CHECK(config.server.port == 0);
  CHECK(config.write_buffer.delays_ms == Delays{{"notes.add", 1000}});
  options.driven_time = true;
  CHECK(read(options).write_buffer.delays_ms.empty());
  options.delay = "2 min";
  CHECK(read(options).write_buffer.delays_ms == Delays{{"notes.add", 120'000}});
}

}  // namespace KRUXOS_TEST_FILE
