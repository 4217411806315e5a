#include "host/runner/remote_adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "host/plugins/abi_bridge/answers.hpp"
#include "host/plugins/abi_bridge/limits.hpp"
#include "host/runner/remote_call.hpp"
#include "host/runner/wire_function.hpp"

namespace krux {
namespace {

/// That an adapter could not be made again says nothing against what was to be asked of it.
CallFailure not_there(CallFailure failure) {
  const auto status = failure.status;
  if (status != KRUX_AUTH && status != KRUX_RATE_LIMITED) failure.status = KRUX_UNAVAILABLE;
  return failure;
}

/// A write that could not begin waits on its own schedule, whose first wait is as long as the runner's longest.
template <class Result>
void put_on_schedule(CallResult<Result>& result) {
  auto* failure = std::get_if<CallFailure>(&result);
  if (failure && failure->status == KRUX_UNAVAILABLE && failure->effect_none) failure->retry_after_ms.reset();
}

/// The future cannot be in the replica.
void bound(SyncStep& step, const CallContext& call) {
  step.complete_through_ms = std::min(step.complete_through_ms, call.clock().wall_ms());
}
template <class Other>
void bound(Other&, const CallContext&) {}

/// An argument travels, or is lent.
void hand_over(WireWriter&, RemoteLoans& loans, const SessionPtr& session) {
  loans.session = session;
}
void hand_over(WireWriter&, RemoteLoans& loans, const ReaderPtr& reader) {
  loans.reader = reader;
}
template <class Value>
void hand_over(WireWriter& out, RemoteLoans&, const Value& value) {
  put_value(out, value);
}

/// What creating it tells.
AdapterRoles get_roles(WireReader& in) {
  AdapterRoles roles;
  AdapterFunctions::for_each([&]<class Function>(Function) { roles.*Function::has() = in.flag(); });
  return roles;
}

class RemoteAdapter final : public AnswersAlike<RemoteAdapter> {
 public:
  RemoteAdapter(std::shared_ptr<AdapterRunner> runner, RemoteAccount account)
      : runner_(std::move(runner)), account_(std::move(account)) {}
  ~RemoteAdapter() override;
  RemoteAdapter(const RemoteAdapter&) = delete;
  RemoteAdapter& operator=(const RemoteAdapter&) = delete;

  /// Once, before it is used. Nothing when it was made.
  std::optional<CallFailure> create(const CallContextPtr& call) {
    const auto made = instance_for(call);
    if (const auto* failure = std::get_if<CallFailure>(&made)) return *failure;
    return std::nullopt;
  }

  AdapterRoles roles() const override { return roles_; }

  template <class Function, class... Arguments>
  CallResult<typename Function::Result> answer_alike(Function function, const CallContextPtr& call,
                                                     const Arguments&... arguments);

 private:
  /// The adapter in one process.
  struct Instance {
    std::shared_ptr<RunnerProcess> process;
    std::uint64_t id = 0;
  };

  template <class Result, class Read>
  CallResult<Result> ask_instance(const Instance& instance, std::uint8_t function, const CallContextPtr& call,
                                  std::string_view arguments, RemoteLoans loans, const Read& read);
  std::variant<Instance, CallFailure> instance_for(const CallContextPtr& call);
  std::variant<Instance, CallFailure> make_in(const std::shared_ptr<RunnerProcess>& process,
                                              const CallContextPtr& call);
  RemoteLoans http() const { return {account_.http, nullptr, nullptr, false}; }

  const std::shared_ptr<AdapterRunner> runner_;
  const RemoteAccount account_;
  AdapterRoles roles_;  ///< of the first one; set before it is used

  std::mutex making_;  ///< one makes it while the others wait
  std::mutex mutex_;
  Instance instance_;
};

RemoteAdapter::~RemoteAdapter() {
  if (!instance_.process) return;
  WireWriter out;
  out.u64(instance_.id);
  instance_.process->send(FrameKind::kDestroy, 0, 0, out.bytes());
}

template <class Function, class... Arguments>
CallResult<typename Function::Result> RemoteAdapter::answer_alike(Function function, const CallContextPtr& call,
                                                                  const Arguments&... arguments) {
  using Result = typename Function::Result;
  if (!(roles_.*Function::has())) return answer_without(function, arguments...);
  try {
    const auto instance = instance_for(call);
    CallResult<Result> result;
    if (const auto* failure = std::get_if<CallFailure>(&instance)) {
      result = not_there(*failure);
    } else {
      WireWriter out;
      auto loans = http();
      loans.notes = Function::kExtras.notes;
      if (Function::kExtras.uploads) loans.uploads = account_.uploads;
      (hand_over(out, loans, arguments), ...);
      result = ask_instance<Result>(
          std::get<Instance>(instance), Function::kNumber, call, out.bytes(), std::move(loans),
          [](WireReader& in) { return get_result<Result>(in, limits::largest_object(Function::kExtras.small)); });
    }
    if (Function::kExtras.on_schedule) put_on_schedule(result);
    if (auto* value = std::get_if<Result>(&result)) bound(*value, *call);
    return result;
  } catch (const std::exception& e) {
    return defect(fmt::format("The host could not handle the adapter's call: {}", e.what()));
  }
}

template <class Result, class Read>
CallResult<Result> RemoteAdapter::ask_instance(const Instance& instance, std::uint8_t function,
                                               const CallContextPtr& call, std::string_view arguments,
                                               RemoteLoans loans, const Read& read) {
  WireWriter frame;
  frame.u64(instance.id).u8(function).u32(call->owner().attempt);
  frame.text(call->owner().write_id).text(call->owner().agent).i64(call->left_ms()).i64(call->clock().wall_ms());
  put_dialogue(frame, call->dialogue());
  frame.raw(arguments);
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
  const auto made = ask_instance<AdapterRoles>(instance, kAskCreate, call, arguments.bytes(), http(), get_roles);
  if (const auto* failure = std::get_if<CallFailure>(&made)) return *failure;
  const std::lock_guard lock(mutex_);
  if (!instance_.process) roles_ = std::get<AdapterRoles>(made);
  instance_ = instance;
  return instance;
}

}  // namespace

CallResult<std::shared_ptr<ServiceAdapter>> make_remote_adapter(std::shared_ptr<AdapterRunner> runner,
                                                                RemoteAccount account, const CallContextPtr& call) {
  auto adapter = std::make_shared<RemoteAdapter>(std::move(runner), std::move(account));
  if (auto failure = adapter->create(call)) return std::move(*failure);
  return adapter;
}

}  // namespace krux
