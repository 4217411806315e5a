#include "host/runner/program/server.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "host/plugins/abi_bridge/adapter_creation.hpp"
#include "host/plugins/abi_bridge/limits.hpp"
#include "host/plugins/abi_bridge/plugin_adapter.hpp"

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

template <class Result>
void put_result(WireWriter& out, const CallResult<Result>& result) {
  const auto* failure = std::get_if<CallFailure>(&result);
  out.flag(!failure);
  if (failure) {
    put_failure(out, clipped(*failure));
  } else {
    put_value(out, std::get<Result>(result));
  }
}

/// An argument as it came, or what asks the host for what it has lent.
template <class Argument>
Argument receive(WireReader& in, Link& link, const RunningCallPtr& call) {
  if constexpr (std::is_same_v<Argument, SessionPtr>) {
    return std::make_shared<LentSyncSession>(link, call);
  } else if constexpr (std::is_same_v<Argument, ReaderPtr>) {
    return std::make_shared<LentReplicaReader>(link, call);
  } else {
    return get_value<Argument>(in);
  }
}

template <class Function, class Result, class... Arguments>
CallResult<Result> answer(ServiceAdapter& adapter, Function function, Result (*)(Arguments...), WireReader& in,
                          Link& link, const RunningCallPtr& call) {
  // Braces: in their order.
  const std::tuple<std::remove_cvref_t<Arguments>...> arguments{
      receive<std::remove_cvref_t<Arguments>>(in, link, call)...};
  in.end();
  return std::apply([&](const auto&... each) { return adapter.answer(function, call->context, each...); }, arguments);
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
  owner.agent = asked.agent;
  if (asked.function != kAskCreate) {
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
  if (asked.dialogue) call->context->converse(dialogue_of(link_, *call, *asked.dialogue));
  calls_.add(call);
  return call;
}

Server::Asked Server::read_call(const Frame& frame) const {
  WireReader in(frame.payload);
  Asked asked;
  asked.adapter = in.u64();
  asked.function = in.below(kAskCreate + 1);
  asked.attempt = in.u32();
  asked.write_id = in.text(limits::kLongestId);
  asked.agent = in.text(limits::kLongestId);
  asked.left_ms = in.i64();
  asked.wall_ms = in.i64();
  asked.dialogue = get_dialogue(in);
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
  if (asked.function == kAskCreate) return create(in, asked, call, out);
  Adapter adapter;
  {
    const std::lock_guard lock(mutex_);
    adapter = adapters_.at(asked.adapter);
  }
  AdapterFunctions::at(asked.function, [&]<class Function>(Function function) {
    typename Function::Signature* const signature = nullptr;
    put_result(out, answer(*adapter.adapter, function, signature, in, link_, call));
  });
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
  adapter.adapter = make_plugin_adapter(creation.instance);
  const auto roles = adapter.adapter->roles();
  AdapterFunctions::for_each([&]<class Function>(Function) { out.flag(roles.*Function::has()); });
  const std::lock_guard lock(mutex_);
  adapters_.emplace(asked.adapter, std::move(adapter));
}

}  // namespace krux::runner
