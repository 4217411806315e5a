#include "host/gateway/agent_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/metrics/agent_meters.hpp"
#include "core/state/sessions.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/gateway/rpc_params.hpp"

namespace krux {
namespace {

constexpr std::string_view kInvoke = "capabilities.invoke";
/// An event, and whether a client that subscribes wants it.
struct Event {
  std::string_view name;
  bool AgentEvents::Wanted::*wanted;
};
constexpr std::array<Event, 4> kEvents{{{"write.status", &AgentEvents::Wanted::writes},
                                        {"approval.resolved", &AgentEvents::Wanted::approvals},
                                        {"capabilities.changed", &AgentEvents::Wanted::capabilities},
                                        {"state.changed", &AgentEvents::Wanted::state}}};

RpcError invalid_params(const std::string& message) {
  return rpc_error(invalid_input(message));
}

std::string too_many_calls(const std::string& whose, std::size_t limit) {
  return fmt::format("{} has {} calls in flight, which is the limit. Send this one again when others are answered.",
                     whose, limit);
}

Error refused_call(const std::string& why) {
  return {ErrorCode::kRateLimited, why, true, 1000};
}

AgentEvents::Wanted wanted_events(const RpcParams& params) {
  AgentEvents::Wanted wanted;
  wanted.prefix = params.text("prefix");
  const auto asked = params.texts("types");
  if (!asked) return wanted;
  const auto has = [&](std::string_view type) { return std::find(asked->begin(), asked->end(), type) != asked->end(); };
  for (const auto& event : kEvents) wanted.*event.wanted = has(event.name);
  std::vector<std::string_view> names;
  for (const auto& event : kEvents) names.push_back(event.name);
  for (const auto& type : *asked) {
    if (std::find(names.begin(), names.end(), type) == names.end())
      throw invalid_input(fmt::format("There is no event \"{}\". There are: {}.", printable(type.substr(0, kMaxLabel)),
                                      fmt::join(names, ", ")));
  }
  return wanted;
}

/// `rest`: what follows, and the end.
std::string subscribed_json(const AgentEvents::Subscribed& subscribed, std::string_view rest) {
  std::vector<std::string> types;
  for (const auto& event : kEvents) {
    if (subscribed.wanted.*event.wanted) types.push_back(json_string(event.name));
  }
  return fmt::format(R"({{"types":[{}],"prefix":{}{})", fmt::join(types, ","), json_string(subscribed.wanted.prefix),
                     rest);
}

/// A capability's failure is a result, not a JSON-RPC error.
std::string failure(const Error& error) {
  return fmt::format(R"({{"success":false,"error":{}}})", error_json(error, nullptr));
}

std::string invocation_text(const InvocationResult& result) {
  std::string text;
  const auto& part = result.success ? result.data_json : result.error_json;
  text.reserve(part.size() + 32);
  text.append(result.success ? R"({"success":true,"data":)" : R"({"success":false,"error":)").append(part).append("}");
  return text;
}

/// A place among the calls in flight, given back when the last copy goes.
class Place {
 public:
  Place(std::atomic<std::size_t>& count, std::shared_ptr<void> owner) : count_(count), owner_(std::move(owner)) {}
  ~Place() { --count_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// Null when `limit` places are taken.
  static std::shared_ptr<Place> take(std::atomic<std::size_t>& count, std::size_t limit, std::shared_ptr<void> owner) {
    if (count.fetch_add(1) < limit) return std::make_shared<Place>(count, std::move(owner));
    --count;
    return nullptr;
  }

 private:
  std::atomic<std::size_t>& count_;
  const std::shared_ptr<void> owner_;
};

}  // namespace

AgentMethods::AgentMethods(AgentApi& api, const Clock& clock, GatewayLimits limits, AgentMeters* meters)
    : api_(api),
      clock_(clock),
      limits_(limits),
      meters_(meters),
      events_(std::make_shared<AgentEvents>(clock)),
      link_(std::make_shared<Link>()) {
  link_->api = &api;
}

AgentMethods::~AgentMethods() {
  const std::lock_guard lock(link_->mutex);
  link_->api = nullptr;
}

void AgentMethods::answer(const RpcReply& reply, std::string_view method, RpcOutcome outcome) const {
  const auto* error = std::get_if<RpcError>(&outcome);
  if (meters_) meters_->requested(method, error ? error->code : 0);
  reply(std::move(outcome));
}

std::optional<Error> AgentMethods::all_taken(const std::string& agent_id) {
  if (*counter_of(agent_id) < limits_.calls_per_agent) return std::nullopt;
  return refused_call(too_many_calls("This agent", limits_.calls_per_agent));
}

RpcReply AgentMethods::counted(RpcReply reply, std::string_view method) const {
  return [reply = std::move(reply), method, meters = meters_](RpcOutcome outcome) {
    const auto* error = std::get_if<RpcError>(&outcome);
    if (meters) meters->requested(method, error ? error->code : 0);
    reply(std::move(outcome));
  };
}

struct AgentMethods::Row {
  std::string_view name;
  /// One of the two.
  RpcOutcome (AgentMethods::*now)(const Caller&, const RpcParams&);
  void (AgentMethods::*later)(const CallerPtr&, const RpcParams&, const RpcReply&);
  std::span<const std::string_view> params;
};

std::span<const AgentMethods::Row> AgentMethods::rows() {
  static constexpr std::array<std::string_view, 5> invoke{"capability", "arguments", "session_id", "idempotency_key",
                                                          "transaction"};
  static constexpr std::array<std::string_view, 2> create{"agent_name", "purpose"};
  static constexpr std::array<std::string_view, 1> end{"session_id"};
  static constexpr std::array<std::string_view, 3> list{"category", "tag", "name_contains"};
  static constexpr std::array<std::string_view, 1> describe{"name"};
  static constexpr std::array<std::string_view, 1> check{"approval_id"};
  static constexpr std::array<std::string_view, 2> wait{"approval_id", "timeout"};
  static constexpr std::array<std::string_view, 3> subscribe{"types", "prefix", "after"};
  static constexpr std::array<std::string_view, 2> begin{"session_id", "timeout"};
  static constexpr std::array<std::string_view, 1> of_one{"transaction"};
  static constexpr std::array<Row, 12> all{
      {{kInvoke, nullptr, &AgentMethods::invoke, invoke},
       {"session.create", nullptr, &AgentMethods::create_session, create},
       {"session.end", nullptr, &AgentMethods::end_session, end},
       {"capabilities.list", &AgentMethods::list, nullptr, list},
       {"capabilities.describe", &AgentMethods::describe, nullptr, describe},
       {"approvals.check", nullptr, &AgentMethods::check_approval, check},
       {"approvals.wait", nullptr, &AgentMethods::wait_for_approval, wait},
       {"transaction.begin", nullptr, &AgentMethods::begin_transaction, begin},
       {"transaction.commit", nullptr, &AgentMethods::commit_transaction, of_one},
       {"transaction.rollback", nullptr, &AgentMethods::roll_back_transaction, of_one},
       {"transaction.status", nullptr, &AgentMethods::transaction_status, of_one},
       {"events.subscribe", &AgentMethods::subscribe, nullptr, subscribe}}};
  return all;
}

void AgentMethods::run(const CallerPtr& caller, const std::string& method, std::string_view params,
                       const RpcReply& reply) {
  for (const auto& row : rows()) {
    if (row.name != method) continue;
    try {
      const RpcParams checked(params, row.params);
      if (row.later) return (this->*row.later)(caller, checked, reply);
      return answer(reply, row.name, (this->*row.now)(*caller, checked));
    } catch (const Error& error) {
      if (error.type() != ErrorCode::kInvalidInput) throw;
      return answer(reply, row.name, invalid_params(error.what()));
    }
  }
  std::vector<std::string_view> names;
  for (const auto& row : rows()) names.push_back(row.name);
  answer(reply, method,
         RpcError{rpc_code::kMethodNotFound,
                  fmt::format("There is no method \"{}\". There are {}.", printable(method.substr(0, kMaxLabel)),
                              fmt::join(names, ", ")),
                  {}});
}

RpcOutcome AgentMethods::list(const Caller& caller, const RpcParams& params) {
  const CatalogueFilter filter{params.text("category"), params.text("tag"), params.text("name_contains")};
  return fmt::format(R"({{"capabilities":{}}})", api_.list_json(caller.agent.name, filter));
}

RpcOutcome AgentMethods::describe(const Caller& caller, const RpcParams& params) {
  const auto name = params.required("name");
  if (auto found = api_.describe_json(caller.agent.name, name)) return *std::move(found);
  return invalid_params(
      fmt::format("There is no capability \"{}\". capabilities.list names those there are.", printable(name)));
}

RpcOutcome AgentMethods::subscribe(const Caller& caller, const RpcParams& params) {
  if (!caller.to)
    return RpcError{rpc_code::kInvalidRequest,
                    "Events are told over a WebSocket: connect one to /rpc and call events.subscribe there.",
                    {}};
  // Checked in either case: whoever goes on names what he begins anew with.
  auto wanted = wanted_events(params);
  if (wanted.state) {
    if (const auto refused = api_.why_not_hear_state(caller.agent.agent_id)) return rpc_error(*refused);
  }
  const auto after = params.text("after");
  if (!after.empty()) {
    if (const auto goes_on = events_->go_on(caller.agent.agent_id, caller.to, after))
      return subscribed_json(*goes_on, R"(,"resumed":true})");
  }
  const auto subscribed = events_->subscribe(caller.agent.agent_id, caller.to, std::move(wanted));
  return subscribed_json(subscribed, fmt::format(R"(,"resumed":false,"event_id":"{}","kept_for_seconds":{}}})",
                                                 subscribed.event_id, AgentEvents::kKeptMs / 1000));
}

void AgentMethods::invoke(const CallerPtr& caller, const RpcParams& params, const RpcReply& reply) {
  Invocation call;
  call.capability = params.required("capability");
  call.session_id = params.text("session_id");
  call.idempotency_key = params.text("idempotency_key");
  const auto* arguments = params.find("arguments");
  if (arguments && arguments->kind != JsonKind::kObject) throw invalid_input("\"arguments\" must be an object.");
  call.arguments_json = arguments ? arguments->raw : std::string_view("{}");
  call.transaction_id = params.text("transaction");
  if (!call.session_id.empty() && !api_.sessions().use(call.session_id, caller->agent.agent_id))
    return answer(reply, kInvoke, failure(session_expired()));

  const auto refused = this->call(caller, std::move(call), [reply, meters = meters_](const InvocationResult& result) {
    if (meters) meters->requested(kInvoke, 0);
    reply(invocation_text(result));
  });
  if (refused) answer(reply, kInvoke, rpc_error(*refused));
}

std::optional<Error> AgentMethods::call(const CallerPtr& caller, Invocation invocation,
                                        std::function<void(const InvocationResult&)> done) {
  invocation.agent_id = caller->agent.agent_id;
  invocation.agent_name = caller->agent.name;
  auto places = take_places(caller);
  if (auto* full = std::get_if<Error>(&places)) return std::move(*full);
  api_.invoke(std::move(invocation), [places = std::get<Places>(std::move(places)),
                                      done = std::move(done)](const InvocationResult& result) mutable {
    places = {};
    done(result);
  });
  return std::nullopt;
}

std::optional<Error> AgentMethods::values(const CallerPtr& caller, ValuesWanted wanted,
                                          std::function<void(const std::variant<Completion, Error>&)> done) {
  wanted.agent_id = caller->agent.agent_id;
  auto places = take_places(caller);
  if (auto* full = std::get_if<Error>(&places)) return std::move(*full);
  api_.values(wanted, [places = std::get<Places>(std::move(places)),
                       done = std::move(done)](const std::variant<Completion, Error>& found) mutable {
    places = {};
    done(found);
  });
  return std::nullopt;
}

std::variant<AgentMethods::Places, Error> AgentMethods::take_places(const CallerPtr& caller) {
  Places places;
  places.of_connection = Place::take(caller->in_flight, limits_.calls_per_connection, caller);
  if (!places.of_connection) return refused_call(too_many_calls("This connection", limits_.calls_per_connection));
  const auto counter = counter_of(caller->agent.agent_id);
  places.of_agent = Place::take(*counter, limits_.calls_per_agent, counter);
  if (!places.of_agent) return refused_call(too_many_calls("This agent", limits_.calls_per_agent));
  return places;
}

AgentMethods::Counter AgentMethods::counter_of(const std::string& agent_id) {
  const std::lock_guard lock(mutex_);
  auto& counter = in_flight_[agent_id];
  if (!counter) counter = std::make_shared<std::atomic<std::size_t>>(0);
  return counter;
}

}  // namespace krux
