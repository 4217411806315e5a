// The three calls that a write makes into its adapter, each with how it ended. Internal to the executor.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/account/accounts.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/write/outcome.hpp"

namespace krux {

/// A write on its way to one account's adapter. Shared with the call, which may outlive everything else.
struct WriteCall {
  WriteRecord write;
  ActiveAccountPtr account;
  CallContextPtr context;
  std::optional<WriteRecord> subject;  ///< the write that `write` undoes or cleans up after
};

/// `done` runs once, on a worker or on the runner's watchdog, when the context has ended.
using RollbackPointDone = std::function<void(CallEnd end, std::string point_json)>;
using ExecuteDone = std::function<void(CallEnd end)>;
using LookDone = std::function<void(CallEnd end, EffectFound found)>;

/// Asks the adapter for a rollback point and has `keep` store it, which may wait for the store and throw krux::Error.
/// An adapter that cannot undo this operation gives an empty point.
void start_rollback_point(CallRunner& runner, WriteCall call, std::function<void(const std::string&)> keep,
                          RollbackPointDone done);
void start_execute(CallRunner& runner, WriteCall call, ExecuteDone done);
void start_reconcile(CallRunner& runner, WriteCall call, LookDone done);

}  // namespace krux
