#include "stdio_talk.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <utility>

namespace mcp {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;

constexpr std::chrono::milliseconds kLookAtCall{50};
constexpr int kMostUnanswered = 3;
constexpr std::int64_t kMostIdleMessages = 10'000;
constexpr std::size_t kMostIdleBytes = 64u << 20, kMostUnread = 1u << 20;

ProxyError unavailable(const std::string& sentence) {
  return {ErrorKind::kUnavailable, sentence};
}

/// What writes to a program that has ended finds out by its result.
void ignore_broken_pipes() {
  sigset_t broken;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, nullptr);
}

}  // namespace

StdioTalk::StdioTalk(StdioOptions options)
    : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { work(); }) {}

StdioTalk::~StdioTalk() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return asking_ == 0; });
}

void StdioTalk::wake() {
  const std::uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

std::string StdioTalk::ask(const kruxos::Call& call, const Request& request) {
  const auto asked = std::make_shared<Asked>();
  asked->method = request.method;
  asked->params_json = with_meta({}, request.params_json);
  asked->compared = request.compared;
  std::unique_lock lock(mutex_);
  begin(call.now_ms());
  asked->id = ++last_id_;
  asked_.emplace(asked->id, asked);
  wake();
  ++asking_;
  const auto leave = [this](void*) {
    if (--asking_ == 0) left_.notify_all();
  };
  const std::unique_ptr<void, decltype(leave)> leaving(this, leave);
  while (!asked->done) {
    if (call.now_ms() >= call.deadline_ms()) give_up(*asked, ErrorKind::kTimeout);
    if (call.cancelled()) give_up(*asked, ErrorKind::kCancelled);
    asked->changed.wait_for(lock, kLookAtCall);
  }
  if (asked->not_compared) throw NotCompared();
  if (asked->failure) asked->failure->raise();
  return result_of(std::move(asked->answer));
}

void StdioTalk::begin(std::int64_t now_ms) {
  if (stopping_) throw unavailable("The host is stopping.").no_effect();
  if (running_) return;
  if (const auto wait_ms = restarts_.wait_ms(now_ms); wait_ms > 0)
    throw unavailable("The server's program is started again in " + std::to_string((wait_ms + 999) / 1000) +
                      " s. Before: " + before_)
        .no_effect()
        .retry_after_ms(wait_ms);
  restarts_.started(now_ms);
  running_ = true;
}

void StdioTalk::give_up(Asked& asked, ErrorKind kind) {
  asked_.erase(asked.id);
  outbox_.take_back(asked);
  if (asked.written) outbox_.add(cancelled_message(asked.id));
  if (kind == ErrorKind::kTimeout) ++unanswered_;
  wake();
  ProxyError error(kind, kind == ErrorKind::kTimeout ? "The server has not answered in time."
                                                     : "The call was cancelled before the server answered.");
  if (!asked.written) error.no_effect();
  throw error;
}

void StdioTalk::work() {
  ignore_broken_pipes();
  while (wait_for_asks()) run();
  const std::lock_guard lock(mutex_);
  fail_all(unavailable("The host is stopping."));
}

/// False: there will be none.
bool StdioTalk::wait_for_asks() {
  pollfd woken{wake_.get(), POLLIN, 0};
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
      if (running_) return true;
    }
    (void)poll(&woken, 1, -1);
    std::uint64_t count = 0;
    (void)!read(wake_.get(), &count, sizeof count);
  }
}

/// One program from its start to its end.
void StdioTalk::run() {
  ProxyError failure = unavailable("");
  try {
    confined::refuse_root(options_.allow_root, options_.allow_root_key);
    if (!sandbox_known_) {
      if (const auto why = confined::why_no_sandbox(options_.confinement); !why.empty())
        throw confined::sandbox_missing(why);
      sandbox_known_ = true;
    }
    ServerProgram program(options_);
    start_talk();
    serve(program);
    const std::lock_guard lock(mutex_);
    failure = refused_.value_or(unavailable(program.sentence()));
  } catch (const ProxyError& error) {
    // Nothing has ended, and the next one hears the same reason at once.
    const std::lock_guard lock(mutex_);
    restarts_.begin_anew();
    failure = error;
  } catch (const std::exception& error) {
    failure = unavailable("The talk with the server's program failed: " + std::string(error.what()));
  }
  const std::lock_guard lock(mutex_);
  before_ = failure.what();
  fail_all(failure);
  outbox_.clear();
  running_ = false;
}

void StdioTalk::start_talk() {
  const std::lock_guard lock(mutex_);
  handshake_ = Handshake();
  agreed_ = false;
  refused_.reset();
  unanswered_ = 0;
  idle_messages_ = 0;
  idle_bytes_ = 0;
  send_step(handshake_.first());
}

void StdioTalk::serve(ServerProgram& program) {
  bool writes = true;
  for (bool stopped = false; !program.has_ended();) {
    program.wait(wake_.get(), writes);
    std::uint64_t count = 0;
    (void)!read(wake_.get(), &count, sizeof count);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_ && !std::exchange(stopped, true)) {
        fail_all(unavailable("The host is stopping."));
        program.let_end();
      }
      send(program);
      program.read([&](std::string_view line) { take(line, program); });
      if (unanswered_ >= kMostUnanswered) program.end_because("it has let three deadlines in a row pass.");
      writes = !outbox_.empty();
    }
    program.look();
  }
}

void StdioTalk::send(ServerProgram& program) {
  for (auto at = asked_.begin(); at != asked_.end();) {
    const auto [id, asked] = *at++;  // it may leave
    if (!agreed_ || asked->queued) continue;
    if (asked->compared && *asked->compared != tools_version_) {
      asked->not_compared = true;
      finish(*asked);
      continue;
    }
    asked->queued = true;
    const auto params_json = std::exchange(asked->params_json, {});
    outbox_.add(request_message(id, asked->method, with_meta(handshake_.agreed(), params_json)), asked);
  }
  outbox_.flush([&](std::string_view bytes) { return program.put(bytes); });
  if (outbox_.unasked_bytes() > kMostUnread) program.end_because("it does not read what it is sent.");
}

/// Nothing more to ask: from now on the callers' requests go out.
void StdioTalk::send_step(std::optional<Handshake::Step> step) {
  if (step) {
    step_ = ++last_id_;
    outbox_.add(request_message(*step_, step->method, step->params_json));
    return;
  }
  step_.reset();
  agreed_ = true;
  ++sessions_;
  ++tools_version_;
  if (!handshake_.agreed().stateless) outbox_.add(notification_message("notifications/initialized"));
}

void StdioTalk::take(std::string_view line, ServerProgram& program) {
  idle_bytes_ += line.size() + 1;
  for (auto& one : read_messages(line)) {
    ++idle_messages_;
    take(std::move(one), program);
  }
  if (idle_messages_ > kMostIdleMessages) program.end_because("it sent more than 10,000 messages that answer nothing.");
  if (idle_bytes_ > kMostIdleBytes) program.end_because("it sent more than 64 MiB that answer nothing.");
}

void StdioTalk::take(Incoming incoming, ServerProgram& program) {
  if (incoming.changes_tools()) ++tools_version_;
  if (incoming.is_request()) outbox_.add(reply_to(incoming));
  if (!incoming.answers) return;
  const auto is_step = step_ == incoming.answers;
  const auto at = asked_.find(*incoming.answers);
  if (!is_step && (at == asked_.end() || !at->second->written)) return;
  unanswered_ = 0;
  idle_messages_ = 0;
  idle_bytes_ = 0;
  if (is_step) return take_step(std::move(incoming.answer), program);
  restarts_.begin_anew();
  const auto asked = at->second;
  asked->answer = std::move(incoming.answer);
  finish(*asked);
}

void StdioTalk::take_step(std::optional<Answer> answer, ServerProgram& program) {
  try {
    if (!answer) (void)result_of(std::move(answer));
    return send_step(handshake_.take(*answer));
  } catch (const ProxyError& error) {
    refused_ = error;
  } catch (const RpcError& error) {
    refused_ = unavailable("The server does not begin: " + std::string(error.what())).no_effect();
  }
  step_.reset();
  program.end_because(refused_->what());
}

void StdioTalk::finish(Asked& asked) {
  asked.done = true;
  asked.changed.notify_all();
  asked_.erase(asked.id);
}

/// What was never written whole had no effect.
void StdioTalk::fail_all(const ProxyError& error) {
  while (!asked_.empty()) {
    const auto asked = asked_.begin()->second;
    asked->failure.emplace(error);
    if (!asked->written) asked->failure->no_effect = true;
    finish(*asked);
  }
}

}  // namespace mcp
