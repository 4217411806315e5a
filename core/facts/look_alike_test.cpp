#include "core/facts/look_alike.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace KRUXOS_TEST_FILE {

using krux::looks_like;

TEST_CASE("a domain that differs in a letter or two looks like another") {
  for (const char* domain : {"harb0ur.example", "harbor.example", "harbuor.example", "harbour.exampl",
                             "hharbour.example", "harb0r.example", "harbour.examplle"}) {
    CAPTURE(domain);
    CHECK(looks_like(domain, "harbour.example"));
    CHECK(looks_like("harbour.example", domain));
  }
  CHECK(looks_like("a.co", "b.co"));
}

TEST_CASE("other domains look like nothing else") {
  for (const char* domain : {"harbour.example", "mail.harbour.example", "example", "partner.example", "",
                             "h4rb0r.example", "harbour-office.example"}) {
    CAPTURE(domain);
    CHECK_FALSE(looks_like(domain, "harbour.example"));
  }
  CHECK_FALSE(looks_like("ab.co", "cd.co"));
  CHECK_FALSE(looks_like(std::string(300, 'a'), std::string(300, 'a') + "b"));
}

}  // namespace KRUXOS_TEST_FILE
