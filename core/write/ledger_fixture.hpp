// A ledger in a directory of its own, and what is done with it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/write/ledger.hpp"
#include "core/write/write_test_support.hpp"

namespace write_test {

struct LedgerFixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  std::unique_ptr<Ledger> ledger = std::make_unique<Ledger>(store, clock, "boot-1");
  const std::vector<AccountRef> accounts{kAccount};

  Submitted submit(NewWrite write) {
    Answer<Submitted> answer;
    ledger->submit(std::move(write), answer.slot());
    return answer.value();
  }
  Error refused(NewWrite write) {
    Answer<Submitted> answer;
    ledger->submit(std::move(write), answer.slot());
    return answer.error();
  }
  std::variant<WriteRecord, Error> cancel(const std::string& id, const std::string& agent) {
    Answer<WriteRecord> answer;
    ledger->cancel(id, agent, "agent:" + agent, answer.slot());
    return answer.wait();
  }
  std::variant<WriteRecord, Error> record(const WriteRecord& write, WriteEvent event,
                                          std::optional<std::int64_t> due = {}, bool look = false) {
    WriteReport report;
    report.of = look ? WriteReport::Of::kLook : WriteReport::Of::kAttempt;
    report.write_id = write.write_id;
    report.attempt = write.attempts;
    report.event = event;
    report.due_in_ms = due;
    report.result_json = R"({"id":"7"})";
    Answer<WriteRecord> answer;
    ledger->record(report, answer.slot());
    return answer.wait();
  }
  /// What a look at a held write has shown.
  std::variant<WriteRecord, Error> looked(const WriteRecord& write, const std::string& evidence) {
    WriteReport report;
    report.of = WriteReport::Of::kLook;
    report.write_id = write.write_id;
    report.attempt = write.attempts;
    report.event = WriteEvent::kCopyReconciled;
    report.evidence = evidence;
    if (evidence == "found") report.result_json = R"({"id":"found"})";
    Answer<WriteRecord> answer;
    ledger->record(report, answer.slot());
    return answer.wait();
  }
  std::variant<WriteRecord, Error> decide_copied(const WriteRecord& write, WriteEvent event,
                                                 const std::string& shown = {}) {
    Answer<WriteRecord> answer;
    ledger->decide_copied(write.write_id, event, shown, "operator:ann", answer.slot());
    return answer.wait();
  }
  std::variant<WriteRecord, Error> resolve(const std::string& id, WriteEvent event,
                                           std::optional<WriteState> expected = {}) {
    Answer<WriteRecord> answer;
    ledger->decide_outcome(id, event, expected, "operator:ann", answer.slot());
    return answer.wait();
  }
  template <class T, class Start>
  static std::variant<T, Error> ask(Start start) {
    Answer<T> answer;
    start(answer.slot());
    return answer.wait();
  }
  std::variant<WriteRecord, Error> edit(const WriteRecord& write, NewContent content, const std::string& agent = {}) {
    return ask<WriteRecord>([&](auto done) {
      ledger->edit(write.write_id, agent, write.content_hash, std::move(content),
                   agent.empty() ? "operator:ann" : "agent:" + agent, std::move(done));
    });
  }
  std::variant<WriteRecord, Error> accept(const WriteRecord& write) {
    return ask<WriteRecord>(
        [&](auto done) { ledger->accept(write.write_id, write.content_hash, "operator:ann", std::move(done)); });
  }
  std::variant<WriteRecord, Error> reject(const WriteRecord& write, const std::string& reason = {}) {
    return ask<WriteRecord>(
        [&](auto done) { ledger->reject(write.write_id, reason, "operator:ann", std::move(done)); });
  }
  std::variant<Submitted, Error> roll_back(const std::string& id, bool force = false, const std::string& agent = {}) {
    return ask<Submitted>([&](auto done) { ledger->roll_back(id, agent, force, "operator:ann", std::move(done)); });
  }
  std::vector<WriteRecord> take(std::size_t limit = 10, std::vector<std::int64_t> busy = {}) {
    return ledger->take(accounts, {limit, limit}, std::move(busy)).writes;
  }
  void restart(const std::string& boot = "boot-1") {
    ledger.reset();
    ledger = std::make_unique<Ledger>(store, clock, boot);
    ledger->recover(true, {}, {});
  }
};

inline NewWrite immediate(const std::string& text) {
  auto w = new_write(text);
  w.immediate = true;
  return w;
}

}  // namespace write_test
