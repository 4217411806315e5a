#include "core/bundle/terms.hpp"

#include <catch2/catch.hpp>

#include "core/bundle/bundle_fixture.hpp"
#include "core/definition/definition_loader.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

BundleTerms terms(const std::string& definition, const std::string& version = "1.2.0",
                  const std::vector<std::string>& hosts = {"api.mock.example"}) {
  return terms_of(parse_definition(definition, "mock.yaml"), version, hosts);
}

/// Each change as "! words" or "- words".
std::vector<std::string> changes(const BundleTerms& before, const BundleTerms& now) {
  std::vector<std::string> all;
  for (const auto& change : changes_between(before, now)) all.push_back((change.looser ? "! " : "- ") + change.words);
  return all;
}

std::vector<std::string> changes(const std::string& find, const std::string& with) {
  return changes(terms(test::kMockDefinition), terms(test::replaced(test::kMockDefinition, find, with)));
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("terms are what the definition asks for") {
  const auto t = terms(test::kMockDefinition);
  CHECK(t.service == "mock");
  CHECK(t.scopes == Words{"items"});
  REQUIRE(t.capabilities.size() == 5);
  CHECK(t.capabilities[1].delay_ms == 30'000);
  CHECK(t.capabilities[2].delay_ms == 0);
  CHECK_FALSE(t.capabilities[3].delay_ms);
  CHECK(limit_in_words(t.limits[1]) == "mock.add: 10 within 1 h, for each room");
  CHECK(changes(t, t).empty());
}

TEST_CASE("what is looser than before is marked, and stands first") {
  CHECK(changes("tier: notify", "tier: autonomous") == Words{"! mock.add: the tier is autonomous instead of notify"});
  CHECK(changes("tier: notify", "tier: blocked") == Words{"- mock.add: the tier is blocked instead of notify"});
  CHECK(changes("delay: 30 s", "delay: 29 s") == Words{"! mock.add: the delay is 29 s instead of 30 s"});
  CHECK(changes("delay: 30 s", "delay: 5 min") == Words{"- mock.add: the delay is 5 min instead of 30 s"});
  CHECK(changes("delay: 30 s", "delay: immediate") == Words{"! mock.add: the delay is at once instead of 30 s"});
  CHECK(changes("delay: 30 s, ", "") == Words{"! mock.add: the delay is the host's default instead of 30 s"});
  CHECK(changes("undoable: true", "undoable: false") == Words{"! mock.add: it can no longer be undone"});
  CHECK(changes("kind: read, tier: autonomous", "kind: read, fetches: true, tier: autonomous") ==
        Words{"! mock.find: it calls its service to answer"});
  CHECK(changes("kind: read, tier: autonomous", "kind: read, asks: [form, url], tier: autonomous") ==
        Words{"! mock.find: what it asks of whoever calls it is form, url instead of nothing"});
  CHECK(changes("scopes: [items]", "scopes: [all]") ==
        Words{"! asks for another scope of the token: all", "- no longer asks for the scope items"});
  CHECK(changes("connect:", "on_exceed: reject\nconnect:") ==
        Words{"- what exceeds a limit is refused instead of waiting for you"});
}

TEST_CASE("hosts, addresses and versions that change are told") {
  const auto now = terms(test::replaced(test::kMockDefinition, "https://api.mock.example/", "https://b.example/"),
                         "1.10.0", {"b.example"});
  CHECK(changes(terms(test::kMockDefinition), now) ==
        Words{"! speaks to another host: b.example",
              "! its service is at https://b.example/ instead of https://api.mock.example/",
              "- version 1.10.0 instead of 1.2.0", "- no longer speaks to api.mock.example"});
  CHECK(changes(terms(test::kMockDefinition, "1.10.0"), terms(test::kMockDefinition, "1.9.9")) ==
        Words{"! version 1.9.9 instead of 1.10.0, which is newer"});
}

TEST_CASE("capabilities that come and go are told") {
  const auto more = test::replaced(test::kMockDefinition, "  - {name: mock.drop",
                                   "  - {name: mock.wipe, kind: write, tier: notify, purpose: a, when_to_use: b}\n"
                                   "  - {name: mock.drop");
  CHECK(changes(terms(test::kMockDefinition), terms(more)) == Words{"! mock.wipe is new: write, notify"});
  CHECK(changes(terms(more), terms(test::kMockDefinition)) == Words{"- mock.wipe is removed"});
  CHECK(changes("kind: read, tier: autonomous", "kind: write, tier: autonomous").front() ==
        "! mock.find: its kind is write instead of read");
}

TEST_CASE("a limit counts as gone unless another one holds at least as much back") {
  const std::string joint = "{operations: [mock.add, mock.edit], limit: 30, window: 1 h}";
  const auto looser = [&](const std::string& with) {
    const auto all = changes(joint, with);
    return std::find(all.begin(), all.end(), "! this limit is gone or looser: mock.add, mock.edit: 30 within 1 h") !=
           all.end();
  };
  CHECK(looser("{operations: [mock.add, mock.edit], limit: 31, window: 1 h}"));
  CHECK(looser("{operations: [mock.add, mock.edit], limit: 30, window: 30 min}"));
  CHECK(looser("{operations: [mock.add], limit: 30, window: 1 h}"));
  CHECK(looser("{operations: [mock.add, mock.edit], limit: 1, window: 1 min}"));
  CHECK_FALSE(looser("{operations: [mock.add, mock.edit], limit: 29, window: 1 h}"));
  CHECK_FALSE(looser("{operations: [mock.add, mock.edit], limit: 30, window: 1 d}"));
  CHECK_FALSE(looser("{operations: [mock.add, mock.edit, mock.drop], limit: 30, window: 1 h}"));
  CHECK_FALSE(looser("{operations: [mock.add, mock.edit], limit: 15, window: 30 min}"));
  // One for each room says nothing about all of them.
  CHECK(changes("{operations: [mock.add], limit: 10, window: 1 h, per: room}",
                "{operations: [mock.add], limit: 10, window: 1 h}") ==
        Words{"- this limit is new or tighter: mock.add: 10 within 1 h"});
  CHECK(changes("  - {operations: [mock.add], limit: 10, window: 1 h, per: room}\n", "") ==
        Words{"! this limit is gone or looser: mock.add: 10 within 1 h, for each room"});
}

TEST_CASE("how the token travels, where accounts lie and which POSTs only read are terms") {
  const auto before = terms(test::kMockDefinition);
  CHECK(before.auth == "Authorization: Bearer TOKEN");
  CHECK(before.own_address.empty());
  const auto now = terms(std::string(test::kMockDefinition) + R"(
auth: {query: key}
accounts: {base_url: {description: Yours.}, settings: [{name: region, description: Where.}]}
http: {graphql: [graphql], safe_posts: [search]}
)");
  CHECK(changes(before, now) == Words{"! the token stands in the query's parameter key instead of Authorization: "
                                      "Bearer TOKEN",
                                      "! an account's own address lies at any host that you name instead of none",
                                      "! may send this as one that only reads: POST graphql (GraphQL queries)",
                                      "! may send this as one that only reads: POST search",
                                      "- its accounts have another setting: region"});
  const auto basic = std::string(test::kMockDefinition) + "\nauth: {basic: {user: token}}\n";
  CHECK(terms(basic).auth == "Authorization: Basic TOKEN");
}

TEST_CASE("hosts that the configuration lists are a term") {
  auto definition = parse_definition(test::kMockDefinition, "mock.yaml");
  const auto before = terms_of(definition, "1.2.0", {});
  definition.hosts_from = "allow_hosts";
  const auto now = terms_of(definition, "1.2.0", {});
  CHECK(now.hosts_from == "services.mock.adapter.allow_hosts");
  CHECK(changes(before, now) == Words{"! further hosts are those that the configuration lists under "
                                      "services.mock.adapter.allow_hosts instead of none"});
  CHECK(changes(now, before) == Words{"- further hosts are those that the configuration lists under none instead of "
                                      "services.mock.adapter.allow_hosts"});
}

}  // namespace KRUXOS_TEST_FILE
