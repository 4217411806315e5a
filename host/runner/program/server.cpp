#include "host/runner/program/server.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "host/plugins/abi_bridge/adapter_creation.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux::runner {
namespace {

CallFailure clipped(CallFailure failure) {
  auto& text = failure.message;
  if (text.size() > limits::kLongestFailure) {
    std::size_t end = limits::kLongestFailure;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
  }
  return failure;
}

template <class T, class Put>
void put_result(WireWriter& out, const CallResult<T>& result, Put&& put) {
  const auto* failure = std::get_if<CallFailure>(&result);
  out.flag(!failure);
  if (failure) {
    put_failure(out, clipped(*failure));
  } else {
    put(out, std::get<T>(result));
  }
}

void put_json(WireWriter& out, const std::string& json) {
  out.text(json);
}
void put_flag(WireWriter& out, bool value) {
  out.flag(value);
}

}  // namespace

void Server::run() {
  try {
    while (link_.channel().pump(-1, {}, [this](Frame frame) { on_frame(std::move(frame)); })) {
    }
  } catch (const std::exception&) {  // the host says nothing that makes no sense; whoever does is not it
  }
  _exit(0);
}

void Server::on_frame(Frame frame) {
  switch (frame.kind) {
    case FrameKind::kCall: {
      const auto asked = std::make_shared<const Asked>(read_call(frame));
      return start([this, asked, call = begin(frame.call, *asked)] { answer_call(*asked, call); });
    }
    case FrameKind::kCancel:
      return calls_.cancel(frame.call);
    case FrameKind::kDestroy: {
      const auto id = WireReader(frame.payload).u64();
      return start([this, id] { destroy(id); });
    }
    case FrameKind::kStop:
      return start([this] {
        std::map<std::uint64_t, Adapter> all;
        {
          const std::lock_guard lock(mutex_);
          all.swap(adapters_);
        }
        all.clear();
        _exit(0);
      });
    default:
      return link_.deliver(std::move(frame));
  }
}

/// A thread for each call that runs; those that have ended wait for the next. Without a thread the call waits for one.
void Server::start(std::function<void()> task) {
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    more = idle_ < tasks_.size();
  }
  work_cv_.notify_one();
  if (!more) return;
  try {
    std::thread([this] { work(); }).detach();
  } catch (const std::system_error&) {
  }
}

void Server::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_cv_.wait(lock, [&] { return !tasks_.empty(); });
    --idle_;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = {};
    lock.lock();
  }
}

void Server::destroy(std::uint64_t id) {
  Adapter gone;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = adapters_.find(id);
  if (found == adapters_.end()) return;
  gone = std::move(found->second);
  adapters_.erase(found);
}

/// By the thread that reads the socket, so that a cancellation which comes next finds the call.
RunningCallPtr Server::begin(std::uint64_t id, const Asked& asked) {
  clock_.heard(asked.wall_ms);
  CallOwner owner;
  owner.write_id = asked.write_id;
  owner.attempt = asked.attempt;
  if (asked.function != CallFunction::kCreate) {
    const std::lock_guard lock(mutex_);
    const auto& adapter = adapters_.at(asked.adapter);
    owner.service = adapter.service;
    owner.account_id = adapter.account_id;
    owner.generation = adapter.generation;
  }
  auto call = std::make_shared<RunningCall>();
  call->id = id;
  call->context = std::make_shared<CallContext>(
      owner, clock_, clock_.boot_ms() + asked.left_ms,
      [this, raw = call.get()](std::string_view note) { return remember(link_, *raw, note); });
  calls_.add(call);
  return call;
}

Server::Asked Server::read_call(const Frame& frame) const {
  WireReader in(frame.payload);
  Asked asked;
  asked.adapter = in.u64();
  asked.function = static_cast<CallFunction>(in.below(static_cast<std::uint8_t>(CallFunction::kRevoke) + 1));
  asked.attempt = in.u32();
  asked.write_id = in.text(limits::kLongestId);
  asked.left_ms = in.i64();
  asked.wall_ms = in.i64();
  asked.arguments = in.rest();
  return asked;
}

void Server::answer_call(const Asked& asked, const RunningCallPtr& call) {
  WireReader in(asked.arguments);
  WireWriter out, answer;
  answer_in(in, asked, call, answer);
  calls_.remove(*call);
  call->context->end();
  out.u64(call->context->replaced()).raw(answer.bytes());
  link_.send(FrameKind::kReturned, call->id, 0, out.bytes());
}

void Server::answer_in(WireReader& in, const Asked& asked, const RunningCallPtr& call, WireWriter& out) {
  if (asked.function == CallFunction::kCreate) return create(in, asked, call, out);
  Adapter adapter;
  {
    const std::lock_guard lock(mutex_);
    adapter = adapters_.at(asked.adapter);
  }
  switch (asked.function) {
    case CallFunction::kFullSync:
    case CallFunction::kIncrementalSync:
      return sync(adapter, in, asked, call, out);
    case CallFunction::kRead:
    case CallFunction::kResolve:
      return read(adapter, in, asked, call, out);
    case CallFunction::kSupportsRollback:
    case CallFunction::kVerify:
    case CallFunction::kRevoke:
      return account(adapter, in, asked, call, out);
    default:
      return write(adapter, in, asked, call, out);
  }
}

void Server::create(WireReader& in, const Asked& asked, const RunningCallPtr& call, WireWriter& out) {
  Adapter adapter;
  AdapterCreation creation;
  creation.entry = &entry_;
  adapter.service = in.text(limits::kLongestId);
  adapter.account_id = creation.account_id = in.text(limits::kLongestId);
  adapter.generation = creation.generation = in.u32();
  creation.scopes = in.text(kLargestFrame);
  creation.config = in.text(kLargestFrame);
  creation.base_url = in.text(limits::kLongestUrl);
  creation.settings = in.text(kLargestFrame);
  creation.collections = get_collections(in);
  const auto log = [this](int level, const std::string&, const std::string& account_id, std::string_view line) {
    WireWriter entry;
    entry.u8(static_cast<std::uint8_t>(level)).text(account_id).text(line);
    link_.send(FrameKind::kLog, 0, 0, entry.bytes());
  };
  creation.host = std::make_shared<LentHost>(adapter.service, adapter.account_id, http_, &uploads_, log);
  creation.call = call->context;
  creation.run();
  out.flag(creation.instance != nullptr);
  if (!creation.instance) return put_failure(out, clipped(creation.failure));
  adapter.adapter = std::make_shared<PluginAdapter>(creation.instance);
  const auto roles = adapter.adapter->roles();
  out.flag(roles.sync).flag(roles.read).flag(roles.write).flag(roles.rollback).flag(roles.account).flag(roles.cleanup);
  out.flag(creation.instance->resolves);
  const std::lock_guard lock(mutex_);
  adapters_.emplace(asked.adapter, std::move(adapter));
}

void Server::sync(const Adapter& adapter, WireReader& in, const Asked& asked, const RunningCallPtr& call,
                  WireWriter& out) {
  const auto session = std::make_shared<LentSyncSession>(link_, call);
  if (asked.function == CallFunction::kFullSync) {
    return put_result(out, adapter.adapter->full_sync(call->context, session), put_step);
  }
  const auto last_sync_ms = in.i64();
  put_result(out, adapter.adapter->incremental_sync(call->context, session, last_sync_ms), put_step);
}

void Server::read(const Adapter& adapter, WireReader& in, const Asked& asked, const RunningCallPtr& call,
                  WireWriter& out) {
  const auto reader = std::make_shared<LentReplicaReader>(link_, call);
  const auto name = in.text(kLargestFrame), params = in.text(kLargestFrame);
  const auto result = asked.function == CallFunction::kRead
                          ? adapter.adapter->read(call->context, reader, name, params)
                          : adapter.adapter->resolve(call->context, reader, name, params);
  put_result(out, result, put_json);
}

void Server::write(const Adapter& adapter, WireReader& in, const Asked& asked, const RunningCallPtr& call,
                   WireWriter& out) {
  auto& to = *adapter.adapter;
  if (asked.function == CallFunction::kRollback || asked.function == CallFunction::kFindRollback) {
    const auto request = get_rollback(in);
    if (asked.function == CallFunction::kRollback)
      return put_result(out, to.rollback(call->context, request), put_json);
    return put_result(out, to.find_rollback(call->context, request), put_found);
  }
  const auto what = get_write(in);
  if (asked.function == CallFunction::kFindEffect)
    return put_result(out, to.find_effect(call->context, what), put_found);
  if (asked.function == CallFunction::kCleanUp) return put_result(out, to.clean_up(call->context, what), put_flag);
  put_result(out,
             asked.function == CallFunction::kExecuteWrite ? to.execute_write(call->context, what)
                                                           : to.create_rollback_point(call->context, what),
             put_json);
}

void Server::account(const Adapter& adapter, WireReader& in, const Asked& asked, const RunningCallPtr& call,
                     WireWriter& out) {
  if (asked.function == CallFunction::kSupportsRollback) {
    return put_result(out, CallResult<bool>(adapter.adapter->supports_rollback(in.text(limits::kLongestId))), put_flag);
  }
  if (asked.function == CallFunction::kVerify) {
    return put_result(out, adapter.adapter->verify(call->context), put_identity);
  }
  put_result(out, adapter.adapter->revoke(call->context), put_flag);
}

}  // namespace krux::runner
