#include "host/runner/remote_adapter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/plugins/abi_bridge/answers.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

constexpr std::int64_t kQuestionMs = 5'000;

CallFailure no_role(const char* role) {
  return {KRUX_UNSUPPORTED, true, {}, fmt::format("The adapter has no {} role.", role), std::nullopt};
}

std::string one_write(const AdapterWrite& write) {
  WireWriter out;
  put_write(out, write);
  return out.take();
}

std::string one_rollback(const RollbackRequest& request) {
  WireWriter out;
  put_rollback(out, request);
  return out.take();
}

std::string two_texts(std::string_view a, std::string_view b) {
  WireWriter out;
  out.text(a).text(b);
  return out.take();
}

std::string result_of(WireReader& in) {
  return get_object(in, limits::kLargestResult);
}

/// That an adapter could not be made again says nothing against what was to be asked of it.
CallFailure not_there(CallFailure failure) {
  const auto status = failure.status;
  if (status != KRUX_AUTH && status != KRUX_RATE_LIMITED) failure.status = KRUX_UNAVAILABLE;
  return failure;
}

/// A write that could not begin waits on its own schedule, whose first wait is as long as the runner's longest.
template <class T>
CallResult<T> on_schedule(CallResult<T> result) {
  auto* failure = std::get_if<CallFailure>(&result);
  if (failure && failure->status == KRUX_UNAVAILABLE && failure->effect_none) failure->retry_after_ms.reset();
  return result;
}

}  // namespace

RemoteAdapter::~RemoteAdapter() {
  if (!instance_.process) return;
  WireWriter out;
  out.u64(instance_.id);
  instance_.process->send(FrameKind::kDestroy, 0, 0, out.bytes());
}

template <class T, class Read>
CallResult<T> RemoteAdapter::ask_instance(const Instance& instance, CallFunction function, const CallContextPtr& call,
                                          std::string_view arguments, RemoteLoans loans, Read&& read) {
  WireWriter frame;
  frame.u64(instance.id).u8(static_cast<std::uint8_t>(function)).u32(call->owner().attempt);
  frame.text(call->owner().write_id).i64(call->left_ms()).i64(call->clock().wall_ms()).raw(arguments);
  const auto remote =
      std::make_shared<RemoteCall>(instance.process, runner_->helpers(), runner_->clock(), call, std::move(loans));
  const auto end = remote->run(frame.bytes());
  if (!end.payload) {
    call->note_cut_off();
    return defect(fmt::format("The adapter's process ended during the call. {}", end.words));
  }
  runner_->returned();
  try {
    WireReader in(*end.payload);
    call->note_replaced(in.u64());
    if (in.flag()) {
      auto value = read(in);
      in.end();
      return value;
    }
    auto failure = get_failure(in);
    in.end();
    if (call->wire() == WireState::kOpen) failure.effect_none = false;
    call->fail(failure);
    return failure;
  } catch (const BadFrame& e) {
    instance.process->condemn(fmt::format("It sent what makes no sense and was killed: {}", e.what()), true);
    call->note_cut_off();
    return defect(fmt::format("The adapter's process sent an answer that makes no sense: {}", e.what()));
  }
}

template <class T, class Read>
CallResult<T> RemoteAdapter::ask(CallFunction function, const CallContextPtr& call, std::string_view arguments,
                                 RemoteLoans loans, Read&& read) {
  try {
    const auto instance = instance_for(call);
    if (const auto* failure = std::get_if<CallFailure>(&instance)) return not_there(*failure);
    return ask_instance<T>(std::get<Instance>(instance), function, call, arguments, std::move(loans), read);
  } catch (const std::exception& e) {
    return defect(fmt::format("The host could not handle the adapter's call: {}", e.what()));
  }
}

std::variant<RemoteAdapter::Instance, CallFailure> RemoteAdapter::instance_for(const CallContextPtr& call) {
  const auto known = [this](const std::shared_ptr<RunnerProcess>& process) -> std::optional<Instance> {
    const std::lock_guard lock(mutex_);
    return instance_.process == process ? std::optional(instance_) : std::nullopt;
  };
  auto process = runner_->acquire(call);
  if (auto* failure = std::get_if<CallFailure>(&process)) return *failure;
  const auto& running = std::get<std::shared_ptr<RunnerProcess>>(process);
  if (auto instance = known(running)) return *instance;
  const std::lock_guard one_at_a_time(making_);
  if (auto instance = known(running)) return *instance;
  return make_in(running, call);
}

std::variant<RemoteAdapter::Instance, CallFailure> RemoteAdapter::make_in(const std::shared_ptr<RunnerProcess>& process,
                                                                          const CallContextPtr& call) {
  const Instance instance{process, process->new_id()};
  WireWriter arguments;
  arguments.text(account_.service).text(account_.account_id).u32(account_.generation);
  arguments.text(account_.scopes_json).text(account_.config_json).text(account_.base_url).text(account_.settings_json);
  put_collections(arguments, account_.collections);
  struct Made {
    AdapterRoles roles;
    bool resolves = false;
  };
  const auto made =
      ask_instance<Made>(instance, CallFunction::kCreate, call, arguments.bytes(), http(), [](WireReader& in) {
        Made out;
        for (bool* role : {&out.roles.sync, &out.roles.read, &out.roles.write, &out.roles.rollback, &out.roles.account,
                           &out.roles.cleanup}) {
          *role = in.flag();
        }
        out.resolves = in.flag();
        return out;
      });
  if (const auto* failure = std::get_if<CallFailure>(&made)) return *failure;
  const std::lock_guard lock(mutex_);
  if (!instance_.process) {
    roles_ = std::get<Made>(made).roles;
    resolves_ = std::get<Made>(made).resolves;
  }
  instance_ = instance;
  return instance;
}

std::optional<CallFailure> RemoteAdapter::create(const CallContextPtr& call) {
  const auto made = instance_for(call);
  if (const auto* failure = std::get_if<CallFailure>(&made)) return *failure;
  return std::nullopt;
}

/// The future cannot be in the replica.
CallResult<SyncStep> RemoteAdapter::checked(CallResult<SyncStep> step, const CallContext& call) const {
  if (auto* done = std::get_if<SyncStep>(&step)) {
    done->complete_through_ms = std::min(done->complete_through_ms, call.clock().wall_ms());
  }
  return step;
}

CallResult<SyncStep> RemoteAdapter::full_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store) {
  if (!roles_.sync) return no_role("sync");
  return checked(ask<SyncStep>(CallFunction::kFullSync, call, {}, {account_.http, nullptr, store, false}, get_step),
                 *call);
}

CallResult<SyncStep> RemoteAdapter::incremental_sync(const CallContextPtr& call,
                                                     const std::shared_ptr<SyncSession>& store,
                                                     std::int64_t last_sync_ms) {
  if (!roles_.sync) return no_role("sync");
  WireWriter arguments;
  arguments.i64(last_sync_ms);
  return checked(ask<SyncStep>(CallFunction::kIncrementalSync, call, arguments.bytes(),
                               {account_.http, nullptr, store, false}, get_step),
                 *call);
}

CallResult<std::string> RemoteAdapter::read(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                                            std::string_view capability, std::string_view params_json) {
  if (!roles_.read) return no_role("read");
  return ask<std::string>(CallFunction::kRead, call, two_texts(capability, params_json),
                          {account_.http, reader, nullptr, false}, result_of);
}

CallResult<std::string> RemoteAdapter::resolve(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                                               std::string_view operation, std::string_view params_json) {
  if (!resolves_) return std::string(params_json);
  return ask<std::string>(CallFunction::kResolve, call, two_texts(operation, params_json),
                          {account_.http, reader, nullptr, false}, result_of);
}

CallResult<std::string> RemoteAdapter::execute_write(const CallContextPtr& call, const AdapterWrite& write) {
  if (!roles_.write) return no_role("write");
  return on_schedule(ask<std::string>(CallFunction::kExecuteWrite, call, one_write(write),
                                      {account_.http, nullptr, nullptr, true, account_.uploads}, result_of));
}

CallResult<EffectFound> RemoteAdapter::find_effect(const CallContextPtr& call, const AdapterWrite& write) {
  if (!roles_.write) return no_role("write");
  return ask<EffectFound>(CallFunction::kFindEffect, call, one_write(write),
                          {account_.http, nullptr, nullptr, false, account_.uploads}, get_found);
}

CallResult<bool> RemoteAdapter::ask_supports_rollback(const CallContextPtr& call, std::string_view operation) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = supports_.find(operation); found != supports_.end()) return found->second;
  }
  WireWriter arguments;
  arguments.text(operation);
  auto answer =
      ask<bool>(CallFunction::kSupportsRollback, call, arguments.bytes(), {}, [](WireReader& in) { return in.flag(); });
  if (const auto* supports = std::get_if<bool>(&answer)) {
    const std::lock_guard lock(mutex_);
    supports_.emplace(operation, *supports);
  }
  return answer;
}

bool RemoteAdapter::supports_rollback(std::string_view operation) {
  if (!roles_.rollback) return false;
  auto& clock = runner_->clock();
  const auto call =
      std::make_shared<CallContext>(CallOwner{account_.service, account_.account_id, account_.generation, {}, 0}, clock,
                                    clock.boot_ms() + kQuestionMs);
  const auto answer = ask_supports_rollback(call, operation);
  const auto* supports = std::get_if<bool>(&answer);
  const std::lock_guard lock(mutex_);
  if (!supports) unsure_.emplace(operation);
  return !supports || *supports;
}

/// Nothing, or why the write must not go on: whoever asked whether it can be undone was told yes without being sure.
std::optional<CallFailure> RemoteAdapter::make_sure(const CallContextPtr& call, const std::string& operation) {
  {
    const std::lock_guard lock(mutex_);
    if (unsure_.erase(operation) == 0) return std::nullopt;
  }
  const auto supports = ask_supports_rollback(call, operation);
  if (const auto* failure = std::get_if<CallFailure>(&supports)) return *failure;
  if (std::get<bool>(supports)) return std::nullopt;
  return CallFailure{KRUX_UNAVAILABLE, true, {}, "The adapter's process had to be started again.", std::nullopt};
}

CallResult<std::string> RemoteAdapter::create_rollback_point(const CallContextPtr& call, const AdapterWrite& write) {
  if (!roles_.rollback) return no_role("rollback");
  if (auto failure = make_sure(call, write.operation)) return on_schedule(CallResult<std::string>(*failure));
  return on_schedule(ask<std::string>(CallFunction::kCreateRollbackPoint, call, one_write(write), http(),
                                      [](WireReader& in) { return get_object(in, limits::kLargestPoint); }));
}

CallResult<std::string> RemoteAdapter::rollback(const CallContextPtr& call, const RollbackRequest& request) {
  if (!roles_.rollback) return no_role("rollback");
  return on_schedule(ask<std::string>(CallFunction::kRollback, call, one_rollback(request), http(), result_of));
}

CallResult<EffectFound> RemoteAdapter::find_rollback(const CallContextPtr& call, const RollbackRequest& request) {
  if (!roles_.rollback) return no_role("rollback");
  return ask<EffectFound>(CallFunction::kFindRollback, call, one_rollback(request), http(), get_found);
}

CallResult<bool> RemoteAdapter::clean_up(const CallContextPtr& call, const AdapterWrite& write) {
  if (!roles_.cleanup) return lacks_cleanup();
  return on_schedule(
      ask<bool>(CallFunction::kCleanUp, call, one_write(write), http(), [](WireReader& in) { return in.flag(); }));
}

CallResult<Identity> RemoteAdapter::verify(const CallContextPtr& call) {
  if (!roles_.account) return no_role("account");
  return ask<Identity>(CallFunction::kVerify, call, {}, http(), get_identity);
}

CallResult<bool> RemoteAdapter::revoke(const CallContextPtr& call) {
  if (!roles_.account) return no_role("account");
  return ask<bool>(CallFunction::kRevoke, call, {}, http(), [](WireReader& in) { return in.flag(); });
}

}  // namespace krux
