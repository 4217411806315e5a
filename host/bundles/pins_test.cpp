#include "host/bundles/pins.hpp"

#include <catch2/catch.hpp>

#include "core/bundle/bundle_fixture.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;

namespace {

BundlePins some_pins() {
  const test::BundleFolder bundle;
  const auto contents = read_bundle(bundle.path());
  BundlePin pin;
  pin.terms = terms_of(*contents.definition, "1.2.0", contents.manifest.hosts);
  pin.terms.hosts_from = "services.mock.adapter.allow_hosts";
  pin.files = contents.files;
  pin.directory = "mock-3";
  pin.library = "mock.so";
  pin.installed_at_ms = 1'700'000'000'000;
  pin.installed_by = "ann (uid 1000)";
  return {4, {pin}};
}

}  // namespace

TEST_CASE("pins are read as they were written") {
  const auto pins = some_pins();
  const auto json = pins_json(pins);
  const auto read = parse_pins(json, "p");
  CHECK(pins_json(read) == json);
  REQUIRE(read.find("mock"));
  CHECK(read.find("other") == nullptr);
  CHECK(read.next == 4);
  CHECK(pinned_files(read) == std::vector<std::string>{"mock-3/manifest.yaml", "mock-3/mock.policy.yaml",
                                                       "mock-3/mock.so", "mock-3/mock.yaml"});
  CHECK(read.find("mock")->files == pins.bundles[0].files);
  CHECK(changes_between(read.find("mock")->terms, pins.bundles[0].terms).empty());
}

TEST_CASE("where there is no file there are no pins") {
  const support::Scratch scratch;
  CHECK(read_pins(scratch.path()).bundles.empty());
}

TEST_CASE("damaged pins are refused with a sentence, whatever is in them") {
  const auto whole = pins_json(some_pins());
  for (std::size_t length = 0; length < whole.size(); length += 7)
    CHECK_THROWS_WITH(parse_pins(whole.substr(0, length), "p"), Contains("p: ") && Contains("anew"));
  for (const auto& [find, with] :
       std::vector<std::pair<std::string, std::string>>{{R"("directory":"mock-3")", R"("directory":"../mock-3")"},
                                                        {R"("directory":"mock-3")", R"("directory":"..")"},
                                                        {R"("directory":"mock-3")", R"("directory":3)"},
                                                        {R"("pins":1)", R"("pins":2)"},
                                                        {R"("next":4)", R"("next":-4)"},
                                                        {R"("library":"mock.so")", R"("library":"other.so")"},
                                                        {R"("mock.yaml":")", R"("a/mock.yaml":")"},
                                                        {R"("manifest.yaml":")", R"("m":")"},
                                                        {R"("service":"mock")", R"("service":"../mock")"},
                                                        {R"("tier":"autonomous")", R"("tier":"free")"},
                                                        {R"("window_ms":3600000)", R"("window_ms":0)"},
                                                        {R"("hosts":[)", R"("hosts":[1,)"},
                                                        {R"("bundles":[)", R"("bundles":[null,)"}}) {
    INFO(with);
    CHECK_THROWS_WITH(parse_pins(test::replaced(whole, find, with), "p"), Contains("p: ") && Contains("anew"));
  }
}

TEST_CASE("pins that others could have written are refused") {
  const support::Scratch scratch;
  support::write_safe(scratch.path() / "bundles.json", pins_json(some_pins()));
  CHECK(read_pins(scratch.path()).bundles.size() == 1);
  std::filesystem::permissions(scratch.path() / "bundles.json", std::filesystem::perms(0666));
  CHECK_THROWS_WITH(read_pins(scratch.path()), Contains("can be written by other users"));
}

}  // namespace KRUXOS_TEST_FILE
