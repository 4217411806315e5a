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
  std::variant<BufferedWrite, Error> cancel(const std::string& id, const std::string& agent) {
    Answer<BufferedWrite> answer;
    ledger->cancel(id, agent, "agent:" + agent, answer.slot());
    return answer.wait();
  }
  std::variant<BufferedWrite, Error> record(const BufferedWrite& write, WriteEvent event,
                                            std::optional<std::int64_t> due = {}, bool look = false) {
    WriteReport report;
    report.of = look ? WriteReport::Of::kLook : WriteReport::Of::kAttempt;
    report.write_id = write.write_id;
    report.attempt = write.attempts;
    report.event = event;
    report.due_in_ms = due;
    report.result_json = R"({"id":"7"})";
    Answer<BufferedWrite> answer;
    ledger->record(report, answer.slot());
    return answer.wait();
  }
  std::variant<BufferedWrite, Error> resolve(const std::string& id, WriteEvent event,
                                             std::optional<WriteState> expected = {}) {
    Answer<BufferedWrite> answer;
    ledger->resolve(id, event, expected, "operator:ann", answer.slot());
    return answer.wait();
  }
  template <class T, class Start>
  static std::variant<T, Error> ask(Start start) {
    Answer<T> answer;
    start(answer.slot());
    return answer.wait();
  }
  std::variant<BufferedWrite, Error> edit(const BufferedWrite& write, NewContent content,
                                          const std::string& agent = {}) {
    return ask<BufferedWrite>([&](auto done) {
      ledger->edit(write.write_id, agent, write.content_hash, std::move(content),
                   agent.empty() ? "operator:ann" : "agent:" + agent, std::move(done));
    });
  }
  std::variant<BufferedWrite, Error> accept(const BufferedWrite& write) {
    return ask<BufferedWrite>(
        [&](auto done) { ledger->accept(write.write_id, write.content_hash, "operator:ann", std::move(done)); });
  }
  std::variant<BufferedWrite, Error> reject(const BufferedWrite& write, const std::string& reason = {}) {
    return ask<BufferedWrite>(
        [&](auto done) { ledger->reject(write.write_id, reason, "operator:ann", std::move(done)); });
  }
  std::variant<Submitted, Error> undo(const std::string& id, bool force = false, const std::string& agent = {}) {
    return ask<Submitted>([&](auto done) { ledger->undo(id, agent, force, "operator:ann", std::move(done)); });
  }
  std::vector<BufferedWrite> take(std::size_t limit = 10, std::vector<std::int64_t> busy = {}) {
    return ledger->take(accounts, {limit, limit}, std::move(busy));
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
