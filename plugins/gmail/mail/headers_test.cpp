#include "headers.hpp"

#include <catch2/catch.hpp>

#include "utf8.hpp"

namespace KRUXOS_TEST_FILE {

namespace {

using gmail::decode_header;
using gmail::MailAddress;
using gmail::parse_addresses;

using Addresses = std::vector<MailAddress>;

}  // namespace

TEST_CASE("encoded words of any charset become text") {
  CHECK(decode_header("=?utf-8?Q?Gr=C3=BC=C3=9Fe?=") == "Grüße");
  CHECK(decode_header("=?UTF-8?B?R3LDvMOfZQ==?= aus =?iso-8859-1?q?Z=FCrich?=") == "Grüße aus Zürich");
  CHECK(decode_header("=?koi8-r?B?8NLJ18XU?=") == "Привет");
  CHECK(decode_header("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=") == "日本");
  CHECK(decode_header("=?gb2312?B?xOO6ww==?=") == "你好");
  // Two words side by side are one text, even within a character.
  CHECK(decode_header("=?utf-8?B?w7w=?= =?utf-8?B?w58=?=") == "üß");
  CHECK(decode_header("=?utf-8?B?4oI=?= =?utf-8?B?rA==?=") == "€");
  CHECK(decode_header("=?utf-8?B?4o?= =?utf-8?B?Ks?=") == "€");
  CHECK(decode_header("a=?utf-8?Q?b?=c =?utf-8?Q?d_e?= f") == "abc d e f");
  CHECK(decode_header("=?utf-8*de?Q?Gr=C3=BC=C3=9Fe?=") == "Grüße");
}

TEST_CASE("a header that is decoded already stays as it is") {
  CHECK(decode_header("Grüße aus Zürich") == "Grüße aus Zürich");
  CHECK(decode_header("50% =? no word") == "50% =? no word");
  CHECK(decode_header("") == "");
}

TEST_CASE("whatever a header holds comes out as one line of UTF-8") {
  CHECK(decode_header("folded\r\n value") == "folded value");
  CHECK(decode_header("Gr\xfc\xdf"
                      "e") == "Grüße");  // Latin-1 that nobody declared
  CHECK(decode_header("=?x-unknown?Q?a=FFb?=").find('\xff') == std::string::npos);
  CHECK(decode_header("=?utf-8?Q?a=00b=0D=0Ac?=").find('\n') == std::string::npos);
  CHECK(decode_header("=?utf-8?Q?a=E2=80=AEb?=") == "ab");  // turns the direction of writing
  CHECK(decode_header(std::string(1'000'000, 'a')).size() == gmail::kMostHeaderBytes);
  for (int i = 0; i < 256; ++i) {
    for (const auto* form : {"=?utf-8?Q?%?=", "=?big5?B?%?=", "%=?utf-8?q?a?=", "=?%?Q?a?="}) {
      std::string value(form);
      value.replace(value.find('%'), 1, 1, static_cast<char>(i));
      CHECK(gmail::is_utf8(decode_header(value)));
    }
  }
}

TEST_CASE("an encoded domain is read as it stands, and never as others") {
  for (const auto* label : {"xn--borgadaexample-l62m4964y2ja", "xn--borgxevil-5j3hu355q0ba", "xn--bevil-7t3d",
                            "xn--bevil-0ha", "xn--bevil-5a", "xn--bevil-ky3b", "xn--a", "xn--mnchen-3ya"}) {
    const auto address = "a@mail." + std::string(label) + ".com";
    CAPTURE(address);
    CHECK(parse_addresses("xn--Amy <" + address + ">, b@" + label + ".de") ==
          Addresses{{"xn--Amy", address}, {"", "b@" + std::string(label) + ".de"}});
  }
  CHECK(parse_addresses("a@münchen.de") == Addresses{{"", "a@xn--mnchen-3ya.de"}});
}

TEST_CASE("address lists are read as people write them") {
  CHECK(parse_addresses("amy@example.com") == Addresses{{"", "amy@example.com"}});
  CHECK(parse_addresses("Amy Lee <amy@example.com>, \"Lee, David\" <d@example.com>") ==
        Addresses{{"Amy Lee", "amy@example.com"}, {"Lee, David", "d@example.com"}});
  CHECK(parse_addresses("=?utf-8?Q?J=C3=BCrgen?= <j@example.com>") == Addresses{{"Jürgen", "j@example.com"}});
  CHECK(parse_addresses("=?utf-8?B?w7w=?= =?utf-8?B?w58=?= <a@b.example>") == Addresses{{"üß", "a@b.example"}});
  CHECK(parse_addresses("J\xfcrgen <j@example.com>") == Addresses{{"Jürgen", "j@example.com"}});
  CHECK(parse_addresses("=?utf-8?Q?Lee=2C_Amy=22?= <a@b.example>") == Addresses{{"Lee, Amy\"", "a@b.example"}});
  CHECK(parse_addresses("=?utf-8?Q?a=40b.example=3E?= <c@d.example>") == Addresses{{"a@b.example>", "c@d.example"}});
  CHECK(parse_addresses("Jürgen <j@example.com>") == Addresses{{"Jürgen", "j@example.com"}});
  CHECK(parse_addresses("friends: amy@example.com, bob@example.com;, eve@example.com") ==
        Addresses{{"", "amy@example.com"}, {"", "bob@example.com"}, {"", "eve@example.com"}});
  CHECK(parse_addresses("amy@example.com (Amy Lee)").front().address == "amy@example.com");
  CHECK(parse_addresses("undisclosed-recipients:;").empty());
  CHECK(parse_addresses("").empty());
  CHECK(parse_addresses("Amy <amy@exämple.com>").front().address == "amy@xn--exmple-cua.com");
}

TEST_CASE("an encoded word is a part of a name, whatever it holds") {
  CHECK(parse_addresses("=?utf-8?Q?finance=40attacker.test,?= Docs <noreply@docs.example>") ==
        Addresses{{"finance@attacker.test, Docs", "noreply@docs.example"}});
  CHECK(parse_addresses("=?utf-8?Q?Boss_<boss=40example.com>,?= <evil@attacker.test>, b@example.com") ==
        Addresses{{"Boss <boss@example.com>,", "evil@attacker.test"}, {"", "b@example.com"}});
  CHECK(parse_addresses("=?utf-8?Q?=22_=3Cy@attacker.test=3E,_=22?= <c@example.com>").size() == 1);
}

TEST_CASE("a name that could be read as something else is shown in quotes") {
  CHECK(gmail::shown(MailAddress{"Amy B. Lee", "amy@example.com"}) == "Amy B. Lee <amy@example.com>");
  CHECK(gmail::shown(MailAddress{"Lee, Amy", "amy@example.com"}) == "\"Lee, Amy\" <amy@example.com>");
  CHECK(gmail::shown(MailAddress{"a@b.test", ""}) == "\"a@b.test\"");
  for (const auto* name : {"Boss <boss@example.com>,", "a\" <b@c.test>, \"", "\\\"", "(x", "a; b: c"}) {
    const MailAddress one{name, "amy@example.com"};
    CAPTURE(gmail::shown(one));
    CHECK(parse_addresses(gmail::shown(one)) == Addresses{one});
  }
}

TEST_CASE("a long list is cut between addresses, wherever its end falls") {
  const std::string tail = "<real@example.com>, last@example.com";
  for (const std::string item :
       {"\"a <x@attacker.test>, b\" ", "(a, x@attacker.test, ) ", "=?utf-8?Q?,x@attacker.test,?= "}) {
    for (std::size_t offset = 0; offset <= item.size() + tail.size(); ++offset) {
      std::string value = "first@example.com, ";
      value += std::string(gmail::kMostHeaderBytes - value.size() - offset - 2, 'y').insert(0, "\"") + "\" ";
      value.insert(value.size(), item + tail);
      bool is_cut = false;
      const auto found = parse_addresses(value, &is_cut);
      CAPTURE(item, offset, found.size());
      CHECK(is_cut == (value.size() > gmail::kMostHeaderBytes));
      for (const auto& one : found) {
        const bool whole = one.address == "first@example.com" || one.address == "real@example.com" ||
                           one.address == "last@example.com";
        CHECK(whole);
      }
    }
  }
}

TEST_CASE("what is no address list gives what can be read") {
  for (const auto* value :
       {"<", ">", "<<>>", "a b c", "\"open", "(open", "a@", "@b", ",,,,", "a@b@c", ":;", "a:b:c:d;", "<a@b"}) {
    CAPTURE(value);
    for (const auto& one : parse_addresses(value)) CHECK(gmail::is_utf8(one.name + one.address));
  }
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "a@b.example, ";
  CHECK(parse_addresses(many).size() == gmail::kMostAddresses);
  std::string nested(2000, '(');
  CHECK(parse_addresses(nested + "a@b").size() <= 1);
}

TEST_CASE("dates become Unix milliseconds") {
  CHECK(gmail::parse_date("Fri, 21 Nov 1997 09:55:06 -0600") == 880'127'706'000);
  CHECK(gmail::parse_date("21 Nov 97 09:55:06 GMT") == 880'106'106'000);
  CHECK(gmail::parse_date("Thu, 1 Jan 1970 00:00:00 +0000 (UTC)") == 0);
  CHECK_FALSE(gmail::parse_date("yesterday"));
  CHECK_FALSE(gmail::parse_date(""));
  for (const auto* value :
       {"99 Nov 1997 09:55:06 GMT", "21 Nov 999999 09:55:06", "21 Nov 1997 99:99:99 +9999", "1 1 1 1 1"}) {
    gmail::parse_date(value);  // anything but a crash
  }
}

TEST_CASE("message ids come without their brackets") {
  using Ids = std::vector<std::string>;
  CHECK(gmail::parse_message_ids("<a@b>") == Ids{"a@b"});
  CHECK(gmail::parse_message_ids("<a@b>\r\n <c@d> (note) <e@f>") == Ids{"a@b", "c@d", "e@f"});
  CHECK(gmail::parse_message_ids("").empty());
  std::string many;
  for (int i = 0; i < 500; ++i) many += "<" + std::to_string(i) + "@b> ";
  const auto ids = gmail::parse_message_ids(many);
  REQUIRE(ids.size() == gmail::kMostReferences);
  CHECK(ids.front() == "0@b");
  CHECK(ids.back() == "499@b");
}

}  // namespace KRUXOS_TEST_FILE
