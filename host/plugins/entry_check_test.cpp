#include "host/plugins/entry_check.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

krux_plugin_entry good() {
  return {KRUX_MAGIC,
          sizeof(krux_plugin_entry),
          3,
          0,
          "mail",
          "email",
          "1.2.3",
          [](const krux_sink*) noexcept -> krux_status { return KRUX_OK; },
          [](const krux_host*, const krux_call*, const krux_account*) noexcept -> krux_adapter* { return nullptr; }};
}

std::string problem(const krux_plugin_entry& entry, std::uint64_t bytes = sizeof(krux_plugin_entry)) {
  EntryInfo info;
  return check_entry(entry, bytes, info);
}

}  // namespace

TEST_CASE("A good entry is copied") {
  EntryInfo info;
  CHECK(check_entry(good(), sizeof(krux_plugin_entry), info).empty());
  CHECK(info.service == "mail");
  CHECK(info.prefix == "email");
  CHECK(info.version == "1.2.3");
  CHECK(info.abi_minor == 3);
}

TEST_CASE("An entry of a later minor, with more fields, is good") {
  auto entry = good();
  entry.size += 64;
  CHECK(problem(entry, sizeof(entry) + 64).empty());
}

TEST_CASE("Each defect of an entry has its sentence") {
  auto entry = good();
  entry.magic = 1;
  CHECK(problem(entry).find("magic") != std::string::npos);
  CHECK(problem(good(), 4).find("magic") != std::string::npos);
  entry = good();
  entry.size = offsetof(krux_plugin_entry, create);
  CHECK(problem(entry).find("truncated") != std::string::npos);
  CHECK(problem(good(), sizeof(krux_plugin_entry) - 1).find("truncated") != std::string::npos);
  entry = good();
  entry.create = nullptr;
  CHECK(problem(entry).find("lacks") != std::string::npos);
  entry = good();
  entry.describe = nullptr;
  CHECK(problem(entry).find("lacks") != std::string::npos);
}

TEST_CASE("Names and versions have one form") {
  const std::string long_name(33, 'a'), endless(1000, 'a');
  for (const char* name : {"", "Mail", "1mail", "_mail", "ma il", "../etc", "mail\x1b", long_name.c_str(),
                           endless.c_str(), static_cast<const char*>(nullptr)}) {
    auto entry = good();
    entry.service = name;
    CHECK(problem(entry).find("service") != std::string::npos);
    entry = good();
    entry.prefix = name;
    CHECK(problem(entry).find("prefix") != std::string::npos);
  }
  for (const char* version : {"", "1", "1.2", "1.2.3.4", "1.2.x", "v1.2.3", "1..3", "-1.2.3", "1.2.3 ", "1.2.1000000",
                              static_cast<const char*>(nullptr)}) {
    auto entry = good();
    entry.version = version;
    CHECK(problem(entry).find("version") != std::string::npos);
  }
}

TEST_CASE("Versions compare by number") {
  CHECK(*parse_version("1.10.0") > *parse_version("1.9.99"));
  CHECK(*parse_version("2.0.0") > *parse_version("1.999999.999999"));
  CHECK(*parse_version("0.0.1") > *parse_version("0.0.0"));
}

}  // namespace KRUXOS_TEST_FILE
