#include "host/gateway/mcp/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/util/json.hpp"

namespace krux::mcp {
namespace {

std::string key_of(const std::string& session, std::string_view id_json) {
  return fmt::format("{} {}", session, id_json);
}

/// Runs what it was given when it goes, unless it was let off.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> run) : run_(std::move(run)) {}
  ~AtEnd() {
    if (run_) run_();
  }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  std::function<void()> let_off() { return std::exchange(run_, nullptr); }

 private:
  std::function<void()> run_;
};

}  // namespace

/// Between values a JSON text may have line ends, which would end the event's.
std::string event_text(std::string_view message) {
  std::string line(message);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return fmt::format("event: message\ndata: {}\n\n", line);
}

std::shared_ptr<void> Calls::add(const std::string& session, std::string_view id_json, std::function<void()> give_up) {
  auto key = key_of(session, id_json);
  const std::lock_guard lock(state_->mutex);
  const auto number = state_->next++;
  state_->by_id.insert_or_assign(key, State::Entry{number, std::move(give_up)});
  return {state_.get(), [state = state_, key = std::move(key), number](void*) {
            const std::lock_guard end(state->mutex);
            const auto at = state->by_id.find(key);
            if (at != state->by_id.end() && at->second.number == number) state->by_id.erase(at);
          }};
}

void Calls::cancel(const std::string& session, std::string_view id_json) {
  std::function<void()> give_up;
  {
    const auto key = key_of(session, id_json);
    const std::lock_guard lock(state_->mutex);
    auto entry = state_->by_id.extract(key);
    if (entry) give_up = std::move(entry.mapped().give_up);
  }
  if (give_up) give_up();
}

std::function<void(std::shared_ptr<ResponseStream>)> PassingEvents::opening(std::function<void()> gone) {
  // Let go of without being called, nobody is there to read.
  return [self = std::static_pointer_cast<PassingEvents>(shared_from_this()),
          guard = std::make_shared<AtEnd>(std::move(gone))](std::shared_ptr<ResponseStream> stream) {
    self->open(std::move(stream), guard->let_off());
  };
}

void PassingEvents::open(std::shared_ptr<ResponseStream> stream, std::function<void()> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return stream->end_with(std::exchange(waiting_, {}));
    if (waiting_.empty() || stream->send(std::exchange(waiting_, {}))) {
      stream_ = stream;
    } else {
      ended_ = true;  // nobody reads
    }
  }
  if (gone) stream->when_gone(std::move(gone));
}

bool PassingEvents::tell(std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  if (stream_) {
    // Its client does not read, and hears no more: `gone` takes the call back where that is what it means.
    if (!stream_->send(event_text(message))) ended_ = true;
  } else {
    waiting_ += event_text(message);
  }
  return !ended_;
}

void PassingEvents::end(std::string_view answer) {
  std::shared_ptr<ResponseStream> stream;
  const auto last = answer.empty() ? std::string() : event_text(answer);
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
    stream = std::move(stream_);
    if (!stream) waiting_ += last;
  }
  if (stream) stream->end_with(last);
}

void Progress::operator()(std::string_view message) {
  const std::lock_guard lock(mutex_);
  tell(told_ + 1, R"(,"message":)" + json_string(message));
}

void Progress::at(const ReadProgress& how_far) {
  const std::lock_guard lock(mutex_);
  if (any_ && how_far.done <= told_) return;
  std::string more;
  if (how_far.total > 0) more += fmt::format(R"(,"total":{})", how_far.total);
  if (!how_far.message.empty()) more += R"(,"message":)" + json_string(how_far.message);
  tell(how_far.done, more);
}

/// Under the lock.
void Progress::tell(double done, std::string_view more) {
  told_ = done;
  any_ = true;
  tell_(fmt::format(
      R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{}{}}}}})",
      token_json_, done, more));
}

}  // namespace krux::mcp
