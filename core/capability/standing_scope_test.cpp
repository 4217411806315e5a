// "Approve the like": which writes are like the one that a person saw.
#include "core/capability/standing_scope.hpp"

#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <fstream>
#include <optional>

#include "core/capability/handler_test_support.hpp"
#include "core/facts/fact_book.hpp"
#include "core/policy/rules/rule_book.hpp"
#include "core/state/agent_history.hpp"
#include "core/util/durations.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

const char* const kPosts = R"(schema: 1
service: notes
display_name: Notes
description: Notes.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://notes.example/
capabilities:
  - {name: notes.post, kind: write, tier: autonomous, purpose: Post., when_to_use: Often., delay: 30 s, target: "{room}",
     inputs: [{name: room, type: String, description: Room., required: true},
              {name: text, type: String, description: Text., required: true}]}
  - {name: notes.mail, kind: write, tier: approval_required, purpose: Mail., when_to_use: Often., delay: 30 s,
     recipients: [to],
     inputs: [{name: to, type: Array, description: To., required: true},
              {name: text, type: String, description: Text., required: true}]}
  - {name: notes.pay, kind: write, tier: approval_required, purpose: Pay., when_to_use: Often., delay: 30 s,
     recipients: [payee], recipients_are: texts,
     inputs: [{name: payee, type: String, description: A., required: true},
              {name: text, type: String, description: Text., required: true}]}
  - {name: notes.drop, kind: write, tier: approval_required, purpose: Drop., when_to_use: Never.}
)";

struct Fixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "reads.db", kLedgerKind};
  AgentHistory history{store, clock};
  AccountDirectory accounts;
  FactBook facts{history, accounts};
  const RuleSubjects subjects{{std::make_shared<const ServiceDefinition>(parse_definition(kPosts, "notes.yaml"))},
                              &facts};
  std::optional<RuleBook> book;
  std::optional<Host> host;

  explicit Fixture(const std::string& rules = "  []\n") {
    std::filesystem::create_directory(scratch.path() / "rules");
    for (const auto& path : {scratch.path(), scratch.path() / "rules"}) ::chmod(path.c_str(), 0755);
    write(rules);
    book.emplace(scratch.path(), subjects);
    for (const auto& problem : book->problems()) FAIL(problem.reason);
    HandlerOptions options;
    options.rules = &*book;
    host.emplace(options, CallRunner::Options{}, kPosts);
    host->connect();
    host->writes.ledger.ask_terms(host->handler.terms());
  }
  void write(const std::string& rules) const {
    const auto file = scratch.path() / "rules/system.yaml";
    std::ofstream(file) << "policy: 1\nrules:\n" << rules;
    ::chmod(file.c_str(), 0644);
  }
  void put_in_force(const std::string& rules) {
    write(rules);
    book->reload(subjects);
  }

  WriteRecord newest() {
    WriteFilter filter;
    filter.limit = 1;
    return host->writes.ledger.list(filter).at(0);
  }
  WriteState post(const std::string& room, const std::string& text) {
    host->call("notes.post", R"({"room":")" + room + R"(","text":")" + text + "\"}");
    return newest().state;
  }
  WriteState mail(const std::string& to, const std::string& text) {
    host->call("notes.mail", R"({"to":)" + to + R"(,"text":")" + text + "\"}");
    return newest().state;
  }
  std::string why_not(const WriteRecord& write) {
    const auto scope = host->handler.standing_scope(write);
    const auto* why = std::get_if<std::string>(&scope);
    return why ? *why : "";
  }
  void accept_the_like() {
    const auto write = newest();
    const auto scope = host->handler.standing_scope(write);
    INFO(why_not(write));
    REQUIRE(std::holds_alternative<StandingScope>(scope));
    std::promise<bool> done;
    host->writes.ledger.accept(
        write.write_id, write.content_hash, "operator:ann",
        [&](const std::variant<WriteRecord, Error>& answer) { done.set_value(answer.index() == 0); },
        Ledger::Like{std::get<StandingScope>(scope), {kHour, 5}});
    REQUIRE(done.get_future().get());
  }
};

constexpr auto kAsked = WriteState::kPendingApproval, kGoes = WriteState::kBuffered;

const std::string kAsk = "  - {name: posts, capabilities: [notes.post], tier: approval_required}\n";

}  // namespace

TEST_CASE("the like of a payment is another one to the same account, to the letter") {
  Fixture f;
  const auto pay = [&](const std::string& account, const std::string& text) {
    f.host->call("notes.pay", R"({"payee":")" + account + R"(","text":")" + text + "\"}");
    return f.newest().state;
  };
  REQUIRE(pay("CH93", "first") == kAsked);
  f.accept_the_like();
  CHECK(pay("CH93", "second") == kGoes);
  CHECK(pay("CH 93", "third") == kAsked);
  CHECK(pay("GB29", "fourth") == kAsked);
}

TEST_CASE("the like of a post is another one to the same room, whatever it says") {
  Fixture f(kAsk);
  REQUIRE(f.post("board", "first") == kAsked);
  f.accept_the_like();
  CHECK(f.post("board", "second") == kGoes);
  CHECK(f.post("lobby", "second") == kAsked);
  f.host->clock.advance(kHour);
  CHECK(f.post("board", "third") == kAsked);
}

TEST_CASE("the like of a mail goes to the same people or fewer, however they are written") {
  Fixture f;
  REQUIRE(f.mail(R"(["amy@x.example","Bob <BOB@x.example>"])", "first") == kAsked);
  f.accept_the_like();
  CHECK(f.mail(R"(["bob@X.example"])", "second") == kGoes);
  CHECK(f.mail(R"(["bob@x.example","eve@x.example"])", "third") == kAsked);
  CHECK(f.mail(R"(["bob@x.example, eve@x.example"])", "fourth") == kAsked);
  CHECK(f.mail(R"(["\"a b\"@x.example"])", "fifth") == kAsked);
  CHECK_THAT(f.why_not(f.newest()), Catch::Contains("more than one way"));
}

TEST_CASE("what another rule asks about too is asked") {
  Fixture f(kAsk);
  REQUIRE(f.post("board", "first") == kAsked);
  f.accept_the_like();
  f.put_in_force(kAsk +
                 "  - {name: long, capabilities: [notes.post], tier: approval_required, when: [{input: text, "
                 "min_bytes: 20}]}\n");
  CHECK(f.post("board", "second") == kGoes);
  CHECK(f.post("board", "this one is a good deal longer") == kAsked);
}

TEST_CASE("what is asked about because of what it says has no like") {
  Fixture f(
      "  - {name: secrets, capabilities: [notes.post], tier: approval_required, when: [{fact: carries_secret}]}\n");
  REQUIRE(f.post("board", "password: hunter2hunter2") == kAsked);
  CHECK_THAT(f.why_not(f.newest()), Catch::Contains("\"secrets\" looks at what each write says"));
}

TEST_CASE("what reaches nobody that is known has no like") {
  Fixture f;
  f.host->call("notes.drop", "{}");
  REQUIRE(f.newest().state == kAsked);
  CHECK_THAT(f.why_not(f.newest()), Catch::Contains("not known whom it reaches"));
}

TEST_CASE("the write of another agent is asked about") {
  Fixture f(kAsk);
  REQUIRE(f.post("board", "first") == kAsked);
  f.accept_the_like();
  f.host->call("notes.post", R"({"room":"board","text":"mine"})", "agent_2");
  CHECK(f.newest().state == kAsked);
}

TEST_CASE("what several people must accept has no like, and what was approved before does not answer for it") {
  Fixture f(kAsk);
  REQUIRE(f.post("board", "first") == kAsked);
  f.accept_the_like();
  CHECK(f.post("board", "second") == kGoes);
  f.put_in_force(kAsk + "  - {name: two, capabilities: [notes.post], tier: approval_required, approvals: 2}\n");
  CHECK(f.post("board", "third") == kAsked);
  CHECK_THAT(f.why_not(f.newest()), Catch::Contains("each looks at every"));
  CHECK(f.newest().approvals_needed == 2);
}

}  // namespace KRUXOS_TEST_FILE
