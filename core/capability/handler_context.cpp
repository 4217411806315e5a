#include "core/capability/handler_context.hpp"

#include <fmt/format.h>

#include "core/capability/errors.hpp"
#include "core/replica/sync_store.hpp"

namespace krux {
namespace {

Error unexpected(const std::string& what) {
  return {"ServiceUnavailable", fmt::format("The host failed unexpectedly: {}. Tell the operator.", what), true,
          60'000};
}

Answer answer_of(const std::function<std::string(const CallContextPtr&)>& work, const CallContextPtr& call) {
  try {
    return work(call);
  } catch (const Error& e) {
    return e;
  } catch (const std::exception& e) {
    return unexpected(e.what());
  }
}

/// The call was given up, or never began.
Error abandoned(const CallContextPtr& call, const std::string& service) {
  if (const auto failure = call->failure()) return to_error(*failure, service);
  return to_error(CallFailure{KRUX_TIMEOUT, true, "", "", std::nullopt}, service);
}

SyncStore& replica_of(const ActiveAccount& account) {
  if (!account.replica)
    throw not_connected(fmt::format("{} has no replica yet; try again when it is connected.", account.ref.service));
  return *account.replica;
}

}  // namespace

std::shared_ptr<ReplicaReader> reader_of(const ActiveAccount& account) {
  return replica_of(account).reader();
}

std::shared_ptr<ReplicaReader> fetching_reader_of(const ActiveAccount& account) {
  return replica_of(account).fetching_reader();
}

void run_on_worker(const HandlerContextPtr& context, const CheckedCallPtr& call, std::int64_t timeout_ms,
                   std::function<std::string(const CallContextPtr&)> work, std::function<void(Answer)> then) {
  CallOwner owner;
  std::shared_ptr<AdapterHealth> health;
  if (call->account) {
    owner.service = call->account->ref.service;
    owner.account_id = call->account->ref.account_id;
    owner.generation = call->account->ref.generation;
    health = call->account->health;
  }
  // What runs here reads, or resolves a write's parameters from the replica: the write itself is the executor's.
  owner.sends = call->capability && call->capability->fetches ? Sends::kSafe : Sends::kNothing;
  const auto on = std::make_shared<CallContext>(owner, context->clock, context->clock.boot_ms() + timeout_ms);
  // Written by the worker, read only after it returned: an abandoned worker may still write while nobody reads.
  const auto answer = std::make_shared<Answer>();
  context->runner.start(
      on, health, [work = std::move(work), on, answer] { *answer = answer_of(work, on); },
      [on, answer, then = std::move(then), service = call->definition->service](CallRunner::End end) {
        then(end == CallRunner::End::kReturned ? std::move(*answer) : Answer(abandoned(on, service)));
      });
}

}  // namespace krux
