// Decisions about many writes at once.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/util/error.hpp"
#include "core/write/ledger.hpp"
#include "host/operator/operator_api.hpp"

namespace krux {

template <class T>
using DecisionOutcome = std::variant<T, Error>;

/// What a callback of the WriteBuffer will bring.
template <class T, class Start>
std::future<DecisionOutcome<T>> begin_decision(Start start) {
  auto promise = std::make_shared<std::promise<DecisionOutcome<T>>>();
  auto future = promise->get_future();
  start([promise](DecisionOutcome<T> answer) { promise->set_value(std::move(answer)); });
  return future;
}

/// What is approved with a write, where the like of it is. Throws krux::Error.
using LikeOf = std::function<Ledger::Like(const std::string& write_id, const StandingTerms& terms)>;

/// One answer for each of `asked.writes`, in their order. They are begun in the order in which the writes were
/// admitted: what goes out in order is then released, and accepted, in that order.
std::vector<std::future<DecisionOutcome<WriteRecord>>> begin_decisions(Ledger& ledger, const AccountDirectory& accounts,
                                                                       const DecisionRequest& asked,
                                                                       const DecidingOperator& by,
                                                                       const LikeOf& like_of = {});

}  // namespace krux
