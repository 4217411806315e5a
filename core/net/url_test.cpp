#include "core/net/url.hpp"

#include <catch2/catch.hpp>

#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {
const Url kBase = parse_base_url("https://notes.example/api/");
}

TEST_CASE("good addresses are taken apart") {
  const auto url = parse_url("HTTPS://Files.Example.COM:8443/a%20b/c?x=1&y=%2f");
  CHECK(url.scheme == "https");
  CHECK(url.host == "files.example.com");
  CHECK(url.port == 8443);
  CHECK(url.target() == "/a%20b/c?x=1&y=%2f");
  CHECK(url.origin() == "https://files.example.com:8443");
  CHECK(parse_url("https://example.com").target() == "/");
  CHECK(parse_url("https://example.com?q").target() == "/?q");
  CHECK(parse_url("https://example.com:443/").origin() == "https://example.com");
  CHECK(parse_url("https://[2606:4700::1111]:8443/").authority() == "[2606:4700::1111]:8443");
  CHECK(parse_url("http://127.0.0.1:8080/").origin() == "http://127.0.0.1:8080");
  CHECK(parse_url("http://[::1]/").origin() == "http://[::1]");
  CHECK(parse_url("https://example.com/a..b/.c/...").path == "/a..b/.c/...");
  CHECK(parse_url("https://example.com/a?x=..%2f%0a").query == "?x=..%2f%0a");
}

TEST_CASE("addresses that could be understood in several ways are refused") {
  for (const auto* bad :
       {"", "x", "/x", "notes.example", "//notes.example/", "https:", "https:/notes.example/", "https:notes.example",
        "https:///x", "https://", "ftp://notes.example/", "file:///etc/passwd", "javascript:alert(1)",
        "ws://notes.example/",
        // Plain http beyond the loopback.
        "http://notes.example/", "http://localhost/", "http://10.0.0.1/", "http://[::2]/", "http://127.0.0.1.evil.com/",
        "http://0.0.0.0/",
        // Who is the host?
        "https://a@notes.example/", "https://a:b@notes.example/", "https://@notes.example/",
        "https://notes.example\\@evil.com/", "https://notes.example%2f.evil.com/", "https://notes.example%00.evil.com/",
        "https://sl%61ck.com/", "https://notes.example./", "https://.notes.example/", "https://a..b/",
        "https://-a.com/", "https://a-.com/", "https://sl ack.com/", "https://sl\xc3\xa4k.com/", "https://[::1/",
        "https://::1/", "https://[fe80::1%25lo]/", "https://[v1.x]/",
        // Numbers that a resolver takes for addresses.
        "https://2130706433/", "https://127.1/", "https://0177.0.0.1/", "https://0x7f.0.0.1/", "https://a.0x7f/",
        "https://1.2.3.4.5/", "https://127.0.0.01/",
        // Ports.
        "https://notes.example:/", "https://notes.example:0/", "https://notes.example:65536/",
        "https://notes.example:443x/", "https://notes.example:-1/", "https://notes.example:4 43/",
        "https://notes.example:99999999999999999999/",
        // Paths.
        "https://notes.example/../x", "https://notes.example/a/./b", "https://notes.example/a/..",
        "https://notes.example/%2e%2e/x", "https://notes.example/.%2E/x", "https://notes.example/a%2f..%2fb",
        "https://notes.example/a%5c..%5cb", "https://notes.example/a\\b", "https://notes.example/a%00b",
        "https://notes.example/a%0d%0ab", "https://notes.example/%", "https://notes.example/%zz",
        "https://notes.example/a\r\nHost: evil", "https://notes.example/a\tb", "https://notes.example/a b",
        "https://notes.example/#x", "https://notes.example/?a#b", "https://notes.example/\x7f"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_url(bad), Error);
  }
  CHECK_THROWS_AS(parse_url("https://" + std::string(64, 'a') + ".com/"), Error);
  CHECK_THROWS_AS(parse_url("https://a.com/" + std::string(20'000, 'a')), Error);
  CHECK_THROWS_AS(parse_url(std::string_view("https://a.com/\0", 15)), Error);
}

TEST_CASE("a refusal never repeats the address") {
  try {
    parse_url("https://user:hunter2@notes.example/?token=hunter2");
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK_THAT(e.what(), !Catch::Contains("hunter2"));
  }
}

TEST_CASE("relative addresses stay below the base") {
  const auto resolved = [](std::string_view r) {
    return resolve_url(kBase, r).origin() + resolve_url(kBase, r).target();
  };
  CHECK(resolved("chat.postMessage") == "https://notes.example/api/chat.postMessage");
  CHECK(resolved("a/b?x=1") == "https://notes.example/api/a/b?x=1");
  CHECK(resolved("/api/x") == "https://notes.example/api/x");
  CHECK(resolved("?x") == "https://notes.example/api/?x");
  CHECK(resolved("users/a:b") == "https://notes.example/api/users/a:b");
  CHECK(resolved("https://notes.example/elsewhere") == "https://notes.example/elsewhere");
  CHECK(resolved("https://evil.example/x") == "https://evil.example/x");  // the allow-list's matter
  for (const auto* bad :
       {"",           "../x",        "a/../../x",    "./x",          "..",      "/",           "/x",
        "/apix",      "/api",        "/api/../x",    "//evil/x",     "///evil", "\\\\evil\\x", "/\\evil",
        "https:evil", "https:/evil", "http://evil/", "javascript:x", "a:b",     "%2e%2e/x",    "a%2f..%2f..%2fx",
        "#x",         "x#y",         " x",           "x y",          "x\ny",    "@evil/\xff"}) {
    INFO(bad);
    CHECK_THROWS_AS(resolve_url(kBase, bad), Error);
  }
}

TEST_CASE("a base may lack its last slash, but has no query") {
  CHECK(parse_base_url("https://notes.example/api").path == "/api/");
  CHECK(parse_base_url("https://notes.example").path == "/");
  CHECK_THROWS_AS(parse_base_url("https://notes.example/?x"), Error);
}

TEST_CASE("the path for quotas and logs has no query") {
  CHECK(path_below(kBase, resolve_url(kBase, "a/b?secret")) == "a/b");
  CHECK(path_below(kBase, parse_url("https://notes.example/other?secret")) == "/other");
  CHECK(path_below(kBase, parse_url("https://files.notes.example/x?secret")) == "//files.notes.example/x");
}

TEST_CASE("percent-decoding keeps what is malformed") {
  CHECK(percent_decode("a%20b%2B+%", true) == "a b+ %");
  CHECK(percent_decode("%4", false) == "%4");
  CHECK(percent_decode("%zz%41+", false) == "%zzA+");
}

}  // namespace KRUXOS_TEST_FILE
