#include "host/gateway/agent_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/metrics/agent_meters.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::string_view kInvoke = "capabilities.invoke";
constexpr std::string_view kWriteStatus = "write.status", kCapabilitiesChanged = "capabilities.changed";
constexpr std::size_t kMaxLabel = 256;  // of texts that only describe a session

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

Error session_expired() {
  return {ErrorCode::kSessionExpired,
          "There is no such session of this agent, or it has ended. Open a new one with session.create, or leave "
          "session_id out."};
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

/// A method's parameters by name. Each accessor throws krux::Error InvalidInput.
struct AgentMethods::Params {
  Params(std::string_view text, std::span<const std::string_view> allowed) {
    if (text.empty()) return;
    std::string why;
    auto taken = take_apart(text, {}, why);
    if (!taken) throw invalid_input(fmt::format("\"params\" is not valid: {}.", why));
    parts = *std::move(taken);
    for (const auto& member : parts.members) {
      if (std::find(allowed.begin(), allowed.end(), member.name) != allowed.end()) continue;
      throw invalid_input(fmt::format("This method has no parameter \"{}\"; it takes {}.", printable(member.name),
                                      allowed.empty() ? "none" : fmt::format("{}", fmt::join(allowed, ", "))));
    }
  }

  const JsonSpan* find(std::string_view name) const {
    const auto* found = parts.find(name);
    return found && found->kind != JsonKind::kNull ? found : nullptr;
  }

  /// Empty when it is missing.
  std::string text(std::string_view name, std::size_t max_bytes = kMaxLabel) const {
    const auto* found = find(name);
    if (!found) return {};
    if (found->kind != JsonKind::kString) throw invalid_input(fmt::format("\"{}\" must be a string.", name));
    if (found->text.size() > max_bytes)
      throw invalid_input(
          fmt::format("\"{}\" has {} bytes, at most {} are allowed.", name, found->text.size(), max_bytes));
    if (const auto why = why_odd_text(found->text); !why.empty())
      throw invalid_input(fmt::format("\"{}\" {}.", name, why));
    return found->text;
  }

  std::string required(std::string_view name) const {
    auto value = text(name);
    if (value.empty()) throw invalid_input(fmt::format("\"{}\" is missing.", name));
    return value;
  }

  /// A list of strings; nothing when it is missing.
  std::optional<std::vector<std::string>> texts(std::string_view name) const {
    const auto* found = find(name);
    if (!found) return std::nullopt;
    std::string why;
    const auto list = take_apart(found->raw, {}, why);
    if (found->kind != JsonKind::kArray || !list || list->count > kMaxParts)
      throw invalid_input(fmt::format("\"{}\" must be a list of strings.", name));
    std::vector<std::string> all;
    for (const auto& member : list->members) {
      if (member.value.kind != JsonKind::kString)
        throw invalid_input(fmt::format("\"{}\" must be a list of strings.", name));
      all.push_back(member.value.text);
    }
    return all;
  }

  JsonParts parts;
};

AgentMethods::AgentMethods(AgentApi& api, Clock& clock, GatewayLimits limits, AgentMeters* meters)
    : api_(api), clock_(clock), limits_(limits), meters_(meters), sessions_(clock) {}

void AgentMethods::answer(const RpcReply& reply, std::string_view method, RpcOutcome outcome) const {
  const auto* error = std::get_if<RpcError>(&outcome);
  if (meters_) meters_->requested(method, error ? error->code : 0);
  reply(std::move(outcome));
}

std::optional<Error> AgentMethods::all_taken(const std::string& agent_id) {
  if (*counter_of(agent_id) < limits_.calls_per_agent) return std::nullopt;
  return refused_call(too_many_calls("This agent", limits_.calls_per_agent));
}

void AgentMethods::run(const CallerPtr& caller, const std::string& method, std::string_view params, RpcReply reply) {
  static constexpr std::array<std::string_view, 5> invoke_params{"capability", "arguments", "session_id",
                                                                 "idempotency_key", "transaction"};
  static constexpr std::array<std::string_view, 2> create_params{"agent_name", "purpose"};
  static constexpr std::array<std::string_view, 1> end_params{"session_id"};
  static constexpr std::array<std::string_view, 3> list_params{"category", "tag", "name_contains"};
  static constexpr std::array<std::string_view, 1> describe_params{"name"};
  static constexpr std::array<std::string_view, 2> subscribe_params{"types", "prefix"};
  struct Row {
    std::string_view name;
    Method run;
    std::span<const std::string_view> params;
  };
  static constexpr std::array<Row, 5> rows{{{"session.create", &AgentMethods::create_session, create_params},
                                            {"session.end", &AgentMethods::end_session, end_params},
                                            {"capabilities.list", &AgentMethods::list, list_params},
                                            {"capabilities.describe", &AgentMethods::describe, describe_params},
                                            {"events.subscribe", &AgentMethods::subscribe, subscribe_params}}};
  try {
    if (method == kInvoke) return invoke(caller, Params(params, invoke_params), reply);
    for (const auto& row : rows) {
      if (row.name == method) return answer(reply, method, (this->*row.run)(*caller, Params(params, row.params)));
    }
  } catch (const Error& error) {
    if (error.type() != ErrorCode::kInvalidInput) throw;
    return answer(reply, method, invalid_params(error.what()));
  }
  answer(reply, method,
         RpcError{rpc_code::kMethodNotFound,
                  fmt::format("There is no method \"{}\". There are session.create, session.end, capabilities.list, "
                              "capabilities.describe, capabilities.invoke and events.subscribe.",
                              printable(method.substr(0, kMaxLabel))),
                  {}});
}

RpcOutcome AgentMethods::create_session(const Caller& caller, const Params& params) {
  const auto name = params.text("agent_name"), purpose = params.text("purpose", 4 * kMaxLabel);
  const auto id = sessions_.create(caller.agent.agent_id);
  return fmt::format(
      R"({{"session_id":{},"agent":{},"agent_id":{},"agent_name":{},"purpose":{},"created_at":{},"expires_in":{}}})",
      json_string(id), json_string(caller.agent.name), json_string(caller.agent.agent_id),
      json_string(name.empty() ? caller.agent.name : name), json_string(purpose),
      json_string(format_time(clock_.wall_ms())), sessions_.idle_ms() / 1000);
}

RpcOutcome AgentMethods::end_session(const Caller& caller, const Params& params) {
  const auto id = params.required("session_id");
  if (sessions_.end(id, caller.agent.agent_id)) return R"({"ended":true})";
  return rpc_error(session_expired());
}

RpcOutcome AgentMethods::list(const Caller&, const Params& params) {
  return fmt::format(R"({{"capabilities":{}}})",
                     api_.list_json(params.text("category"), params.text("tag"), params.text("name_contains")));
}

RpcOutcome AgentMethods::describe(const Caller&, const Params& params) {
  const auto name = params.required("name");
  if (auto found = api_.describe_json(name)) return *std::move(found);
  return invalid_params(
      fmt::format("There is no capability \"{}\". capabilities.list names those there are.", printable(name)));
}

RpcOutcome AgentMethods::subscribe(const Caller& caller, const Params& params) {
  if (!caller.to)
    return RpcError{rpc_code::kInvalidRequest,
                    "Events are told over a WebSocket: connect one to /rpc and call events.subscribe there.",
                    {}};
  AgentEvents::Wanted wanted;
  wanted.prefix = params.text("prefix");
  if (const auto asked = params.texts("types")) {
    const auto has = [&](std::string_view type) {
      return std::find(asked->begin(), asked->end(), type) != asked->end();
    };
    wanted.writes = has(kWriteStatus);
    wanted.capabilities = has(kCapabilitiesChanged);
    for (const auto& type : *asked) {
      if (type != kWriteStatus && type != kCapabilitiesChanged)
        throw invalid_input(fmt::format("There is no event \"{}\": there are {} and {}.",
                                        printable(type.substr(0, kMaxLabel)), kWriteStatus, kCapabilitiesChanged));
    }
  }
  std::vector<std::string> types;
  if (wanted.writes) types.push_back(json_string(kWriteStatus));
  if (wanted.capabilities) types.push_back(json_string(kCapabilitiesChanged));
  const auto prefix = json_string(wanted.prefix);
  events_->subscribe(caller.agent.agent_id, caller.to, std::move(wanted));
  return fmt::format(R"({{"types":[{}],"prefix":{}}})", fmt::join(types, ","), prefix);
}

void AgentMethods::invoke(const CallerPtr& caller, const Params& params, RpcReply& reply) {
  Invocation call;
  call.capability = params.required("capability");
  call.session_id = params.text("session_id");
  call.idempotency_key = params.text("idempotency_key");
  const auto* arguments = params.find("arguments");
  if (arguments && arguments->kind != JsonKind::kObject) throw invalid_input("\"arguments\" must be an object.");
  call.arguments_json = arguments ? arguments->raw : std::string_view("{}");
  if (params.find("transaction"))
    return answer(reply, kInvoke,
                  failure(invalid_input("Transactions are not available in this version. Leave \"transaction\" out.")));
  if (!call.session_id.empty() && !sessions_.use(call.session_id, caller->agent.agent_id))
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
  auto of_connection = Place::take(caller->in_flight, limits_.calls_per_connection, caller);
  if (!of_connection) return refused_call(too_many_calls("This connection", limits_.calls_per_connection));
  const auto counter = counter_of(invocation.agent_id);
  auto of_agent = Place::take(*counter, limits_.calls_per_agent, counter);
  if (!of_agent) return refused_call(too_many_calls("This agent", limits_.calls_per_agent));
  api_.invoke(std::move(invocation), [of_connection = std::move(of_connection), of_agent = std::move(of_agent),
                                      done = std::move(done)](const InvocationResult& result) mutable {
    of_connection.reset();
    of_agent.reset();
    done(result);
  });
  return std::nullopt;
}

AgentMethods::Counter AgentMethods::counter_of(const std::string& agent_id) {
  const std::lock_guard lock(mutex_);
  auto& counter = in_flight_[agent_id];
  if (!counter) counter = std::make_shared<std::atomic<std::size_t>>(0);
  return counter;
}

}  // namespace krux
