#include "core/facts/reach.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/definition/definition_loader.hpp"
#include "core/replica/replica.hpp"
#include "core/util/text.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

const char* const kMail = R"(schema: 1
service: mail
display_name: Mail
description: Mail.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://mail.example/
correspondence: {collection: messages, conversation: thread, sender: from.address, sent: SENT, to: [to], from: from, address: "<{address}>"}
capabilities:
  - {name: mail.send, kind: write, tier: autonomous, purpose: S., when_to_use: S., recipients: [to, cc],
     inputs: [{name: to, type: String, description: T.}, {name: cc, type: String, description: C.}]}
  - {name: mail.delete, kind: write, tier: autonomous, purpose: S., when_to_use: S., summary: "delete {mails}",
     summary_records: [{name: mails, collection: messages, id: "{ids}", words: "\"{subject}\""}],
     inputs: [{name: ids, type: Array, items: {type: String}, description: I.}]}
  - {name: mail.post, kind: write, tier: autonomous, purpose: S., when_to_use: S., summary: "{room}",
     summary_records: [{name: room, collection: messages, id: "{room}", words: "#{subject}", members: members}],
     inputs: [{name: room, type: String, description: R.}]}
)";

struct Mailbox {
  support::Scratch scratch;
  DrivenClock clock;
  std::shared_ptr<Replica> replica;
  ActiveAccount account;

  explicit Mailbox(const std::string& name = "nora@harbour.example") {
    CollectionSpec spec;
    spec.name = "messages";
    spec.searchable = true;
    spec.tags = true;
    spec.texts = {{"from", true}, {"to", true}};
    replica = std::make_shared<Replica>(scratch.path() / "replica.db", std::vector<CollectionSpec>{spec}, clock);
    account.ref = {"mail", name, 1};
    account.definition = std::make_shared<const ServiceDefinition>(parse_definition(kMail, "mail.yaml"));
    account.replica = replica;
  }
  void put(const std::string& id, const std::string& json, const std::string& to = {}) {
    Record record;
    record.collection = "messages";
    record.id = id;
    record.json = json;
    record.generation = 1;
    record.tags = {"SENT"};
    if (!to.empty()) record.texts.emplace_back("to", "name<" + to + ">");
    const auto session = replica->begin_session();
    const auto refused = session->put(std::move(record));
    session->commit();
    REQUIRE(refused.empty());
  }
  std::vector<std::string> reach(const std::string& capability, const std::string& params) {
    const auto document = parse_json(params, "params", {4 << 20, 32});
    return in_words(reach_of(account, *account.definition->find(capability), document), account);
  }
};

using Sentences = std::vector<std::string>;

}  // namespace

TEST_CASE("whom a write reaches, who is outside and who was never written to") {
  Mailbox mail;
  mail.put("m1", "{}", "tom@harbour.example");
  mail.put("m2", "{}", "ivo@partner.example");
  mail.replica->finish_pass(true, mail.clock.wall_ms());
  CHECK(mail.reach("mail.send",
                   R"({"to":"Tom <TOM@harbour.example>, nora@harbour.example","cc":"tom@harbour.example"})") ==
        Sentences{"It names 1 address, none outside harbour.example."});
  CHECK(mail.reach("mail.send", R"({"to":"ivo@partner.example, tom@harbour.example, eve@evil.example"})") ==
        Sentences{"It names 3 addresses, 2 outside harbour.example: eve@evil.example, ivo@partner.example.",
                  "Never written to before: eve@evil.example."});
  CHECK(mail.reach("mail.send", R"({"to":"a@x.example, b@x.example, c@x.example, d@x.example, e@x.example"})").back() ==
        "Never written to before: a@x.example, b@x.example, c@x.example and 2 more.");
  CHECK(mail.reach("mail.send", R"({"to":"t\u043em@harbour.example"})") ==
        Sentences{"It names 0 addresses and 1 that cannot be read as one."});
  CHECK(mail.reach("mail.send", R"({"to":"tom@harbour.example, t\u043em@harbour.example"})") ==
        Sentences{"It names 1 address and 1 that cannot be read as one."});
  CHECK(mail.reach("mail.send", "{}").empty());
}

TEST_CASE("what the copy cannot tell about people is said") {
  Mailbox filling;
  CHECK(filling.reach("mail.send", R"({"to":"eve@evil.example"})") ==
        Sentences{"It names 1 address, 1 outside harbour.example: eve@evil.example.",
                  "The copy cannot tell who of them was written to before."});
  Mailbox nameless("workspace 7");
  nameless.replica->finish_pass(true, nameless.clock.wall_ms());
  CHECK(nameless.reach("mail.send", R"({"to":"eve@evil.example"})") ==
        Sentences{"It names 1 address.", "Never written to before: eve@evil.example."});
  filling.account.replica = nullptr;
  CHECK(filling.reach("mail.send", R"({"to":"eve@evil.example"})").size() == 2);
}

TEST_CASE("which records a write is about, of how many conversations and people") {
  Mailbox mail;
  mail.put("a", R"({"subject":"Plans","thread":"t1","from":[{"address":"ada@x.example"}]})");
  mail.put("b", R"({"subject":"Re: Plans","thread":"t1","from":[{"address":"Bob@x.example"}]})");
  mail.put("c", R"({"subject":"Other\u202e","thread":"t2","from":[{"address":"bob@x.example"}]})");
  CHECK(mail.reach("mail.delete", R"({"ids":["a","b","c","a","gone"]})") ==
        Sentences{"It is about 4 messages of at least 2 conversations from at least 2 senders: \"Plans\" (a), \"Re: "
                  "Plans\" (b), " +
                      printable("\"Other\u202e\" (c)") + " and 1 more.",
                  "The copy does not have 1 of them."});
  // One record stands in the summary already.
  CHECK(mail.reach("mail.delete", R"({"ids":["a"]})").empty());
  CHECK(mail.reach("mail.delete", R"({"ids":[7,null,""]})").empty());
  CHECK(mail.reach("mail.delete", R"({"ids":["a","b","c"]})")
            .front()
            .starts_with("It is about 3 messages of 2 conversations from 2 senders: "));
  std::string many;
  for (int i = 0; i < 600; ++i) many += (i == 0 ? "\"r" : ",\"r") + std::to_string(i) + '"';
  const auto all = mail.reach("mail.delete", "{\"ids\":[" + many + "]}");
  REQUIRE(all.size() == 3);
  CHECK(all[1] == "The copy does not have 500 of them.");
  CHECK(all[2] == "The first 500 of them were looked at.");
}

TEST_CASE("how many people see what is put somewhere") {
  Mailbox mail;
  mail.put("r1", R"({"subject":"general","members":12})");
  mail.put("r2", R"({"subject":"unknown","members":0})");
  mail.put("r3", R"({"subject":"odd","members":"12"})");
  CHECK(mail.reach("mail.post", R"({"room":"r1"})") == Sentences{"#general (r1): 12 members."});
  for (const auto* room : {"r2", "r3", "gone"})
    CHECK(mail.reach("mail.post", std::string("{\"room\":\"") + room + "\"}").empty());
}

}  // namespace KRUXOS_TEST_FILE
