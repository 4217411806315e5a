#include "address.hpp"

#include <kruxos/adapter/error.hpp>

#include <catch2/catch.hpp>
#include <string>

#include "allowed_hosts.hpp"
#include "base64.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using network::parse_address;
using network::resolve;

TEST_CASE("an address is taken apart, and what could be read in two ways is refused") {
  const auto address = parse_address("https://api.example.com/data?page=1#part");
  CHECK(address.origin == "https://api.example.com");
  CHECK(address.host == "api.example.com");
  CHECK(address.rest == "/data?page=1");
  CHECK(parse_address("HTTPS://a.example").text() == "https://a.example/");
  CHECK(parse_address("https://a.example:8443?x").text() == "https://a.example:8443/?x");
  CHECK(parse_address("http://127.0.0.1:80/").host == "127.0.0.1");
  CHECK(parse_address("http://[::1]:9/").text() == "http://[::1]:9/");
  CHECK(parse_address("https://[::1]:9/").host == "::1");
  for (const char* bad :
       {"", "ftp://a.example/", "http://a.example/", "http://127.evil.com/", "http://127.1/", "http://[::2]/",
        "//a.example", "https://", "https:///x", "https://user@a.example/", "https://a.example@evil.example/",
        "https://a.example\\@b/", "https://a.example/a b", "https://a.example/\n", "https://\xC3\xA4.example/",
        "javascript:alert(1)", "file:///etc/passwd"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_address(bad), kruxos::ProxyError);
  }
  CHECK_THROWS_WITH(parse_address("https://a.example/" + std::string(4000, 'x')), Contains("4,000"));
}

TEST_CASE("redirects lead on from where they were met") {
  const auto from = parse_address("https://a.example/dir/page?x=1");
  CHECK(resolve(from, "https://b.example/y").text() == "https://b.example/y");
  CHECK(resolve(from, "https://b.example/x/../y/./z?../").text() == "https://b.example/y/z?../");
  CHECK(resolve(from, "//b.example/x/..").text() == "https://b.example/");
  CHECK(resolve(from, "//b.example/y").text() == "https://b.example/y");
  CHECK(resolve(from, "/y#z").text() == "https://a.example/y");
  CHECK(resolve(from, "y").text() == "https://a.example/dir/y");
  CHECK(resolve(from, "../y").text() == "https://a.example/y");
  CHECK(resolve(from, "./y?to=../z").text() == "https://a.example/dir/y?to=../z");
  CHECK(resolve(from, "../../../y/.").text() == "https://a.example/y/");
  CHECK(resolve(from, "/a/./b/../c/..").text() == "https://a.example/a/");
  CHECK(resolve(from, "..a/...").text() == "https://a.example/dir/..a/...");
  CHECK(resolve(from, "?x=2").text() == "https://a.example/dir/page?x=2");
  CHECK(resolve(from, "/y?next=https://c.example/").text() == "https://a.example/y?next=https://c.example/");
  CHECK_THROWS_AS(resolve(from, "http://169.254.169.254/latest"), kruxos::ProxyError);
  CHECK_THROWS_AS(resolve(from, "file:///etc/passwd"), kruxos::ProxyError);
}

TEST_CASE("only hosts that are listed may be reached, and the sentence names the key") {
  const network::AllowedHosts none({}), some({"api.example.com", "*.example.org"});
  CHECK_THROWS_WITH(none.must_have("a.example"), Contains("services.network.adapter.allow_hosts"));
  CHECK_NOTHROW(some.must_have("API.example.com"));
  CHECK_NOTHROW(some.must_have("a.b.example.org"));
  CHECK_NOTHROW(network::AllowedHosts({"::1"}).must_have(parse_address("https://[::1]/").host));
  for (const char* other : {"example.com", "xapi.example.com", "api.example.com.evil.example", "example.org",
                            "xexample.org", "", ".example.org", "169.254.169.254"}) {
    INFO(other);
    CHECK_THROWS_WITH(some.must_have(other), Contains("has not listed it"));
  }
}

TEST_CASE("bytes become Base64") {
  CHECK(network::base64_of("").empty());
  CHECK(network::base64_of("f") == "Zg==");
  CHECK(network::base64_of("fo") == "Zm8=");
  CHECK(network::base64_of("foo") == "Zm9v");
  CHECK(network::base64_of(std::string("\x00\xFF\x7F\x80", 4)) == "AP9/gA==");
}

}  // namespace KRUXOS_TEST_FILE
