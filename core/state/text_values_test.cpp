#include "core/state/text_values.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::vector<std::string> of(ValueKind kind, std::string_view text) {
  std::vector<std::string> all;
  for (const auto& value : values_in(text, 100)) {
    if (value.kind == kind) all.push_back(value.text);
  }
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("addresses are found wherever they stand") {
  const auto addresses = [](std::string_view text) { return of(ValueKind::kAddress, text); };
  CHECK(addresses("Amy <Amy.Lee+x@Example.COM>, and (bob@a.example).") ==
        Texts{"amy.lee+x@example.com", "bob@a.example"});
  CHECK(addresses("mailto:amy@example.com?subject=x") == Texts{"amy@example.com"});
  CHECK(addresses("...amy@example.com...") == Texts{"amy@example.com"});
  CHECK(addresses("tom@h\u0430rbour.example") == Texts{"tom@h\u0430rbour.example"});
  CHECK(addresses("@amy amy@ a@b @ x@.").empty());
}

TEST_CASE("links are known by their hosts") {
  const auto links = [](std::string_view text) { return of(ValueKind::kLink, text); };
  CHECK(links("see https://WWW.Example.com/a?b=c and <http://harb0ur.example/login|harbour.example>") ==
        Texts{"example.com", "harb0ur.example"});
  CHECK(links("www.secure-systems-252.com.") == Texts{"secure-systems-252.com"});
  CHECK(links("go to evil.com/x or evil-2.io") == Texts{"evil.com", "evil-2.io"});
  CHECK(links("https://example.com@evil.example/") == Texts{"evil.example"});
  CHECK(links("https:evil.example https:\\\\evil2.example HTTP:/evil3.example") ==
        Texts{"evil.example", "evil2.example", "evil3.example"});
  CHECK(links("https://%65vil.example/x, https://ev%69l2.example, http://[::1]:80/x") ==
        Texts{"evil.example", "evil2.example", "[::1]:80"});
  CHECK(links("(https://evil.example), https://evil.example:8080/x, https://evil.example.") ==
        Texts{"evil.example", "evil.example", "evil.example"});
  CHECK(links("bit.ly/abc evil.ru login.evil.zz/x main.rs and/or src/a.b") ==
        Texts{"bit.ly", "evil.ru", "login.evil.zz"});
  CHECK(links("note: https: is a scheme, http:").empty());
  CHECK(links("amy@example.com report.pdf e.g. this 1.5 README.md v2.0").empty());
}

TEST_CASE("codes and numbers are known however they are grouped") {
  const auto codes = [](std::string_view text) { return of(ValueKind::kCode, text); };
  CHECK(codes("The gate opens with 5582-9017.") == Texts{"55829017"});
  CHECK(codes("It is 5582 9017 today") == Texts{"55829017"});
  CHECK(codes("5582-9017 12") == Texts{"55829017", "5582901712"});
  CHECK(codes("call +1 (415) 555-0199 now") == Texts{"5550199"});
  CHECK(codes("key AB12cd34EF") == Texts{"ab12cd34ef"});
  CHECK(codes("on 2026-11-26, at 10:30, 2026-11-26T05:40:00Z, 12 of 40, room 1204, Q3 2026").empty());
  CHECK(codes("12345678901234567890").empty());
}

TEST_CASE("as many values are found as are wanted") {
  CHECK(values_in("a@b.example c@d.example e@f.example", 2).size() == 2);
  CHECK(values_in("", 2).empty());
  CHECK(values_in("@@@@://://....----@", 100).empty());
}

TEST_CASE("of a document its texts are looked at, and codes only where they are no names") {
  const auto found = values_in_json(
      R"({"id":"18c2f00d1a2b","thread_id":"99887766","ts":"1700000000","next_offset":123456789,"to":["a\u0040b.example"],"body":"Code\n448812\tend"})",
      100);
  CHECK(found == std::vector<TextValue>{{ValueKind::kAddress, "a@b.example"}, {ValueKind::kCode, "448812"}});
}

TEST_CASE("phone numbers are told by their last nine digits, and from days, amounts and addresses") {
  const auto phones = [](const std::string& text) {
    std::vector<std::string> all;
    for (const auto& value : values_in(text, 100)) {
      if (value.kind == ValueKind::kPhone) all.push_back(value.text);
    }
    return all;
  };
  for (const char* text :
       {"+49 171 1234567", "0171/1234567", "0049 (171) 1234567", "call +491711234567.", "(0171) 12-345-67"})
    CHECK(phones(text) == Texts{"711234567"});
  CHECK(phones("555-123-4567 or 555.123.4568") == Texts{"551234567", "551234568"});
  CHECK(phones("0171 12345") == Texts{"017112345"});
  CHECK(phones("0800-555-0199 24/7") == Texts{"005550199"});
  CHECK(phones("0800-555-0199 0800-555-0198") == Texts{"005550199", "005550198"});
  for (const char* text : {"0800 / 555 / 0199", "0800\u2013555\u20130199", "0800-555-0199x1", "(0800) - 555-0199"})
    CHECK(phones(text) == Texts{"005550199"});
  for (const char* text :
       {"2026-11-27 10:00", "27.11.2026", "192.168.100.200", "123456", "12 34", "a0171123456", "5551234567", "+", "(",
        "+1-", "0171123456@example.com", "DE89 3704 0044 0532 0130 00", "()"})
    CHECK(phones(text).empty());
  CHECK(values_in(std::string(100'000, '('), 10).empty());
  CHECK(values_in(std::string(100'000, '0'), 10).empty());
}

}  // namespace KRUXOS_TEST_FILE
