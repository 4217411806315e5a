#include "host/gateway/mcp/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/util/json_out.hpp"

namespace krux::mcp {
namespace {

/// One event; `id` where the client may go on behind it.
std::string event(std::string_view json, std::optional<std::uint64_t> id) {
  const auto head = id ? fmt::format("id: {}\n", *id) : std::string();
  return fmt::format("{}event: message\ndata: {}\n\n", head, json);
}

/// `more`: members of its params.
std::string notification(std::string_view method, const std::string& subscription_id, std::string_view more = {}) {
  const auto meta = subscription_id.empty()
                        ? std::string()
                        : fmt::format(R"("_meta":{{"io.modelcontextprotocol/subscriptionId":{}}})", subscription_id);
  if (meta.empty() && more.empty()) return fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", method);
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{{}{}{}}}}})", method, meta,
                     meta.empty() || more.empty() ? "" : ",", more);
}

std::string resource_updated(const std::string& uri, const std::string& subscription_id) {
  return notification("notifications/resources/updated", subscription_id, "\"uri\":" + json_string(uri));
}

/// Whether the client has heard of all changes. Of an id that is none of ours it is told once more.
bool is_up_to_date(const std::string& last_event, std::uint64_t changes) {
  std::uint64_t number = 0;
  const auto* const end = last_event.data() + last_event.size();
  const auto read = std::from_chars(last_event.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number == changes;
}

}  // namespace

/// Each by itself. Behind the last one a client of a session may go on.
std::vector<std::string> Streams::Open::changes(std::uint64_t number) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kLists.size(); ++i) {
    if (!lists[i]) continue;
    auto text = notification(kLists[i].notification, subscription_id);
    const bool last = subscription_id.empty() && i + 1 == kLists.size();
    texts.push_back(form == Form::kEvents ? event(text, last ? std::optional(number) : std::nullopt) : std::move(text));
  }
  return texts;
}

std::function<void(std::shared_ptr<ResponseStream>)> Streams::opening(Whose whose, std::string subscription_id,
                                                                      Hears hears, std::function<bool()> goes_on,
                                                                      std::optional<std::string> last_event) {
  return
      [state = state_, whose = std::move(whose), hears = std::move(hears), subscription_id = std::move(subscription_id),
       goes_on = std::move(goes_on), last_event = std::move(last_event)](std::shared_ptr<ResponseStream> stream) {
        Open one{whose, subscription_id, hears.lists, std::move(stream), Form::kEvents, goes_on};
        if (!subscription_id.empty()) acknowledge(*one.stream, subscription_id, hears);
        watch(one, hears);
        add(state, std::move(one), last_event);
      };
}

void Streams::acknowledge(ResponseStream& stream, const std::string& subscription_id, const Hears& hears) {
  const auto heard = json_object([&](JsonWriter& out) {
    for (std::size_t i = 0; i < kLists.size(); ++i) {
      if (hears.lists[i]) put(out, kLists[i].wanted_by, true);
    }
    std::vector<std::string> uris;
    for (const auto& [uri, watch] : hears.resources) uris.push_back(uri);
    if (!uris.empty()) put(out, "resourceSubscriptions", uris);
    std::vector<std::string> tasks;
    for (const auto& [id, watch] : hears.tasks) tasks.push_back(id);
    if (!tasks.empty()) put(out, "taskIds", tasks);
  });
  stream.send(
      event(notification("notifications/subscriptions/acknowledged", subscription_id, "\"notifications\":" + heard),
            std::nullopt));
}

/// They go with it.
void Streams::watch(Open& one, const Hears& hears) {
  for (const auto& [uri, watch] : hears.resources) {
    const auto text = event(resource_updated(uri, one.subscription_id), std::nullopt);
    one.watches.push_back(watch([weak = std::weak_ptr(one.stream), text] {
      if (const auto stream = weak.lock()) stream->send(text);
    }));
  }
  for (const auto& [id, watch] : hears.tasks) {
    one.watches.push_back(
        watch([weak = std::weak_ptr(one.stream), subscription = one.subscription_id](const TaskView& task) {
          const auto text = notification("notifications/tasks", subscription, task_members(task));
          if (const auto stream = weak.lock()) stream->send(event(text, std::nullopt));
        }));
  }
}

void Streams::add(const std::shared_ptr<State>& state, Open one, const std::optional<std::string>& last_event) {
  const auto stream = one.stream;
  const auto goes_on = one.goes_on;
  Open displaced{};
  std::string first;
  {
    const std::lock_guard lock(state->mutex);
    const auto is_his = [&](const Open& open) {
      return open.whose.agent_id == one.whose.agent_id && open.form == Form::kEvents;
    };
    if (std::count_if(state->open.begin(), state->open.end(), is_his) >= static_cast<std::ptrdiff_t>(kPerAgent)) {
      const auto oldest = std::find_if(state->open.begin(), state->open.end(), is_his);
      displaced = std::move(*oldest);
      state->open.erase(oldest);
    }
    // A client without a last event begins here; its first reconnection goes on behind it.
    if (one.subscription_id.empty() && !last_event) first = fmt::format("id: {}\ndata:\n\n", state->changes);
    if (last_event && !is_up_to_date(*last_event, state->changes))
      first = fmt::format("{}", fmt::join(one.changes(state->changes), ""));
    state->open.push_back(std::move(one));
  }
  if (displaced.stream) displaced.stream->end();
  if (!first.empty()) stream->send(first);
  let_go_with_client(state, *stream);
  // Its leave may have ended while it was opened.
  if (goes_on && !goes_on()) end(*state, stream);
}

void Streams::end(State& state, const std::shared_ptr<ResponseStream>& stream) {
  std::list<Open> ended;  // their watches go without the lock
  {
    const std::lock_guard lock(state.mutex);
    for (auto at = state.open.begin(); at != state.open.end();) {
      const auto one = at++;
      if (one->stream == stream) ended.splice(ended.end(), state.open, one);
    }
  }
  stream->end();
}

void Streams::add_socket(Whose whose, const std::shared_ptr<ResponseStream>& socket, std::function<void()> gone) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->open.push_back({std::move(whose), {}, Hears::all_lists().lists, socket, Form::kMessages});
  }
  let_go_with_client(state_, *socket, gone);
}

/// It is kept by the list until nobody reads it.
void Streams::let_go_with_client(const std::shared_ptr<State>& state, ResponseStream& stream,
                                 const std::function<void()>& gone) {
  stream.when_gone([state, stream = &stream, gone] {
    std::list<Open> let_go;
    {
      const std::lock_guard lock(state->mutex);
      const auto at = std::find_if(state->open.begin(), state->open.end(),
                                   [&](const Open& open) { return open.stream.get() == stream; });
      if (at != state->open.end()) let_go.splice(let_go.end(), state->open, at);
    }
    if (gone) gone();
  });
}

void Streams::end_those_without_leave() {
  std::vector<Open> all;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& open : state_->open) {
      if (open.goes_on) all.push_back(open);
    }
  }
  for (const auto& open : all) {
    if (!open.goes_on()) end(*state_, open.stream);
  }
}

void Streams::lists_changed() {
  end_those_without_leave();
  std::vector<std::pair<std::shared_ptr<ResponseStream>, std::vector<std::string>>> all;
  {
    const std::lock_guard lock(state_->mutex);
    const auto number = ++state_->changes;
    for (const auto& open : state_->open) all.emplace_back(open.stream, open.changes(number));
  }
  for (const auto& [stream, texts] : all) {
    for (const auto& text : texts) stream->send(text);
  }
}

std::vector<std::pair<std::shared_ptr<ResponseStream>, Streams::Form>> Streams::of_session(
    const std::string& session) const {
  std::vector<std::pair<std::shared_ptr<ResponseStream>, Form>> all;
  const std::lock_guard lock(state_->mutex);
  for (const auto& open : state_->open) {
    if (open.whose.session == session && open.subscription_id.empty()) all.emplace_back(open.stream, open.form);
  }
  return all;
}

bool Streams::tell(const std::string& session, std::string_view message) {
  for (const auto& [stream, form] : of_session(session)) {
    if (stream->send(form == Form::kEvents ? event(message, std::nullopt) : std::string(message))) return true;
  }
  return false;
}

bool Streams::resource_changed(const std::string& session, const std::string& uri) {
  const auto text = resource_updated(uri, {});
  bool heard = false;
  for (const auto& [stream, form] : of_session(session))
    heard = stream->send(form == Form::kEvents ? event(text, std::nullopt) : text) || heard;
  return heard;
}

std::size_t Streams::size() const {
  const std::lock_guard lock(state_->mutex);
  return state_->open.size();
}

}  // namespace krux::mcp
