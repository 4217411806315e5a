// A mailbox of one account, with facts about what an agent writes.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/definition/definition_loader.hpp"
#include "core/facts/fact_book.hpp"
#include "core/replica/replica.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/durations.hpp"
#include "core/util/json.hpp"
#include "support/scratch.hpp"

namespace facts_test {

using namespace krux;

inline const char* const kMail = R"(schema: 1
service: mail
display_name: Mail
description: Mail.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://mail.example/
correspondence: {collection: messages, words: "\"{text}\"", proof: check, sent: SENT, without: [SPAM], to: [to, cc], from: from, address: "<{address}>"}
capabilities:
  - {name: mail.read, kind: read, tier: autonomous, purpose: R., when_to_use: R., target: "{id}",
     inputs: [{name: id, type: String, description: I., required: true}]}
  - {name: mail.send, kind: write, tier: autonomous, purpose: S., when_to_use: S., recipients: [to, cc],
     inputs: [{name: to, type: String, description: T.}, {name: cc, type: String, description: C.},
              {name: body, type: String, description: B.}]}
  - {name: mail.reply, kind: write, tier: autonomous, purpose: S., when_to_use: S., recipients: [to], target: "{id}",
     inputs: [{name: id, type: String, description: I., required: true}, {name: body, type: String, description: B.}]}
  - {name: mail.forward, kind: write, tier: autonomous, purpose: S., when_to_use: S., recipients: [to], target: "{id}",
     passes_on: {collection: messages, id: "{id}", texts: [text], blobs: [body]},
     inputs: [{name: id, type: String, description: I., required: true}, {name: to, type: String, description: T.},
              {name: body, type: String, description: B.}]}
  - {name: mail.drop, kind: write, tier: autonomous, purpose: S., when_to_use: S., target: "{id}",
     summary: "drop {mail}", summary_records: [{name: mail, collection: messages, id: "{id}", words: "{text}"}],
     inputs: [{name: id, type: String, description: I., required: true}]}
  - {name: mail.note, kind: write, tier: autonomous, purpose: S., when_to_use: S., recipients: [cc],
     inputs: [{name: to, type: String, description: T.}, {name: cc, type: String, description: C.},
              {name: body, type: String, description: B.}]}
)";

inline CollectionSpec messages() {
  CollectionSpec spec;
  spec.name = "messages";
  spec.searchable = true;
  spec.tags = true;
  spec.texts = {{"from", true}, {"to", true}, {"cc", true}};
  return spec;
}

struct Mailbox {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  AgentHistory history{store, clock};
  AccountDirectory accounts;
  std::shared_ptr<Replica> replica =
      std::make_shared<Replica>(scratch.path() / "replica.db", std::vector<CollectionSpec>{messages()}, clock);
  FactBook facts{history, accounts};
  int records = 0;
  std::string check;  ///< of what is put

  Mailbox() {
    ActiveAccount account;
    account.ref = {"mail", "nora@harbour.example", 1};
    account.definition = std::make_shared<const ServiceDefinition>(parse_definition(kMail, "mail.yaml"));
    account.replica = replica;
    accounts.publish(std::make_shared<const ActiveAccount>(std::move(account)));
  }
  void synced() { replica->finish_pass(true, clock.wall_ms()); }

  void put(const std::string& from, const std::vector<std::string>& to, const std::string& text,
           std::vector<std::string> tags, std::int64_t ago_ms) {
    Record record;
    record.collection = "messages";
    record.id = "m" + std::to_string(++records);
    record.json = "{\"text\":" + json_string(text) + ",\"to\":" + json_string(to.empty() ? "" : to.front()) +
                  (check.empty() ? "" : ",\"check\":\"" + check + "\"") + "}";
    record.text = text;
    record.order_ms = clock.wall_ms() - ago_ms;
    record.generation = 1;
    record.tags = std::move(tags);
    record.texts.emplace_back("from", "name<" + from + ">");
    for (const auto& one : to) record.texts.emplace_back("to", "name<" + one + ">");
    const auto session = replica->begin_session();
    REQUIRE(session->put(std::move(record)).empty());
    session->commit();
  }
  void sent(const std::string& to, const std::string& text = "hello") {
    put("nora@harbour.example", {to}, text, {"SENT"}, 100 * kHour);
  }
  void received(const std::string& from, std::int64_t ago_ms, const std::string& text = "hello",
                std::vector<std::string> tags = {"INBOX"}) {
    put(from, {"nora@harbour.example"}, text, std::move(tags), ago_ms);
  }

  FactAnswer ask(const std::string& fact, const std::string& params, const std::string& capability = "mail.send",
                 std::int64_t content_ms = 0, const std::string& account = "nora@harbour.example") {
    const auto definition = accounts.accounts().front()->definition;
    const auto document = parse_json(params, "params", {4 << 20, 32});
    return facts.ask(
        fact, {"bot", *definition->find(capability), document, clock.wall_ms(), {"a1", "mail", account, content_ms}});
  }
  Truth truth(const std::string& fact, const std::string& params, const std::string& capability = "mail.send") {
    return ask(fact, params, capability).truth;
  }
  void read(const std::string& id, const std::string& text) {
    const auto result = "{\"body\":\"" + text + "\"}";
    const ReadSource source{"mail", "nora@harbour.example", id.empty() ? "mail.search" : "mail.read", id};
    history.reads.note("a1", source, result);
    history.words.note("a1", source, result);
  }
};

}  // namespace facts_test
