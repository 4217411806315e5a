// How the ledger's operations become durable. Internal to the ledger.
#pragma once

#include <chrono>
#include <future>

#include "core/util/fault_point.hpp"
#include "core/write/ledger.hpp"

namespace krux {

/// What an operation threw, as an error for agents and operators.
Error error_of(const std::exception_ptr& exception);

template <class T>
GroupCommit::Item Ledger::item(Points points, std::function<T(StatementCache&)> operation, Done<T> done) {
  const auto result = std::make_shared<std::optional<T>>();
  return {[this, result, points, operation = std::move(operation)](SQLite::Database& db) {
            result->emplace(operation(statements(db)));
            KRUX_FAULT_POINT(points.before);
          },
          [result, points, done = std::move(done)](const std::exception_ptr& error) {
            if (error) return done(error_of(error));
            KRUX_FAULT_POINT(points.after);
            done(std::move(**result));
          },
          points.outlasts};
}

template <class T>
void Ledger::commit(Points points, std::function<T(StatementCache&)> operation, Done<T> done, CommitThread thread) {
  auto one = item<T>(points, std::move(operation), std::move(done));
  store_.post(std::move(one.operation), std::move(one.done), one.outlasts, thread);
}

/// `operation` and `announce` own what they need: they may run when nobody waits any more.
template <class T>
T Ledger::commit_and_wait(Points points, std::function<T(StatementCache&)> operation,
                          std::function<void(const T&)> announce, std::vector<GroupCommit::Item> before) {
  const auto promise = std::make_shared<std::promise<std::variant<T, Error>>>();
  auto outcome = promise->get_future();
  before.push_back(
      item<T>(points, std::move(operation), [promise, announce = std::move(announce)](std::variant<T, Error> answer) {
        if (const auto* value = std::get_if<T>(&answer); value && announce) announce(*value);
        promise->set_value(std::move(answer));
      }));
  store_.post(std::move(before), CommitThread::kCallers);
  while (outcome.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    if (waits_end_) throw database_error("The host stops before its store could commit.");
  }
  auto answer = outcome.get();
  if (const auto* error = std::get_if<Error>(&answer)) throw *error;
  return std::get<T>(std::move(answer));
}

}  // namespace krux
