#include "core/util/yaml_value.hpp"

#include <catch2/catch.hpp>

#include "core/definition/base_url.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

struct Parsed {
  YamlNode root;
  explicit Parsed(const std::string& text) : root(parse_yaml(text, "f.yaml")) {}
  YamlValue value() const { return {root, "f.yaml", ""}; }
};

std::string json_of(const std::string& yaml) {
  return Parsed(yaml).value().json();
}

}  // namespace

TEST_CASE("plain scalars become the JSON that they look like, quoted ones text") {
  CHECK(json_of("{a: 1, b: true, c: 1.5, d: text, e: \"1\", f: ~, g: [], h: {}, i: [1, x]}") ==
        R"({"a":1,"b":true,"c":1.5,"d":"text","e":"1","f":null,"g":[],"h":{},"i":[1,"x"]})");
  CHECK(json_of("007") == "7");
  CHECK(json_of("1e999") == "\"1e999\"");
  CHECK(json_of(".inf") == "\".inf\"");
  CHECK(json_of("nan") == "\"nan\"");
  CHECK(json_of("yes") == "\"yes\"");
}

TEST_CASE("time spans have a unit") {
  const auto ms = [](const std::string& text) { return Parsed(text).value().duration_ms(0, 400LL * 86'400'000); };
  CHECK(ms("250 ms") == 250);
  CHECK(ms("30s") == 30'000);
  CHECK(ms("1.5 min") == 90'000);
  CHECK(ms("24 h") == 86'400'000);
  CHECK(ms("365 d") == 365LL * 86'400'000);
  for (const char* bad : {"30", "s", "30 sec", "-1 s", "1e3 s", "30 s s", "1..5 s", "\"\"", "[30]", "500 d", "1e400 d",
                          "99999999999999999999999 d"}) {
    INFO(bad);
    CHECK_THROWS_AS(ms(bad), ConfigError);
  }
}

TEST_CASE("a base address is https, or http to a loopback address") {
  for (const char* good : {"https://api.example.com/", "https://api.example.com:8443/v1/", "http://127.0.0.1:8080/api/",
                           "http://[::1]:1/", "http://127.9.9.9/"})
    CHECK(why_not_base_url(good) == "");
  for (const char* bad :
       {"", "http://localhost:80/", "http://10.0.0.1/", "http://127.0.0.1.example.com/", "https:///path/",
        "https://a/b", "https://a b/", "file:///etc/", "//a/", "https://a/?x/", "https://a/#/", "https://u@a/"}) {
    INFO(bad);
    CHECK(why_not_base_url(bad) != "");
  }
}

}  // namespace KRUXOS_TEST_FILE
