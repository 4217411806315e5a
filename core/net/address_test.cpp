#include "core/net/address.hpp"

#include <catch2/catch.hpp>

#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("addresses are read strictly and written canonically") {
  CHECK(parse_ip("127.0.0.1")->text() == "127.0.0.1");
  CHECK(parse_ip("::FFFF:10.0.0.1")->text() == "10.0.0.1");
  CHECK(parse_ip("2001:DB8:0:0::1")->text() == "2001:db8::1");
  for (const auto* bad : {"", "1", "127.1", "0177.0.0.1", "127.0.0.01", "0x7f.0.0.1", "1.2.3.4.5", "1.2.3.256",
                          "fe80::1%lo", "[::1]", "::g", " 127.0.0.1", "localhost"}) {
    INFO(bad);
    CHECK_FALSE(parse_ip(bad).has_value());
  }
  CHECK_FALSE(parse_ip(std::string_view("127.0.0.1\0x", 11)).has_value());
}

TEST_CASE("only the public internet is public") {
  for (const auto* text : {"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
                           "192.167.0.1", "223.255.255.255", "2606:4700::1111", "64:ff9b::8.8.8.8", "2a00::1"}) {
    INFO(text);
    CHECK(is_public(*parse_ip(text)));
  }
  for (const auto* text : {"0.0.0.0",
                           "10.0.0.1",
                           "100.64.0.1",
                           "100.100.100.200",
                           "127.0.0.1",
                           "127.255.255.255",
                           "169.254.169.254",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.0.0.192",
                           "192.168.1.1",
                           "198.18.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "240.0.0.1",
                           "::",
                           "::1",
                           "::127.0.0.1",
                           "::ffff:10.0.0.1",
                           "64:ff9b::10.0.0.1",
                           "64:ff9b::127.0.0.1",
                           "64:ff9b:1::1",
                           "fe80::1",
                           "fec0::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "ff02::1",
                           "2001::1",
                           "2001:db8::1",
                           "2002:7f00:1::",
                           "3fff::1",
                           "4000::1",
                           "100::1"}) {
    INFO(text);
    CHECK_FALSE(is_public(*parse_ip(text)));
  }
}

TEST_CASE("loopback is 127.0.0.0/8 and ::1") {
  for (const auto* text : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) CHECK(is_loopback(*parse_ip(text)));
  for (const auto* text : {"128.0.0.1", "0.0.0.0", "::", "::2", "::127.0.0.1"})
    CHECK_FALSE(is_loopback(*parse_ip(text)));
}

TEST_CASE("a policy allows what is public and what is listed") {
  const AddressPolicy none({});
  CHECK(none.allows(*parse_ip("1.1.1.1")));
  CHECK_FALSE(none.allows(*parse_ip("10.1.2.3")));
  const AddressPolicy some({"10.1.0.0/17", "192.168.7.7", "fd00::/9"});
  CHECK(some.allows(*parse_ip("10.1.127.255")));
  CHECK_FALSE(some.allows(*parse_ip("10.1.128.0")));
  CHECK(some.allows(*parse_ip("::ffff:192.168.7.7")));
  CHECK_FALSE(some.allows(*parse_ip("192.168.7.8")));
  CHECK(some.allows(*parse_ip("fd7f::1")));
  CHECK_FALSE(some.allows(*parse_ip("fd80::1")));
}

TEST_CASE("a bad list is refused with the entry") {
  for (const auto* bad :
       {"", "localhost", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "::/129", "10.0.0/8"}) {
    INFO(bad);
    CHECK_THROWS_AS(AddressPolicy({bad}), ConfigError);
  }
}

}  // namespace KRUXOS_TEST_FILE
