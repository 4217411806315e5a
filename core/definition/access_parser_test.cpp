#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Way = AuthDefinition::Way;
using BaseUrl = AccountTerms::BaseUrl;

namespace {

ServiceDefinition parsed(const std::string& sections, const std::string& inputs = "") {
  return parse_definition(R"(schema: 1
service: notes
display_name: Notes
description: Notes.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://notes.example/api/
)" + sections + R"(
capabilities:
  - {name: notes.search, kind: read, tier: autonomous, purpose: Search., when_to_use: Often., inputs: [)" +
                              inputs + "]}\n",
                          "notes.yaml");
}

const std::string kAccounts = R"(accounts:
  base_url: {description: The address of your site., required: true, hosts: ["*.notes.example", notes.test]}
  settings:
    - {name: user, description: Your e-mail address., required: true}
    - {name: region, description: Where., one_of: [eu, us]}
)";

}  // namespace

TEST_CASE("who says nothing of auth has Authorization: Bearer") {
  const auto auth = parsed("").auth;
  CHECK(auth.way == Way::kHeader);
  CHECK(auth.name == "Authorization");
  CHECK(auth.scheme == "Bearer");
  CHECK(parsed("").accounts.base_url == BaseUrl::kNo);
  CHECK(parsed("").safe_posts.empty());
}

TEST_CASE("auth names a header, a scheme, basic or a parameter") {
  CHECK(parsed("auth: {scheme: Bot}").auth.scheme == "Bot");
  const auto raw = parsed("auth: {header: Authorization}").auth;
  CHECK((raw.name == "Authorization" && raw.scheme.empty()));
  const auto named = parsed("auth: {header: X-Token, scheme: Key}").auth;
  CHECK((named.name == "X-Token" && named.scheme == "Key"));
  const auto basic = parsed("auth: {basic: {user: token}}").auth;
  CHECK((basic.way == Way::kBasic && basic.user.empty()));
  CHECK(parsed(kAccounts + "auth: {basic: {user: user}}").auth.user == "user");
  const auto query = parsed("auth: {query: api_key}").auth;
  CHECK((query.way == Way::kQuery && query.name == "api_key"));
}

TEST_CASE("an auth that cannot be is refused where it stands") {
  for (const auto& [section, why] : {
           std::pair{"auth: {}", "one way is expected"},
           {"auth: {query: key, scheme: Bot}", "one way is expected"},
           {"auth: {header: \"a b\"}", "is no name of a header"},
           {"auth: {header: Content-Length}", "has another use"},
           {"auth: {header: cookie}", "has another use"},
           {"auth: {header: Proxy-Authorization}", "has another use"},
           {"auth: {scheme: \"two words\"}", "is no word"},
           {"auth: {query: \"a=b\"}", "is no name of a query's parameter"},
           {"auth: {basic: {user: nobody}}", "is no required setting"},
           {"auth: {bearer: true}", "bearer"},
       }) {
    INFO(section);
    CHECK_THROWS_WITH(parsed(section), Catch::Contains(why) && Catch::Contains("notes.yaml:8:"));
  }
}

TEST_CASE("a service that needs no token is connected by the configuration, which may list its hosts") {
  const auto plain = parsed("auth: none\n");
  CHECK(plain.needs_no_token());
  CHECK(plain.hosts_from.empty());
  CHECK(parsed("auth: none\nhosts_from: allow_hosts\n").hosts_from == "allow_hosts");
  CHECK_FALSE(parsed("").needs_no_token());
  for (const auto& [sections, why] : {
           std::pair{"hosts_from: allow_hosts\n", "with \"auth: none\" alone"},
           {"auth: none\nhosts_from: Allow Hosts\n", "small letters"},
           {"auth: none\nconnect: {help: h}\n", "remove this section"},
           {"auth: none\naccounts: {settings: [{name: a, description: d}]}\n", "remove this section"},
           {"auth: nothing\n", "a map"},
       }) {
    INFO(sections);
    CHECK_THROWS_WITH(parsed(sections), Catch::Contains(why));
  }
}

TEST_CASE("accounts may have an address and settings of their own") {
  const auto terms = parsed(kAccounts).accounts;
  CHECK(terms.base_url == BaseUrl::kRequired);
  CHECK(terms.base_hosts == std::vector<std::string>{"*.notes.example", "notes.test"});
  REQUIRE(terms.settings.size() == 2);
  CHECK(terms.find("user")->required);
  CHECK(terms.find("region")->one_of.size() == 2);
  CHECK(parsed("accounts: {base_url: {description: Yours.}}").accounts.base_url == BaseUrl::kOptional);
  for (const auto& [section, why] : {
           std::pair{"accounts: {base_url: {description: d, hosts: []}}", "the list is empty"},
           {"accounts: {base_url: {description: d, hosts: [\"https://x\"]}}", "is not a host name"},
           {"accounts: {settings: [{name: token, description: d}]}", "which is no setting"},
           {"accounts: {settings: [{name: A, description: d}]}", "is no name for a setting"},
           {"accounts: {settings: [{name: a, description: d}, {name: a, description: d}]}", "stands here twice"},
       }) {
    INFO(section);
    CHECK_THROWS_WITH(parsed(section), Catch::Contains(why));
  }
}

TEST_CASE("http names the POSTs that only read") {
  const auto posts = parsed("http: {graphql: [graphql], safe_posts: [\"search/*\"]}").safe_posts;
  REQUIRE(posts.size() == 2);
  CHECK((posts[0].path == "graphql" && posts[0].graphql));
  CHECK((posts[1].path == "search/*" && !posts[1].graphql));
  for (const auto* path : {"/graphql", "\"a?b\"", "\"a b\""}) {
    INFO(path);
    CHECK_THROWS_WITH(parsed(std::string("http: {safe_posts: [") + path + "]}"), Catch::Contains("is no path"));
  }
}

TEST_CASE("inputs say what null and their entries are") {
  const auto input = parsed("",
                            "{name: a, type: Array, description: d, nullable: true, items: {type: String, "
                            "max_length: 9, one_of: [x]}}")
                         .capabilities[0]
                         .inputs[0];
  CHECK(input.nullable);
  REQUIRE(input.items.size() == 1);
  CHECK((input.items[0].type == InputType::kString && input.items[0].max_length == 9u));
  for (const auto& [given, why] : {
           std::pair{"{name: a, type: String, description: d, items: {type: String}}", "is only for type Array"},
           {"{name: a, type: Array, description: d, items: {type: Array}}", "cannot be an Array again"},
           {"{name: a, type: Array, description: d, items: {type: String, minimum: 1}}", "only for type Integer"},
           {"{name: a, type: Array, description: d, items: {}}", "type"},
           {"{name: a, type: String, description: d, instead_of: [b]}", "is no other input that may be left out"},
           {"{name: a, type: String, description: d, instead_of: [a]}", "is no other input that may be left out"},
           {"{name: a, type: Array, description: d, uploads: true, nullable: true}", "not cleared"},
           {"{name: a, type: Array, description: d, items: {type: String}, default: [1]}", "entry 1 must be a text"},
       }) {
    INFO(given);
    CHECK_THROWS_WITH(parsed("", given), Catch::Contains(why));
  }
}

}  // namespace KRUXOS_TEST_FILE
