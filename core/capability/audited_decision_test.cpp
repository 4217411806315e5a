#include "core/capability/audited_decision.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/audit/outbox.hpp"
#include "core/capability/handler_test_support.hpp"
#include "core/policy/rules/rule_book.hpp"

namespace KRUXOS_TEST_FILE {

using namespace handler_test;

namespace {

constexpr const char* kRules = R"(policy: 1
rules:
  - {name: ask about the board, capabilities: [notes.add], tier: approval_required, when: [{input: room, equals: board}]}
  - {name: long titles wait, capabilities: [notes.add], delay_seconds: 3600, when: [{input: title, min_bytes: 100}]}
)";

struct Ruled {
  support::Scratch policies;
  std::shared_ptr<const ServiceDefinition> definition =
      std::make_shared<const ServiceDefinition>(parse_definition(kDefinition, "notes.yaml"));
  RuleBook rules;
  std::unique_ptr<Host> host;

  explicit Ruled(const std::string& text = kRules) : rules(written(text), {{definition}, nullptr}) {
    HandlerOptions options;
    options.rules = &rules;
    host = std::make_unique<Host>(std::move(options));
    host->connect();
    host->executor.start();
  }
  std::filesystem::path written(const std::string& text) const {
    std::filesystem::create_directory(policies.path() / "rules");
    for (const auto& path : {policies.path(), policies.path() / "rules"}) ::chmod(path.c_str(), 0755);
    const auto file = policies.path() / "rules/system.yaml";
    std::ofstream(file) << text;
    ::chmod(file.c_str(), 0644);
    return policies.path();
  }
  std::string audited() {
    const auto entries = host->store.run([](SQLite::Database& db) {
      StatementCache sql(db.getHandle());
      return read_outbox(sql, 0, 1000);
    });
    return entries.empty() ? std::string() : entries.back().body;
  }
  JsonDocument decision() { return parse_json(to_json(parse_json(audited(), "body")["decision"]), "decision"); }
};

}  // namespace

TEST_CASE("the audit log names the rule that decided, with its file and line") {
  Ruled f;
  CHECK(type_of(f.host->call("notes.add", R"({"title":"t","room":"board"})")) == "ApprovalRequired");
  const auto decision = f.decision();
  CHECK(find_string(decision, "tier") == "approval_required");
  const auto& by = *find_member(decision, "decided_by");
  CHECK(find_string(by, "rule") == "ask about the board");
  CHECK(find_string(by, "layer") == "system");
  CHECK(find_string(by, "file")->ends_with("system.yaml"));
  CHECK(find_int(by, "line") == 3);
}

TEST_CASE("where no rule is stricter the audit log names the definition") {
  Ruled f;
  CHECK(text_of(f.host->call("notes.add", R"({"title":"t"})"), "status") == "buffered");
  const auto decision = f.decision();
  CHECK(to_json(*find_member(decision, "decided_by")) == R"({"definition":"1.0.0","capability":"notes.add"})");
  CHECK(find_member(decision, "delay_by") == nullptr);
  CHECK(text_of(f.host->call("notes.add", R"({"title":")" + std::string(150, 'x') + "\"}"), "status") == "buffered");
  CHECK(find_string(*find_member(f.decision(), "delay_by"), "rule") == "long titles wait");
}

TEST_CASE("the audit log keeps the inputs that a rule or a limit reads, and no others") {
  Ruled f;
  f.host->call("notes.add", R"({"title":"a title","room":"den"})");
  CHECK(to_json(*find_member(f.decision(), "looked_at")) == R"({"room":"den","title":"a title"})");
  const std::string secret(300, 's');
  f.host->call("notes.add", R"({"title":")" + secret + R"("})");
  CHECK(to_json(*find_member(f.decision(), "looked_at")) ==
        R"({"title":{"bytes":300,"sha256":")" + sha256_hex(secret) + "\"}}");
  CHECK(f.audited().find(secret) == std::string::npos);
  // Nothing looks at what this one takes.
  f.host->call("notes.mark", R"({"title":"nobody reads this"})");
  const auto body = f.audited();
  CHECK(body.find("nobody reads this") == std::string::npos);
  CHECK(body.find("looked_at") == std::string::npos);
}

TEST_CASE("of parameters the audit log keeps names, types and sizes") {
  const auto params = parse_json(R"({"a":"text","b":[1,2],"c":{"x":1},"d":7,"e":true,"f":null})", "params");
  CHECK(redacted_json(params) == R"({"a":{"type":"text","bytes":4},"b":{"type":"list","entries":2},)"
                                 R"("c":{"type":"object","members":1},"d":{"type":"number"},"e":{"type":"boolean"},)"
                                 R"("f":{"type":"null"}})");
}

}  // namespace KRUXOS_TEST_FILE
