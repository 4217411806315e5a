// What the parts of CapabilityHandler share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "core/adapter/call_runner.hpp"
#include "core/capability/capability_handler.hpp"
#include "core/capability/input_check.hpp"
#include "core/metrics/call_meters.hpp"
#include "core/service/accounts.hpp"
#include "core/write/write_buffer.hpp"

namespace krux {

struct HandlerContext {
  AccountDirectory& accounts;
  CallRunner& runner;
  WriteBuffer& writes;
  Clock& clock;
  const HandlerOptions options;
};
using HandlerContextPtr = std::shared_ptr<const HandlerContext>;

/// One call that was checked and is under way. `definition` owns `capability`.
struct CheckedCall {
  Invocation invocation;
  std::shared_ptr<const ServiceDefinition> definition;
  const CapabilityDefinition* capability = nullptr;
  CheckedArguments arguments;
  ActiveAccountPtr account;  ///< null for the host's own capabilities
  MeteredCall metered;
  std::function<void(InvocationResult)> done;

  void succeed(std::string data_json) const {
    metered.ended("");
    done({true, std::move(data_json), {}});
  }
  void fail(const Error& error) const {
    metered.ended(error.type());
    done({false, {}, error_json(error, definition.get())});
  }
};
using CheckedCallPtr = std::shared_ptr<const CheckedCall>;

/// Of the account's replica. Throws krux::Error; NotConnected when the account has none.
std::shared_ptr<ReplicaReader> reader_of(const ActiveAccount& account);
/// Of a read that may ask the service: it keeps what was fetched.
std::shared_ptr<ReplicaReader> fetching_reader_of(const ActiveAccount& account);

using Answer = std::variant<std::string, Error>;

/// Runs `work` on a worker, with a deadline, and hands on what it returns or throws. For the account of `call` when it
/// has one (its adapter's health counts), else for the host.
void run_on_worker(const HandlerContextPtr& context, const CheckedCallPtr& call, std::int64_t timeout_ms,
                   std::function<std::string(const CallContextPtr&)> work, std::function<void(Answer)> then);

}  // namespace krux
