#include "core/definition/account_check.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;
using BaseUrl = AccountTerms::BaseUrl;

namespace {

ServiceDefinition definition(BaseUrl base_url = BaseUrl::kOptional, std::vector<std::string> hosts = {}) {
  ServiceDefinition d;
  d.display_name = "Notes";
  d.accounts.base_url = base_url;
  d.accounts.base_url_description = "The address of your site.";
  d.accounts.base_hosts = std::move(hosts);
  return d;
}

std::string why_not_at(const ServiceDefinition& d, const std::string& url) {
  return why_not_own(d, {url, {}});
}

}  // namespace

TEST_CASE("an account's address is held to what the definition allows") {
  using Catch::Contains;
  CHECK(why_not_at(definition(BaseUrl::kNo), "").empty());
  CHECK_THAT(why_not_at(definition(BaseUrl::kNo), "https://a.example/"), Contains("no address of their own"));
  CHECK(why_not_at(definition(), "").empty());
  CHECK_THAT(why_not_at(definition(BaseUrl::kRequired), ""),
             Contains("needs its own address, --base-url: The address"));
  CHECK(why_not_at(definition(), "https://anything.example:8443/api/").empty());
  CHECK(why_not_at(definition(), "http://127.0.0.1:80/").empty());
  for (const auto* url : {"http://a.example/", "https://a:b@a.example/", "ftp://a.example/", "a.example",
                          "https://a.example/?q=1", "https://a.example/x"}) {
    INFO(url);
    CHECK_FALSE(why_not_at(definition(), url).empty());
  }
  const auto listed = definition(BaseUrl::kOptional, {"*.notes.example", "one.test", "127.0.0.1"});
  for (const auto* url : {"https://a.notes.example/", "https://a.b.notes.example/api/", "https://A.Notes.Example/",
                          "https://one.test:443/", "http://127.0.0.1:9000/"}) {
    INFO(url);
    CHECK(why_not_at(listed, url).empty());
  }
  for (const auto* url : {"https://notes.example/", "https://evilnotes.example/", "https://one.test.evil.example/",
                          "https://two.test/", "https://one.test:8443/", "http://127.0.0.2/"}) {
    INFO(url);
    CHECK_FALSE(why_not_at(listed, url).empty());
  }
  CHECK(kept_base_url("https://a.example") == "https://a.example/");
  CHECK(kept_base_url("https://a.example/x/") == "https://a.example/x/");
  CHECK(kept_base_url("").empty());
}

TEST_CASE("settings are those of the definition") {
  using Catch::Contains;
  auto d = definition();
  d.accounts.settings = {{"user", "Your e-mail address.", true, {}}, {"region", "Where.", false, {"eu", "us"}}};
  d.auth.way = AuthDefinition::Way::kBasic;
  d.auth.user = "user";
  const auto why = [&](std::map<std::string, std::string> settings) {
    return why_not_own(d, {"", std::move(settings)});
  };
  CHECK(why({{"user", "amy@notes.example"}, {"region", "eu"}}).empty());
  CHECK_THAT(why({}), Contains("needs the setting user, --set user=...: Your e-mail address."));
  CHECK_THAT(why({{"user", "a"}, {"regoin", "eu"}}), Contains("no setting \"regoin\"") && Contains("region"));
  CHECK_THAT(why({{"user", "a"}, {"region", "mars"}}), Contains("is one of eu, us"));
  CHECK_THAT(why({{"user", "a:b"}}), Contains("no colon"));
  CHECK_THAT(why({{"user", ""}}), Contains("is empty"));
  CHECK_THAT(why({{"user", "a\nb"}}), Contains("one line"));
  CHECK_THAT(why({{"user", std::string(1001, 'a')}}), Contains("one line"));
  CHECK_THAT(why({{"user", "\xff"}}), Contains("one line"));
}

}  // namespace KRUXOS_TEST_FILE
