#include "host/gateway/mcp/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace krux::mcp {
namespace {

constexpr std::string_view kToolsChanged = "notifications/tools/list_changed";

/// One event; `id` where the client may go on behind it.
std::string event(std::string_view json, std::optional<std::uint64_t> id) {
  const auto head = id ? fmt::format("id: {}\n", *id) : std::string();
  return fmt::format("{}event: message\ndata: {}\n\n", head, json);
}

std::string notification(std::string_view method, const std::string& subscription_id, std::string_view more = {}) {
  if (subscription_id.empty()) return fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", method);
  return fmt::format(
      R"({{"jsonrpc":"2.0","method":"{}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}{}}}}})",
      method, subscription_id, more);
}

std::string change(const std::string& subscription_id, std::uint64_t number) {
  return event(notification(kToolsChanged, subscription_id),
               subscription_id.empty() ? std::optional(number) : std::nullopt);
}

/// Whether the client has heard of all changes. Of an id that is none of ours it is told once more.
bool is_up_to_date(const std::string& last_event, std::uint64_t changes) {
  std::uint64_t number = 0;
  const auto* const end = last_event.data() + last_event.size();
  const auto read = std::from_chars(last_event.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number == changes;
}

}  // namespace

std::function<void(std::shared_ptr<ResponseStream>)> Streams::opening(const std::string& agent_id,
                                                                      std::string subscription_id, Hears hears,
                                                                      std::function<bool()> goes_on,
                                                                      std::optional<std::string> last_event) {
  return [state = state_, agent_id, hears, subscription_id = std::move(subscription_id), goes_on = std::move(goes_on),
          last_event = std::move(last_event)](std::shared_ptr<ResponseStream> stream) {
    add(state, {agent_id, subscription_id, hears, std::move(stream), Form::kEvents, goes_on}, last_event);
  };
}

void Streams::add(const std::shared_ptr<State>& state, Open one, const std::optional<std::string>& last_event) {
  const auto stream = one.stream;
  const auto goes_on = one.goes_on;
  if (!one.subscription_id.empty())
    stream->send(event(notification("notifications/subscriptions/acknowledged", one.subscription_id,
                                    one.hears == Hears::kTools ? R"(,"notifications":{"toolsListChanged":true})"
                                                               : R"(,"notifications":{})"),
                       std::nullopt));
  std::shared_ptr<ResponseStream> displaced;
  std::string first;
  {
    const std::lock_guard lock(state->mutex);
    const auto is_his = [&](const Open& open) { return open.agent_id == one.agent_id && open.form == Form::kEvents; };
    if (std::count_if(state->open.begin(), state->open.end(), is_his) >= static_cast<std::ptrdiff_t>(kPerAgent)) {
      const auto oldest = std::find_if(state->open.begin(), state->open.end(), is_his);
      displaced = oldest->stream;
      state->open.erase(oldest);
    }
    // A client without a last event begins here; its first reconnection goes on behind it.
    if (one.subscription_id.empty() && !last_event) first = fmt::format("id: {}\ndata:\n\n", state->changes);
    if (last_event && !is_up_to_date(*last_event, state->changes)) first = change({}, state->changes);
    state->open.push_back(std::move(one));
  }
  if (displaced) displaced->end();
  if (!first.empty()) stream->send(first);
  let_go_with_client(state, *stream);
  // Its leave may have ended while it was opened.
  if (goes_on && !goes_on()) end(*state, stream);
}

void Streams::end(State& state, const std::shared_ptr<ResponseStream>& stream) {
  {
    const std::lock_guard lock(state.mutex);
    state.open.remove_if([&](const Open& open) { return open.stream == stream; });
  }
  stream->end();
}

void Streams::add_socket(const std::string& agent_id, const std::shared_ptr<ResponseStream>& socket) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->open.push_back({agent_id, {}, Hears::kTools, socket, Form::kMessages});
  }
  let_go_with_client(state_, *socket);
}

/// It is kept by the list until nobody reads it.
void Streams::let_go_with_client(const std::shared_ptr<State>& state, ResponseStream& stream) {
  stream.when_gone([state, stream = &stream] {
    std::shared_ptr<ResponseStream> gone;
    const std::lock_guard lock(state->mutex);
    const auto at = std::find_if(state->open.begin(), state->open.end(),
                                 [&](const Open& open) { return open.stream.get() == stream; });
    if (at == state->open.end()) return;
    gone = std::move(at->stream);
    state->open.erase(at);
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

void Streams::tools_changed() {
  end_those_without_leave();
  std::vector<std::pair<std::shared_ptr<ResponseStream>, std::string>> all;
  {
    const std::lock_guard lock(state_->mutex);
    const auto number = ++state_->changes;
    for (const auto& open : state_->open) {
      if (open.hears == Hears::kNothing) continue;
      all.emplace_back(open.stream, open.form == Form::kEvents ? change(open.subscription_id, number)
                                                               : notification(kToolsChanged, {}));
    }
  }
  for (const auto& [stream, text] : all) stream->send(text);
}

std::size_t Streams::size() const {
  const std::lock_guard lock(state_->mutex);
  return state_->open.size();
}

}  // namespace krux::mcp
