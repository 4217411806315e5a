#include "host/web/web_changes.hpp"

#include <string_view>
#include <vector>

namespace krux::web {
namespace {

constexpr std::size_t kMostListeners = 32;
/// However many writes change, a page looks anew twice a second at most.
constexpr std::int64_t kPaceMs = 500;
/// By which a page's end is noticed, and a session's.
constexpr std::int64_t kBeatMs = 15'000;
constexpr std::string_view kChanged = "event: changed\ndata: 1\n\n", kBeat = ": \n\n";

}  // namespace

WebChanges::WebChanges(Clock& clock) : clock_(clock), thread_([this] { loop(); }) {}

WebChanges::~WebChanges() {
  stop();
}

void WebChanges::changed() {
  const std::lock_guard lock(mutex_);
  ++changes_;
  wake_.notify_all();
}

void WebChanges::add(std::shared_ptr<ResponseStream> stream, std::function<bool()> goes_on) {
  std::shared_ptr<ResponseStream> oldest;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      oldest = std::move(stream);
    } else {
      listeners_.push_back({std::move(stream), std::move(goes_on)});
      if (listeners_.size() > kMostListeners) {
        oldest = std::move(listeners_.front().stream);
        listeners_.pop_front();
      }
    }
  }
  if (oldest) oldest->end();
}

void WebChanges::stop() {
  std::list<Listener> rest;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    rest.swap(listeners_);
    wake_.notify_all();
  }
  for (const auto& listener : rest) listener.stream->end();
  if (thread_.joinable()) thread_.join();
}

void WebChanges::tell(std::string_view event) {
  std::vector<Listener> all;
  {
    const std::lock_guard lock(mutex_);
    all.assign(listeners_.begin(), listeners_.end());
  }
  std::vector<const ResponseStream*> gone;
  for (const auto& listener : all) {
    if (listener.goes_on() && listener.stream->send(event)) continue;
    listener.stream->end();
    gone.push_back(listener.stream.get());
  }
  const std::lock_guard lock(mutex_);
  for (const auto* stream : gone)
    listeners_.remove_if([stream](const Listener& one) { return one.stream.get() == stream; });
}

void WebChanges::loop() {
  std::unique_lock lock(mutex_);
  std::uint64_t told = changes_;
  while (!stopping_) {
    clock_.wait_until(lock, wake_, clock_.boot_ms() + kBeatMs, [&] { return stopping_ || changes_ != told; });
    if (stopping_) return;
    const bool changed = changes_ != told;
    told = changes_;
    lock.unlock();
    tell(changed ? kChanged : kBeat);
    lock.lock();
    clock_.wait_until(lock, wake_, clock_.boot_ms() + kPaceMs, [&] { return stopping_; });
  }
}

}  // namespace krux::web
