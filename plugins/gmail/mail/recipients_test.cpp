#include "recipients.hpp"

#include <kruxos/adapter/error.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

namespace {

using gmail::parse_recipients;
using Addresses = std::vector<gmail::MailAddress>;

std::string refusal(std::string_view text) {
  try {
    parse_recipients("to", text);
    return "taken";
  } catch (const kruxos::ProxyError& error) {
    CHECK(error.kind() == kruxos::ErrorKind::kInvalid);
    CHECK(error.type() == "InvalidInput");
    CHECK(error.has_no_effect());
    return error.what();
  }
}

}  // namespace

TEST_CASE("recipients are read as they are usually written") {
  CHECK(parse_recipients("to", "amy@example.com") == Addresses{{"", "amy@example.com"}});
  CHECK(parse_recipients("to", " Amy Lee <amy@example.com> , \"Lee, David\" <d.lee+x@example.co.uk>,") ==
        Addresses{{"Amy Lee", "amy@example.com"}, {"Lee, David", "d.lee+x@example.co.uk"}});
  CHECK(parse_recipients("to", "\"A \\\"B\\\" <c>\" <a@example.com>") == Addresses{{"A \"B\" <c>", "a@example.com"}});
  CHECK(parse_recipients("to", "Jürgen <j@example.com>") == Addresses{{"Jürgen", "j@example.com"}});
  CHECK(parse_recipients("to", "a@exämple.com") == Addresses{{"", "a@xn--exmple-cua.com"}});
  CHECK(parse_recipients("to", "<amy@example.com>") == Addresses{{"", "amy@example.com"}});
  CHECK(parse_recipients("to", "").empty());
  CHECK(parse_recipients("to", " , ").empty());
}

TEST_CASE("what is no address is refused with the address") {
  for (const auto* text : {"amy",
                           "amy@",
                           "@example.com",
                           "amy@example",
                           "amy@localhost",
                           "a b@example.com",
                           "a@b@example.com",
                           "amy@[10.0.0.1]",
                           "amy@exa mple.com",
                           "amy@-a.example",
                           "amy@a-.example",
                           "amy@a..example",
                           "amy@.example",
                           "amy@example.com.",
                           ".a@example.com",
                           "a.@example.com",
                           "a..b@example.com",
                           "\"a b\"@example.com",
                           "jürgen@example.com",
                           "=?utf-8?B?x?=@b.example",
                           "amy@example.com bob@example.com",
                           "Amy amy@example.com",
                           "a@b.example <c@d.example>",
                           "<amy@example.com> x",
                           "\"Amy\" Lee\" <a@example.com>"}) {
    CAPTURE(text);
    CHECK(refusal(text).find("is no mail address") + refusal(text).find("is not closed") != 2 * std::string::npos);
    CHECK(refusal(text) != "taken");
  }
  CHECK(refusal("a@example.com, nobody").find("\"nobody\" in \"to\" is no mail address") == 0);
}

TEST_CASE("lists that are no lists of mailboxes are refused") {
  CHECK(refusal("friends: a@example.com, b@example.com;").find("groups of addresses are not taken") !=
        std::string::npos);
  CHECK(refusal("a@example.com; b@example.com").find("separated by commas") != std::string::npos);
  CHECK(refusal("a@example.com (Amy)").find("comments") != std::string::npos);
  CHECK(refusal("\"Amy <a@example.com>").find("not closed") != std::string::npos);
  CHECK(refusal("Amy <a@example.com").find("not closed") != std::string::npos);
  CHECK(refusal("<<a@example.com>>").find("within another") != std::string::npos);
}

TEST_CASE("no header can be smuggled in through an address") {
  for (const auto& text : {std::string("a@example.com\r\nBcc: e@example.com"), std::string("a@example.com\n"),
                           std::string("Amy\r <a@example.com>"), std::string("a\0@example.com", 14)}) {
    CAPTURE(text);
    CHECK(refusal(text) != "taken");
  }
  CHECK(refusal("a@example.com\r\nBcc: e@example.com").find("line break") != std::string::npos);
  CHECK(refusal(std::string_view("a\0@example.com", 14)).find("control character") != std::string::npos);
  CHECK(refusal("\xff <a@example.com>").find("not valid UTF-8") != std::string::npos);
  CHECK(refusal(std::string(40'000, 'a')).find("longer than") != std::string::npos);
  CHECK(refusal(std::string(70, 'a') + "@example.com") != "taken");
  CHECK(refusal(std::string(300, 'a') + " <a@example.com>") != "taken");
  CHECK(refusal("a@" + std::string(64, 'a') + ".example") != "taken");
}

TEST_CASE("an encoded domain stands for a name, and for nothing else") {
  for (const auto* label :
       {"xn--borgadaexample-l62m4964y2ja", "xn--borgvictimevil-l62m4964y5ja", "xn--borgxevil-5j3hu355q0ba",
        "xn--borgx-7t3dj458kja", "xn--bevil-7t3d", "xn--bevil-0ha", "xn--bevil-5a", "xn--bevil-ky3b", "xn--bevil-lz3b",
        "xn--a", "xn--", "xn--abc-", "xn--i-7iq", "xn--999999999"}) {
    CAPTURE(label);
    std::string big(label);
    for (char& c : big) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    for (const auto& one : {std::string(label), big}) {
      CHECK(refusal("a@" + one + ".com").find("is no mail address") != std::string::npos);
      CHECK(refusal("Amy <a@mail." + one + ".com>").find("is no mail address") != std::string::npos);
      CHECK_FALSE(gmail::is_address("a@" + one + ".com"));
    }
  }
  CHECK(refusal("a@💩.la") != "taken");
  for (const auto* domain : {"xn--mnchen-3ya.de", "mail.xn--mnchen-3ya.de", "xn--fuball-cta.de", "xn--wgv71a119e.jp",
                             "xn--e1afmkfd.xn--p1ai", "xn--mgbh0fb.xn--kgbechtv"}) {
    CAPTURE(domain);
    CHECK(parse_recipients("to", "a@" + std::string(domain)) == Addresses{{"", "a@" + std::string(domain)}});
  }
  CHECK(parse_recipients("to", "a@münchen.de") == Addresses{{"", "a@xn--mnchen-3ya.de"}});
  CHECK(parse_recipients("to", "a@日本語.jp") == Addresses{{"", "a@xn--wgv71a119e.jp"}});
}

TEST_CASE("nobody gets a mail twice, and not everybody gets one") {
  Addresses to{{"", "a@example.com"}, {"", "A@EXAMPLE.com"}, {"", "b@example.com"}}, cc{{"", "b@example.com"}},
      bcc{{"", "c@example.com"}, {"", "a@example.com"}};
  gmail::settle_recipients(to, cc, bcc);
  CHECK(to.size() == 2);
  CHECK(cc.empty());
  CHECK(bcc == Addresses{{"", "c@example.com"}});
  Addresses none;
  CHECK_THROWS_AS(gmail::settle_recipients(none, none, none), kruxos::ProxyError);
  Addresses many;
  for (int i = 0; i < 100; ++i) many.push_back({"", std::to_string(i) + "@example.com"});
  Addresses one{{"", "0@example.com"}};
  gmail::settle_recipients(many, one, none);
  CHECK(many.size() == 100);
  one = {{"", "new@example.com"}};
  CHECK_THROWS_WITH(gmail::settle_recipients(many, one, none), "The mail has 101 recipients; at most 100 are taken.");
}

}  // namespace KRUXOS_TEST_FILE
