#include "host/gateway/mcp/kept_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/util/ids.hpp"

namespace krux::mcp {
namespace {

constexpr std::string_view kPrefix = "answer-";  // no number, as those of a session's own stream are
constexpr std::size_t kAnswerIdBytes = 12;
constexpr int kRetryMs = 1000;

}  // namespace

std::function<void(std::shared_ptr<ResponseStream>)> KeptEvents::opening(std::function<void()>) {
  const auto self = std::static_pointer_cast<KeptEvents>(shared_from_this());
  begun_(self);
  return [self](const std::shared_ptr<ResponseStream>& stream) { self->open(stream, 0, true); };
}

void KeptEvents::go_on(std::shared_ptr<ResponseStream> stream, std::uint64_t number) {
  open(stream, number, false);
}

void KeptEvents::open(const std::shared_ptr<ResponseStream>& stream, std::uint64_t number, bool first) {
  std::shared_ptr<ResponseStream> before;
  {
    const std::lock_guard lock(mutex_);
    // Without data: where to go on, and how soon.
    const auto begin = first ? fmt::format("id: {}-0\nretry: {}\ndata: \n\n", id_, kRetryMs) : std::string();
    const auto missed = begin + behind(number);
    before = std::exchange(stream_, nullptr);
    if (ended_) {
      stream->end_with(missed);
    } else if (missed.empty() || stream->send(missed)) {
      stream_ = stream;
    }
  }
  if (before) before->end();
  stream->when_gone([weak = weak_from_this(), raw = stream.get()] {
    const auto self = std::static_pointer_cast<KeptEvents>(weak.lock());
    if (!self) return;
    std::shared_ptr<ResponseStream> gone;
    const std::lock_guard lock(self->mutex_);
    if (self->stream_.get() == raw) gone = std::move(self->stream_);
  });
}

/// Under the lock.
std::string KeptEvents::behind(std::uint64_t number) const {
  std::string missed;
  kept_.each_behind(number, [&](const std::string& event) { missed += event; });
  return missed;
}

/// Under the lock.
std::string KeptEvents::add(std::string_view message) {
  return kept_.add(fmt::format("id: {}-{}\n{}", id_, kept_.last() + 1, event_text(message)));
}

bool KeptEvents::tell(std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  const auto event = add(message);
  if (stream_ && !stream_->send(event)) stream_ = nullptr;
  return true;
}

void KeptEvents::end(std::string_view answer) {
  std::shared_ptr<ResponseStream> stream;
  std::string last;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
    if (!answer.empty()) last = add(answer);
    lost_ = last.size() > kLargestKept;
    if (lost_) kept_.clear();
    stream = std::move(stream_);
  }
  if (stream) stream->end_with(last);
}

void KeptEvents::cut() {
  std::shared_ptr<ResponseStream> stream;
  {
    const std::lock_guard lock(mutex_);
    ended_ = lost_ = true;
    kept_.clear();
    stream = std::move(stream_);
  }
  if (stream) stream->end();
}

bool KeptEvents::has_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool KeptEvents::is_lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

/// Under the lock. What is forgotten goes without it.
void KeptAnswers::State::forget(std::list<Kept>& gone) {
  const auto now = clock.boot_ms();
  for (auto at = all.begin(); at != all.end();) {
    const auto next = std::next(at);
    if (!at->until_boot_ms && at->events->has_ended()) at->until_boot_ms = now + kKeptMs;
    if (at->until_boot_ms && *at->until_boot_ms <= now) gone.splice(gone.end(), all, at);
    at = next;
  }
}

void KeptAnswers::keep(State& state, Kept one) {
  std::list<Kept> gone;
  const std::lock_guard lock(state.mutex);
  state.forget(gone);
  const auto is_his = [&](const Kept& kept) { return kept.hearer.agent_id == one.hearer.agent_id; };
  if (std::count_if(state.all.begin(), state.all.end(), is_his) >= static_cast<std::ptrdiff_t>(kPerAgent))
    gone.splice(gone.end(), state.all, std::find_if(state.all.begin(), state.all.end(), is_his));
  state.all.push_back(std::move(one));
}

std::shared_ptr<CallEvents> KeptAnswers::make(const Hearer& hearer) {
  return std::make_shared<KeptEvents>(std::string(kPrefix) + random_hex(kAnswerIdBytes),
                                      [weak = std::weak_ptr(state_), hearer](const auto& events) {
                                        if (const auto state = weak.lock())  // which holds the events
                                          keep(*state, {hearer, events, std::nullopt});
                                        // His leave may have ended while it began.
                                        if (!hearer.goes_on()) events->cut();
                                      });
}

std::function<void(std::shared_ptr<ResponseStream>)> KeptAnswers::behind(const Hearer& hearer,
                                                                         std::string_view last_event) {
  const auto named = event_named(kPrefix, last_event);
  if (!named) return nullptr;
  std::list<Kept> gone;
  const std::lock_guard lock(state_->mutex);
  state_->forget(gone);
  const auto found = std::find_if(state_->all.begin(), state_->all.end(), [&](const Kept& kept) {
    return kept.events->id() == named->row && kept.hearer.agent_id == hearer.agent_id &&
           kept.hearer.session == hearer.session;
  });
  if (found == state_->all.end() || found->events->is_lost()) return nullptr;
  found->hearer = hearer;
  return [events = found->events, number = named->number,
          goes_on = hearer.goes_on](std::shared_ptr<ResponseStream> stream) {
    events->go_on(std::move(stream), number);
    if (!goes_on()) events->cut();
  };
}

void KeptAnswers::end(const std::string& session) {
  std::list<Kept> gone;
  const std::lock_guard lock(state_->mutex);
  for (auto at = state_->all.begin(); at != state_->all.end();) {
    const auto next = std::next(at);
    if (at->hearer.session == session) gone.splice(gone.end(), state_->all, at);
    at = next;
  }
}

void KeptAnswers::end_those_without_leave() {
  std::vector<Kept> all;
  {
    const std::lock_guard lock(state_->mutex);
    all.assign(state_->all.begin(), state_->all.end());
  }
  for (const auto& kept : all) {
    if (!kept.hearer.goes_on()) kept.events->cut();
  }
}

bool KeptAnswers::names_answer(std::string_view last_event) {
  return last_event.starts_with(kPrefix);
}

}  // namespace krux::mcp
