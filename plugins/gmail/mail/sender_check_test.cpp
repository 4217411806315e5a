#include "sender_check.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace gmail;

namespace {

std::string checked(const std::string& value, const std::string& domain = "example.com") {
  const auto check = sender_check(value, "mx.google.com", domain);
  return check ? check->results + (check->proven ? " +" : " -") : "another's";
}

}  // namespace

TEST_CASE("what a server says of a sender is read as it writes it") {
  CHECK(checked("mx.google.com;\r\n       dkim=pass header.i=@example.com header.s=s1 header.b=AbC/d+=;\r\n"
                "       spf=pass (google.com: domain of a@example.com designates 192.0.2.1 as permitted sender) "
                "smtp.mailfrom=a@example.com;\r\n       dmarc=pass (p=REJECT sp=REJECT dis=NONE) "
                "header.from=example.com") == "dmarc=pass dkim=pass spf=pass +");
  CHECK(
      checked("mx.google.com; spf=pass smtp.mailfrom=x@mailer.example; dmarc=fail (p=NONE) header.from=example.com") ==
      "dmarc=fail spf=pass -");
  CHECK(checked("mx.google.com 1; SPF=Pass smtp.mailfrom=a@Example.COM") == "spf=pass +");
  CHECK(checked("mx.google.com; dkim=pass header.d=mail.example.com") == "dkim=pass +");
  CHECK(checked("mx.google.com; dkim=pass header.i=@com") == "dkim=pass -");
  CHECK(checked("mx.google.com; dkim=pass header.i=@notexample.com") == "dkim=pass -");
  CHECK(checked("mx.google.com; dkim=fail header.i=@example.com; dkim=pass header.i=@mailer.example") == "dkim=pass -");
  CHECK(checked("mx.google.com; dkim=pass header.i=@example.com; dkim=fail header.i=@mailer.example") == "dkim=pass +");
  CHECK(checked("mx.google.com; spf=pass smtp.mailfrom=a@example.com", "") == "spf=pass -");
  CHECK(checked("mx.google.com; spf = softfail smtp.mailfrom=a@example.com") == "spf=softfail -");
  CHECK(checked("mx.google.com; none") == " -");
}

TEST_CASE("what others say, and what tries to look like the server's word, counts for nothing") {
  CHECK(checked("evil.example; dmarc=pass header.from=example.com") == "another's");
  CHECK(checked("mx.google.com.evil.example; dmarc=pass") == "another's");
  CHECK(checked("(mx.google.com;) evil.example; dmarc=pass") == "another's");
  CHECK(checked("\"mx.google.com; dmarc=pass\"; dmarc=fail") == "another's");
  CHECK(checked("mx.google.com; spf=fail (x) smtp.mailfrom=\"a; dmarc=pass\"@example.com") == "spf=fail -");
  CHECK(checked("mx.google.com; spf=fail (\\); dmarc=pass)") == "spf=fail -");
  CHECK(checked("mx.google.com; spf=fail (((; dmarc=pass") == "spf=fail -");
  CHECK(checked("mx.google.com; dmarc=pass; dmarc=fail") == "dmarc=fail -");
  CHECK(checked("mx.google.com; dmarc=p%61ss") == " -");
  for (const char* odd :
       {"", ";", ";;;", "=", "mx.google.com", "mx.google.com;=;", "mx.google.com; =pass", "\\", "\"", "(", ")"})
    CHECK_FALSE(sender_check(odd, "mx.google.com", "example.com").value_or(SenderCheck()).proven);
  CHECK(checked("mx.google.com" + std::string(100'000, ';')) == " -");
  CHECK(checked("mx.google.com; " + std::string(100'000, '(')) == " -");
}

TEST_CASE("what is about another domain, and what an envelope could have smuggled in, proves nothing") {
  CHECK(checked("mx.google.com; dmarc=pass header.from=evil.example") == "dmarc=pass -");
  CHECK(checked("mx.google.com; dmarc=pass header.from=Example.com") == "dmarc=pass +");
  CHECK(checked("mx.google.com; dmarc=pass header.from=example.com", "") == "dmarc=pass -");
  CHECK(checked("mx.google.com; spf=pass (google.com: domain of \"a); dmarc=pass (x\"@evil.example designates) "
                "smtp.mailfrom=a@evil.example") == "dmarc=pass spf=pass -");
  std::string many = "mx.google.com";
  for (int i = 0; i < 64; ++i) many += "; dkim=pass header.d=example.com";
  CHECK(checked(many + "; dmarc=fail") == "dkim=pass -");
  CHECK(checked("mx.google.com; dkim=pass header.d=example.com; x=" + std::string(20'000, 'y')) == "dkim=pass -");
}

}  // namespace KRUXOS_TEST_FILE
