#include "host/runner/remote_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/util/error.hpp"
#include "host/plugins/abi_bridge/edge.hpp"
#include "host/runner/runner_process.hpp"

namespace krux {
namespace {

constexpr std::int64_t kKillGraceMs = 1000;
/// A tick counts once, for however long the host was stopped in it.
constexpr int kKillTicks = 5;
constexpr std::chrono::milliseconds kKillTick{100};
constexpr std::size_t kMostCallsWaiting = 1;
constexpr int kDeepestNesting = 8;
constexpr const char* kCallEnded = "The call has ended.";

}  // namespace

RemoteCall::RemoteCall(std::shared_ptr<RunnerProcess> process, std::shared_ptr<HelperThreads> helpers, Clock& clock,
                       CallContextPtr context, RemoteLoans loans)
    : process_(std::move(process)),
      helpers_(std::move(helpers)),
      clock_(clock),
      context_(std::move(context)),
      loans_(std::move(loans)),
      id_(process_->new_id()),
      kill_boot_ms_(context_->deadline_boot_ms() + kKillGraceMs),
      kill_ticks_left_(kKillTicks) {}

RemoteCall::End RemoteCall::run(std::string_view payload) {
  if (!process_->add(shared_from_this())) return {std::nullopt, "It had just ended."};
  process_->send(FrameKind::kCall, id_, 0, payload);
  const auto token = context_->on_cancel([process = process_, id = id_] {  //
    process->send(FrameKind::kCancel, id, 0, {});
  });
  {
    std::unique_lock lock(mutex_);
    wait(lock, true, [] { return false; });
  }
  context_->drop_on_cancel(token);
  process_->remove(id_);
  const std::lock_guard lock(mutex_);
  // Of threads that the adapter left behind.
  for (const auto& frame : inbox_) send_answer(frame.request, {KRUX_CANCELLED, kCallEnded, std::nullopt, {}, {}});
  inbox_.clear();
  return returned_ ? End{std::move(payload_), {}} : End{std::nullopt, words_};
}

template <class Ready>
bool RemoteCall::wait(std::unique_lock<std::mutex>& lock, bool on_worker, Ready&& ready) {
  const auto done = [&] { return over() || ready(); };
  while (!done()) {
    if (!on_worker) {
      changed_.wait(lock, done);
    } else if (!inbox_.empty()) {
      serve_next(lock);
    } else if (!clock_.wait_until(lock, changed_, kill_boot_ms_, [&] { return done() || !inbox_.empty(); })) {
      if (kill_ticks_left_ > 0) {
        const bool woken = changed_.wait_for(lock, kKillTick, [&] { return done() || !inbox_.empty(); });
        if (!woken) --kill_ticks_left_;
        continue;
      }
      lock.unlock();
      process_->condemn("It was killed, since a call into it did not return in time.");
      lock.lock();
      changed_.wait(lock, [&] { return over(); });
    }
  }
  return !over();
}

void RemoteCall::serve_next(std::unique_lock<std::mutex>& lock) {
  const auto frame = std::move(inbox_.front());
  inbox_.pop_front();
  lock.unlock();
  try {
    if (depth_ >= kDeepestNesting) throw BadFrame("Requests are nested too deeply.");
    ++depth_;
    serve(frame);
    --depth_;
  } catch (const BadFrame& e) {
    process_->condemn(e.what(), true);
    lock.lock();
    changed_.wait(lock, [&] { return over(); });
    return;
  }
  lock.lock();
}

RemoteCall::StreamPtr RemoteCall::open(std::uint64_t request, bool on_worker) {
  auto stream = std::make_shared<Stream>();
  stream->id = request;
  stream->on_worker = on_worker;
  const std::lock_guard lock(mutex_);
  if (!streams_.emplace(request, stream).second) throw BadFrame("Two requests have one number.");
  return stream;
}

void RemoteCall::close(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream.id);
}

bool RemoteCall::part(const StreamPtr& stream, FrameKind kind, std::string_view payload) {
  {
    std::unique_lock lock(mutex_);
    if (!wait(lock, stream->on_worker, [&] { return stream->stopped || stream->ahead < kPartsAhead; })) return false;
    if (stream->stopped) return false;
    if (kind == FrameKind::kPart) ++stream->ahead;
  }
  return process_->send(kind, id_, stream->id, payload);
}

/// A part, or nothing at the end. False: the source has failed.
bool RemoteCall::pull_more(const StreamPtr& stream) {
  WireWriter wanted;
  wanted.u32(static_cast<std::uint32_t>(kPartBytes));
  process_->send(FrameKind::kPull, id_, stream->id, wanted.bytes());
  std::unique_lock lock(mutex_);
  if (!wait(lock, stream->on_worker, [&] { return stream->pulled.has_value(); })) return false;
  const auto payload = *std::exchange(stream->pulled, std::nullopt);
  WireReader in(payload);
  if (!in.flag()) return false;
  stream->spare = in.rest();
  return true;
}

std::int64_t RemoteCall::pull(const StreamPtr& stream, char* buffer, std::size_t capacity) {
  if (stream->spare.empty() && !pull_more(stream)) return -1;
  const auto count = stream->spare.copy(buffer, capacity);
  stream->spare.erase(0, count);
  return static_cast<std::int64_t>(count);
}

void RemoteCall::deliver(Frame frame) {
  switch (frame.kind) {
    case FrameKind::kReturned: {
      const std::lock_guard lock(mutex_);
      payload_ = std::move(frame.payload);
      returned_ = true;
      break;
    }
    case FrameKind::kRequest:
      deliver_request(std::move(frame));
      break;
    default: {
      const std::lock_guard lock(mutex_);
      deliver_to_stream(frame);
    }
  }
  changed_.notify_all();
}

void RemoteCall::deliver_request(Frame frame) {
  const auto kind = static_cast<RequestKind>(WireReader(frame.payload).below(kRequestKinds));
  if (kind == RequestKind::kSend) return begin_exchange(std::move(frame));
  const std::lock_guard lock(mutex_);
  if (over()) return send_answer(frame.request, {KRUX_CANCELLED, kCallEnded, std::nullopt, {}, {}});
  if (inbox_.size() >= kMostCallsWaiting) throw BadFrame("It asks before it has had its answer.");
  inbox_.push_back(std::move(frame));
}

/// What is for a request that has ended meanwhile is late, and nothing else.
void RemoteCall::deliver_to_stream(const Frame& frame) {
  const auto found = streams_.find(frame.request);
  if (found == streams_.end()) return;
  auto& stream = *found->second;
  if (frame.kind == FrameKind::kStopParts) {
    stream.stopped = true;
  } else if (frame.kind == FrameKind::kTaken) {
    WireReader in(frame.payload);
    const auto count = in.u32();
    in.end();
    if (count > stream.ahead) throw BadFrame("It has used more parts than it was sent.");
    stream.ahead -= count;
  } else {
    if (frame.payload.empty() || frame.payload.size() > kPartBytes + 1 || stream.pulled) {
      throw BadFrame("It sends bytes that nobody has asked for.");
    }
    stream.pulled = frame.payload;
  }
}

void RemoteCall::process_ended(const std::string& words) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  words_ = words;
  changed_.notify_all();
}

void RemoteCall::send_answer(std::uint64_t request, const WireAnswer& answer) {
  WireWriter out;
  put_answer(out, answer);
  process_->send(FrameKind::kAnswer, id_, request, out.bytes());
}

}  // namespace krux
