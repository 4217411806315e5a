#include "host/gateway/mcp/client_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>

#include "core/definition/asks.hpp"
#include "core/util/ids.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/gateway/mcp/question_forms.hpp"

namespace krux::mcp {
namespace {

constexpr std::size_t kIdBytes = 12, kLongestReason = 200;

std::string withdrawn(const std::string& id, std::string_view why) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"{}","reason":"{}"}}}})", id, why);
}

Error no_answer(const std::string& why) {
  return {ErrorCode::kInputRequired, why};
}

std::string reason_in(std::string_view error_json) {
  try {
    const auto error = parse_json(error_json, "the error");
    return printable(find_string(error, "message").value_or("").substr(0, kLongestReason));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

struct ClientQuestions::State {
  struct Group {
    Asked asked;
    std::map<std::string, std::string> names;  ///< of what is not answered yet, by the request's id
    ClientAnswers answers;
    std::size_t bytes = 0;  ///< of them
    std::int64_t until_boot_ms = 0;
  };
  using Taken = std::optional<Group>;

  explicit State(Clock& c) : clock(c) {}

  Taken take(Number number) {
    auto node = groups.extract(number);
    return node ? Taken(std::move(node.mapped())) : std::nullopt;
  }
  /// Without the lock.
  Taken take_out(Number number) {
    const std::lock_guard lock(mutex);
    return take(number);
  }
  std::int64_t next() const {
    auto earliest = std::numeric_limits<std::int64_t>::max();
    for (const auto& [number, group] : groups) earliest = std::min(earliest, group.until_boot_ms);
    return earliest;
  }
  void watch();

  Clock& clock;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Number, Group> groups;
  Number last = 0;
  bool ended = false, woken = false;
  std::thread watcher;
};

/// Without the lock.
static void withdraw(const ClientQuestions::Asked& asked, const std::map<std::string, std::string>& names,
                     std::string_view why) {
  for (const auto& [id, name] : names) asked.send(withdrawn(id, why));
}

void ClientQuestions::State::watch() {
  std::unique_lock lock(mutex);
  while (!ended) {
    woken = false;
    const auto until = next();
    if (clock.wait_until(lock, changed, until, [this] { return ended || woken; })) continue;
    std::vector<Group> over;
    for (auto at = groups.begin(); at != groups.end();) {
      const bool is_over = at->second.until_boot_ms <= clock.boot_ms();
      if (is_over) over.push_back(std::move(at->second));
      at = is_over ? groups.erase(at) : std::next(at);
    }
    lock.unlock();
    for (auto& group : over) {
      withdraw(group.asked, group.names, "Nobody has answered in time.");
      group.asked.done(no_answer("What the call needs to know was asked for, and nobody has answered in time."));
    }
    over.clear();
    lock.lock();
  }
}

ClientQuestions::ClientQuestions(Clock& clock) : state_(std::make_shared<State>(clock)) {}

ClientQuestions::~ClientQuestions() {
  end();
}

ClientQuestions::Number ClientQuestions::ask(Asked asked) {
  Number number = 0;
  std::vector<std::string> messages;
  const auto send = asked.send;
  const auto refuse = asked.done;
  const auto why_not = asked.why_not;
  {
    const std::lock_guard lock(state_->mutex);
    const auto waiting = std::count_if(state_->groups.begin(), state_->groups.end(),
                                       [&](const auto& one) { return one.second.asked.agent_id == asked.agent_id; });
    if (!state_->ended && waiting < static_cast<std::ptrdiff_t>(kPerAgent)) {
      State::Group group;
      for (const auto& request : asked.requests) {
        const auto id = random_hex(kIdBytes);
        messages.push_back(fmt::format(R"({{"jsonrpc":"2.0","id":"{}",{}}})", id, request.method_and_params));
        group.names.emplace(id, request.name);
      }
      group.until_boot_ms = state_->clock.boot_ms() + kPatienceMs;
      group.asked = std::move(asked);
      number = ++state_->last;
      state_->groups.emplace(number, std::move(group));
      if (!state_->watcher.joinable()) state_->watcher = std::thread([state = state_] { state->watch(); });
      state_->woken = true;
    }
  }
  if (number == 0) {
    refuse(
        no_answer(fmt::format("Nobody was asked for what the call needs to know: {} calls of this agent wait for "
                              "answers already. Answer those, and call again.",
                              kPerAgent)));
    return 0;
  }
  state_->changed.notify_all();
  // Only now: look_again() finds it from here on.
  auto problem = why_not();
  for (auto next = messages.begin(); !problem && next != messages.end(); ++next) {
    if (!send(*next))
      problem = no_answer("What the call needs to know cannot be asked for: the client does not listen.");
  }
  if (!problem) return number;
  if (state_->take_out(number)) refuse(*problem);
  return 0;
}

void ClientQuestions::look_again() {
  std::vector<std::pair<Number, std::function<std::optional<Error>()>>> all;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [number, group] : state_->groups) all.emplace_back(number, group.asked.why_not);
  }
  for (const auto& [number, why_not] : all) {
    const auto why = why_not();
    const auto group = why ? state_->take_out(number) : std::nullopt;
    if (!group) continue;
    withdraw(group->asked, group->names, "What the call would do is not allowed any more.");
    group->asked.done(*why);
  }
}

void ClientQuestions::drop(Number number, std::string_view why) {
  if (const auto group = state_->take_out(number)) withdraw(group->asked, group->names, why);
}

void ClientQuestions::answered(const std::string& agent_id, const std::string& session, std::string_view id_json,
                               std::string_view result, std::string_view error) {
  if (id_json.size() != 2 * kIdBytes + 2) return;
  const std::string id(id_json.substr(1, 2 * kIdBytes));
  std::unique_lock lock(state_->mutex);
  const auto at = std::find_if(state_->groups.begin(), state_->groups.end(), [&](const auto& one) {
    return one.second.asked.agent_id == agent_id && one.second.asked.session == session && one.second.names.count(id);
  });
  if (at == state_->groups.end()) return;
  auto& group = at->second;
  const auto name = group.names.extract(id).mapped();
  const bool fits = (group.bytes += result.size()) < kLargestAnswers;
  if (error.empty() && fits) {
    group.answers.emplace(name, result);
    if (!group.names.empty()) return;
  }
  const auto whole = state_->take(at->first);
  lock.unlock();
  if (error.empty() && fits) return whole->asked.done(whole->answers);
  if (!fits) {
    withdraw(whole->asked, whole->names, "The answers are too large together.");
    return whole->asked.done(no_answer(too_much_answered()));
  }
  withdraw(whole->asked, whole->names, "Another question was refused.");
  whole->asked.done(
      no_answer(fmt::format("The client was asked for \"{}\" and has refused: {}", name, reason_in(error))));
}

void ClientQuestions::session_ended(const std::string& session) {
  std::vector<State::Group> gone;
  {
    const std::lock_guard lock(state_->mutex);
    for (auto at = state_->groups.begin(); at != state_->groups.end();) {
      const bool is_its = at->second.asked.session == session;
      if (is_its) gone.push_back(std::move(at->second));
      at = is_its ? state_->groups.erase(at) : std::next(at);
    }
  }
  for (const auto& group : gone)
    group.asked.done(no_answer("What the call needs to know was asked for, and the session has ended."));
}

/// Whoever is told of an answer may hold the last of what holds this.
void ClientQuestions::end() {
  std::map<Number, State::Group> dropped;
  std::thread watcher;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
    dropped.swap(state_->groups);
    watcher = std::move(state_->watcher);
  }
  state_->changed.notify_all();
  if (watcher.joinable()) watcher.get_id() == std::this_thread::get_id() ? watcher.detach() : watcher.join();
}

}  // namespace krux::mcp
