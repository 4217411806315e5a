// What the parts of CapabilityHandler share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "core/account/accounts.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/capability/call_audit.hpp"
#include "core/capability/call_meters.hpp"
#include "core/capability/capability_handler.hpp"
#include "core/capability/write_json.hpp"
#include "core/definition/input_check.hpp"
#include "core/write/write_buffer.hpp"

namespace krux {

struct HandlerContext {
  AccountDirectory& accounts;
  CallRunner& runner;
  WriteBuffer& writes;
  AgentRecords records;
  Clock& clock;
  const HandlerOptions options;
};
using HandlerContextPtr = std::shared_ptr<const HandlerContext>;

/// Whom a write reaches, as its service's definition has it now; see core/capability/write_json.hpp.
std::string recipients_of(const HandlerContext& context, const WriteRecord& write);

/// What an adapter has made of a call's arguments: one JSON object in canonical form (RFC 8785), as a text and parsed.
/// Limits and orders compare parts of it with what is stored.
struct ResolvedParams {
  JsonDocument params;
  std::string json;
};

/// Whose the words of an answer are: kOfOthers: other agents'.
enum class Words { kOfHost, kOfOthers };

/// One call that was checked and is under way. `definition` owns `capability`.
struct CheckedCall {
  Invocation invocation;
  std::shared_ptr<const ServiceDefinition> definition;
  const CapabilityDefinition* capability = nullptr;
  CheckedArguments arguments;
  ResolvedParams resolved;   ///< of a write, once its worker has asked the adapter
  SummaryNames names;        ///< the same, of what its summary calls by words
  ActiveAccountPtr account;  ///< null for the host's own capabilities
  MeteredCall metered;
  std::shared_ptr<CallAudit> audit;  ///< null: nobody is told
  std::function<void(InvocationResult)> done;

  void succeed(std::string data_json, Words words = Words::kOfHost) const {
    metered.ended({});
    tell_audit({});
    const bool of_others = account || words == Words::kOfOthers;
    const bool reads = of_others && capability && capability->kind == CapabilityKind::kRead;
    done({true,
          std::move(data_json),
          {},
          reads ? std::optional(capability->confidentiality) : std::nullopt,
          reads ? content_outputs(*capability) : std::vector<ContentOutput>()});
  }
  /// It ends with what it must know.
  void ask(Questions questions) const;
  void tell_audit(const ErrorType& type) const {
    if (audit) audit->ended(invocation, account ? &account->ref : nullptr, type);
  }
  void fail(const Error& error) const {
    metered.ended(error.type());
    tell_audit(error.type());
    done({false, {}, error_json(error, definition.get())});
  }
};
using CheckedCallPtr = std::shared_ptr<const CheckedCall>;

/// Under which names the caller is told a write's values, and as much of a result as it takes.
inline WriteNames names_for(const CheckedCall& call) {
  return call.invocation.for_model ? WriteNames::kOne : WriteNames::kAll;
}
std::string sized_for(const CheckedCall& call, std::string result_json);

/// Of the account's replica. Throws krux::Error; NotConnected when the account has none.
std::shared_ptr<ReplicaReader> reader_of(const ActiveAccount& account);
/// Of a read that may ask the service: it keeps what was fetched.
std::shared_ptr<ReplicaReader> fetching_reader_of(const ActiveAccount& account);

/// What an adapter has made of rows, and the reader that showed it them.
struct RowsAnswer {
  CallResult<std::string> answer;
  std::shared_ptr<ReplicaReader> reader;
};
/// `ask` with `lent`. While a collection is built in another version, its whole rows are those of the version before:
/// an adapter that cannot make anything of them is asked again with the rows that are there of its own version, unless
/// it may ask the service.
RowsAnswer answer_from_rows(const ActiveAccount& account, const CallContextPtr& on,
                            const std::shared_ptr<ReplicaReader>& lent,
                            const std::function<CallResult<std::string>(const std::shared_ptr<ReplicaReader>&)>& ask);

/// The session that the call is made in: the one that it names, else its agent's of the day.
std::string session_of(const HandlerContext& context, const CheckedCall& call);
/// What is answered where that has ended meanwhile. Whoever named none has another one by now, and is to call again.
Error session_ended(const CheckedCall& call);

using WorkAnswer = std::variant<std::string, Error>;

/// What is answered where that was thrown: an Error as it is, anything else as a failure of the host's.
Error error_of(const std::exception& problem);

/// Nobody waits for the call's answer any more.
Error given_up();

/// Runs `work` on a worker in the agent's turn (the operator's where there is none), with a deadline, and hands on what
/// it returns or throws; a call that is given up by then does not begin, and a read that runs is asked to end. For the
/// account of `call` when it has one (its adapter's health counts), else for the host.
void run_on_worker(const HandlerContextPtr& context, const CheckedCallPtr& call, std::int64_t timeout_ms,
                   std::function<std::string(const CallContextPtr&)> work, std::function<void(WorkAnswer)> then);

}  // namespace krux
