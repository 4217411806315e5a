#include "bench/ack_clients.hpp"

#include <fmt/format.h>

#include <string>
#include <variant>

namespace krux::bench {

NewWrite note(std::int64_t number) {
  static const std::string body(600, 'x');
  NewWrite w;
  w.agent_id = "agent_0192f0c1-0000-7000-8000-000000000000";
  w.account = {"notes", "N1", 1};
  w.operation = "notes.add";
  w.params_json = fmt::format(R"({{"n":{},"text":"{}"}})", number, body);
  w.summary = "a note";
  w.tier = "notify";
  w.definition_version = "1.0.0";
  w.when_absent = "ask";
  return w;
}

Ledger::CommitThread thread_of(std::size_t at_once) {
  return at_once == 1 ? Ledger::CommitThread::kCallers : Ledger::CommitThread::kWriters;
}

double AckClients::rate(int clients) {
  const auto before = acked_;
  const auto start = now_s();
  const auto thread = thread_of(static_cast<std::size_t>(clients));
  for (int c = 0; c < clients; ++c) submit(thread);
  for (int running = clients; running > 0;) {
    const int ready = wait_for_acks();
    acked_ += ready;
    const bool over = now_s() - start >= kRoundSeconds;
    for (int c = 0; c < ready; ++c) over ? static_cast<void>(--running) : submit(thread);
  }
  return static_cast<double>(acked_ - before) / (now_s() - start);
}

void AckClients::submit(Ledger::CommitThread thread) {
  const auto acked = [this](std::variant<Submitted, Error> answer) {
    const auto* submitted = std::get_if<Submitted>(&answer);
    if (!submitted || submitted->duplicate) wrong("a write was not accepted");
    const std::lock_guard lock(mutex_);
    if (ready_++ == 0) cv_.notify_one();
  };
  ledger_.submit(write_(++submitted_), acked, thread);
}

int AckClients::wait_for_acks() {
  std::unique_lock lock(mutex_);
  cv_.wait(lock, [this] { return ready_ > 0; });
  return std::exchange(ready_, 0);
}

}  // namespace krux::bench
