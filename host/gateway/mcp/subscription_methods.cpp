// The methods by which a client hears of what has changed.
#include "core/definition/resource_parser.hpp"
#include "host/gateway/mcp/method_call.hpp"
#include "host/gateway/mcp/resources.hpp"

namespace krux::mcp {
namespace {

constexpr std::size_t kMostInOneStream = Subscriptions::kPerSession;

bool wants(const JsonParts& filter, std::string_view name) {
  const auto* wanted = find(filter, name, JsonKind::kBool);
  return wanted && wanted->raw == "true";
}

}  // namespace

/// Nothing where nobody can tell when it changes.
std::optional<Subscriptions::Watch> Methods::watch_of(const std::vector<Offered>& offered, std::string_view uri) {
  const auto resource = resource_at(offered, uri);
  if (!resource || !resource->changes_with) return std::nullopt;
  return [&api = api_, service = resource->service, record = *resource->changes_with](std::function<void()> changed) {
    return api.watch_record(service, record, std::move(changed));
  };
}

void Methods::subscribe_resource(const Call& call) {
  const auto* uri = find(call.params, "uri", JsonKind::kString);
  if (!uri) return call.reply(invalid_params("\"uri\" is missing: the resource's address."));
  const auto session = call.session();
  if (session.empty())
    return call.reply(invalid_request("Changes are told in a session: initialize one, and name it (Mcp-Session-Id)."));
  if (call.method == "resources/unsubscribe") {
    subscriptions_->remove(session, uri->text);
    return call.reply("{}");
  }
  const auto offered = api_.offered(call.caller->agent.name);
  if (!resource_at(offered, uri->text)) return call.reply(no_such_resource(uri->text, call.stateless));
  const auto watch = watch_of(offered, uri->text);
  if (!watch)
    return call.reply(
        invalid_params("Nobody can tell when this resource changes: its definition names no record. "
                       "Read it again when you need it."));
  if (!subscriptions_->add(call.caller->agent.agent_id, session, uri->text, *watch))
    return call.reply(invalid_request(
        fmt::format("A session hears of {} resources at most: unsubscribe from some.", Subscriptions::kPerSession)));
  call.reply("{}");
}

/// Of other agents' tasks, and what is no task's id, nothing is heard.
std::optional<RpcError> Methods::add_tasks(const Call& call, const JsonSpan& ids, Streams::Hears& hears) {
  if (!call.knows_tasks()) {
    call.answer->status = 400;
    return needs_tasks();
  }
  std::string why;
  const auto all = take_apart(ids.raw, {}, why);
  if (!all) return invalid_params(fmt::format("\"taskIds\" is not valid: {}.", why));
  for (const auto& [name, id] : all->members) {
    if (id.kind != JsonKind::kString) return invalid_params("\"taskIds\" is a list of texts.");
    const auto watch = task_watch_of(call, id.text);
    if (watch && hears.tasks.size() < kMostInOneStream) hears.tasks.emplace(id.text, *watch);
  }
  return std::nullopt;
}

/// The filter may name what there is not to hear here: the acknowledgement says what is heard.
RpcOutcome Methods::listen_to(const Call& call) {
  const auto* filter = find(call.params, "notifications", JsonKind::kObject);
  if (!filter) return invalid_params("\"notifications\" is missing: what to hear of, {\"toolsListChanged\": true}.");
  std::string why;
  const auto wanted = members(filter->raw, why);
  if (!wanted) return invalid_params(fmt::format("\"notifications\" is not valid: {}.", why));
  Streams::Hears hears;
  for (std::size_t i = 0; i < Streams::kLists.size(); ++i)
    hears.lists[i] = wants(*wanted, Streams::kLists[i].wanted_by);
  if (const auto* uris = find(*wanted, "resourceSubscriptions", JsonKind::kArray)) {
    const auto all = take_apart(uris->raw, {}, why);
    if (!all) return invalid_params(fmt::format("\"resourceSubscriptions\" is not valid: {}.", why));
    const auto offered = api_.offered(call.caller->agent.name);
    for (const auto& [name, uri] : all->members) {
      if (uri.kind != JsonKind::kString) return invalid_params("\"resourceSubscriptions\" is a list of texts.");
      const auto watch = watch_of(offered, uri.text);
      if (watch && hears.resources.size() < kMostInOneStream) hears.resources.emplace(uri.text, *watch);
    }
  }
  if (const auto* ids = find(*wanted, "taskIds", JsonKind::kArray)) {
    if (auto why_not = add_tasks(call, *ids, hears)) return *std::move(why_not);
  }
  call.answer->stream =
      streams_->opening({call.caller->agent.agent_id, {}}, std::string(call.id), std::move(hears), call.head.goes_on);
  return "{}";
}

std::function<void(std::shared_ptr<ResponseStream>)> Methods::listen(const Head& head, const std::string& agent_id) {
  const auto session = head.session.value_or("");
  if (head.last_event && KeptAnswers::names_answer(*head.last_event))
    return kept_.behind({agent_id, session, head.goes_on}, *head.last_event);
  return [open = streams_->opening({agent_id, session}, {}, Streams::Hears::all_lists(), head.goes_on, head.last_event),
          session, subscriptions = subscriptions_](std::shared_ptr<ResponseStream> stream) {
    open(std::move(stream));
    subscriptions->listens(session);
  };
}

void Methods::begin_to_tell(const Call& call) {
  const auto& conversation = call.head.conversation;
  const auto listener = conversation ? conversation->to_listener() : nullptr;
  if (!listener) return;
  const auto session = call.session();
  streams_->add_socket({call.caller->agent.agent_id, session}, listener,
                       [subscriptions = subscriptions_, session] { subscriptions->end(session); });
  subscriptions_->listens(session);
}

}  // namespace krux::mcp
