// Names and addresses as they are searched: each found by its own words, and by nobody else's.
#include "searched_text.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace gmail;

namespace {

bool has(const std::string& person, const std::string& part) {
  return person.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a person is found by a part of the name in any case, and by the address") {
  const auto person = person_text("Amy LÉE", "Amy.Lee@Example.com");
  CHECK(has(person, name_text("my lé")));
  CHECK(has(person, address_text("lee@")));
  CHECK(has(person, address_text("amy.lee@example.com", Anchor::kWhole)));
  CHECK(has(person, address_text("@example.com", Anchor::kEnd)));
  CHECK(has(person, person_text("Lée", "amy.lee@example.com")));
  CHECK_FALSE(has(person, address_text("lee@example.com", Anchor::kWhole)));
  CHECK_FALSE(has(person, address_text("@example", Anchor::kEnd)));
}

TEST_CASE("nobody's name is an address") {
  const auto person = person_text("ceo@bank.com <ceo@bank.com>", "mallory@example.net");
  CHECK_FALSE(has(person, address_text("ceo@bank.com")));
  CHECK_FALSE(has(person, address_text("bank.com")));
  CHECK_FALSE(has(person, address_text("ceo@bank.com", Anchor::kWhole)));
  CHECK(has(person, name_text("ceo@bank.com")));
  CHECK_FALSE(has(person_text("Amy", "a@b.com"), name_text("@b.c")));
}

TEST_CASE("no character of a name or an address stands for one of the other's") {
  const auto person = person_text(
      "a\x01\x02"
      "b\x03"
      "c\x04",
      "x<y>z\x01@example.com");
  CHECK(has(person, name_text("abc")));
  CHECK_FALSE(has(person, name_text("a@")));
  CHECK_FALSE(has(person, address_text("y", Anchor::kEnd)));
  CHECK(has(person, address_text("x<y>z@example.com", Anchor::kWhole)));
}

TEST_CASE("the lack of some labels is a fact of its own") {
  CHECK(lacking("INBOX") == "/not-INBOX");
  CHECK(lacking("STARRED").empty());
}

TEST_CASE("folding takes case and normal form away") {
  CHECK(folded("ÄRGER Ｗｉｄｅ") == "ärger wide");
  CHECK(folded("A\xCC\x88") == folded("Ä"));
  CHECK(folded("Plain ASCII") == "plain ascii");
  CHECK(folded("\xFF\xFE") == "\xFF\xFE");
}

}  // namespace KRUXOS_TEST_FILE
