#include "host/operator/routes.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <span>

#include "core/state/agents.hpp"
#include "core/util/json.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "core/write/write.hpp"
#include "host/operator/audit_requests.hpp"
#include "host/operator/audited_action.hpp"
#include "host/operator/body_secrets.hpp"
#include "host/operator/decision_bodies.hpp"

namespace krux {
namespace {

constexpr std::int64_t kLongestWaitMs = 600'000;

/// One request, its path taken apart: `names` are the parts that stand for a pattern's '*'.
struct Call {
  OperatorApi& api;
  ServerRequest& request;
  OperatorGate* gate;  ///< may be null
  DecidingOperator by;
  std::vector<std::string> names;
  std::span<const std::string_view> secrets;  ///< as Route has them

  const std::string& who() const { return by.who; }
  std::string query(std::string_view name) const { return query_value(request.query, name).value_or(""); }
};

JsonDocument body_of(const Call& call) {
  auto document =
      parse_json(call.request.body, "The body", {JsonLimits{}.max_bytes, JsonLimits{}.max_depth, OddText::kKept});
  if (!document.IsObject()) throw invalid_input("The body must be a JSON object.");
  for (const auto& member : document.GetObject()) {
    const auto name = printable(view(member.name));
    if (const auto odd = find_odd_text(member.value, name))
      throw invalid_input(fmt::format("\"{}\" {}.", odd->where, odd->why));
  }
  return document;
}

/// A string of the body's; nothing else may stand there.
std::string only_string(const Call& call, std::string_view name) {
  const auto document = body_of(call);
  const auto value = find_string(document, name);
  if (!value || value->empty() || document.MemberCount() != 1)
    throw invalid_input(fmt::format("The body must be {{\"{}\": \"...\"}}.", name));
  return std::string(*value);
}

BodySecrets secrets_of(Call& call, AccountOwn* own = nullptr) {
  return {call.request.body, call.secrets, own};
}

Secret secret_of(Call& call, std::string_view name) {
  auto secret = std::move(secrets_of(call).of(name));
  if (secret.empty()) throw invalid_input(fmt::format("The body must be {{\"{}\": \"...\"}}.", name));
  return secret;
}

std::int64_t number(const std::string& text, std::string_view what, std::int64_t most) {
  std::int64_t value = 0;
  const auto end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || value < 1 || value > most)
    throw invalid_input(fmt::format("{} must be a whole number from 1 to {}.", what, most));
  return value;
}

std::int64_t limit_of(const Call& call) {
  const auto text = call.query("limit");
  return text.empty() ? 50 : number(text, "limit", kMaxListed);
}

std::vector<WriteState> states_of(std::string_view text) {
  std::vector<WriteState> states;
  while (!text.empty()) {
    const auto end = text.find(',');
    const std::string name(text.substr(0, end));
    const auto state = parse_write_state(name);
    if (!state) throw invalid_input(fmt::format("There is no state \"{}\".", printable(name)));
    states.push_back(*state);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return states;
}

std::string list_writes(const Call& call) {
  WriteFilter filter;
  filter.agent_id = call.query("agent");
  filter.service = call.query("service");
  filter.account_id = call.query("account");
  filter.states = states_of(call.query("state"));
  filter.needs_operator = call.query("needs_operator") == "1" || call.query("needs_person") == "1";
  filter.held_as_copy = call.query("held") == "1";
  filter.id_begins = call.query("id");
  filter.limit = limit_of(call);
  filter.before_write_id = call.query("before");
  return call.api.writes(filter);
}

/// The members that a body may have; any other is refused.
JsonDocument body_with(const Call& call, std::initializer_list<std::string_view> names) {
  auto document = body_of(call);
  for (const auto& member : document.GetObject()) {
    if (std::find(names.begin(), names.end(), view(member.name)) == names.end())
      throw invalid_input(fmt::format("The body has no member \"{}\".", printable(view(member.name))));
  }
  return document;
}

std::string resolve(const Call& call) {
  const auto body = body_with(call, {"decision", "expected_state"});
  const auto decision = resolution_of(text_member(body, "decision", true));
  if (!decision) throw invalid_input("\"decision\" must be \"resend\", \"discard\" or \"happened\".");
  return call.api.decide_outcome(call.names[0], *decision, expected_state(body), call.who());
}

/// A body need not be there.
std::string reason_of(const Call& call) {
  return call.request.body.empty() ? "" : text_member(body_with(call, {"reason"}), "reason", false);
}

/// A body need not be there.
std::int64_t grace_of(const Call& call) {
  if (call.request.body.empty()) return 0;
  const auto body = body_with(call, {"grace_seconds"});
  const auto seconds = find_int(body, "grace_seconds");
  constexpr auto most = AgentStore::kLongestGrace / 1000;
  if (!seconds || *seconds < 0 || *seconds > most)
    throw invalid_input(fmt::format("\"grace_seconds\" must be a whole number from 0 to {}, seven days.", most));
  return *seconds * 1000;
}

std::string accept(const Call& call) {
  const auto body = body_with(call, {"content_hash", "like"});
  return call.api.accept_write(call.names[0], text_member(body, "content_hash", true), like_member(body), call.by);
}

std::string reject(const Call& call) {
  return call.api.reject_write(call.names[0], text_member(body_with(call, {"reason"}), "reason", false), call.who());
}

std::string edit(const Call& call) {
  const auto body = body_with(call, {"content_hash", "arguments"});
  const auto* arguments = find_member(body, "arguments");
  if (!arguments || !arguments->IsObject())
    throw invalid_input("\"arguments\" must be an object with the parameters that change.");
  return call.api.edit_write(call.names[0], text_member(body, "content_hash", true), to_json(*arguments), call.by);
}

std::string rollback(const Call& call) {
  return call.api.rollback_write(call.names[0], flag_member(body_with(call, {"force"}), "force"), call.who());
}

std::string decide(const Call& call) {
  return call.api.decide(decisions_of(body_with(call, {"decision", "writes", "reason", "force", "held", "like"})),
                         call.by);
}

std::string backup(const Call& call) {
  const auto body = body_with(call, {"directory", "key_file", "replicas"});
  const auto* replicas = find_member(body, "replicas");
  return call.api.backup({text_member(body, "directory", true), text_member(body, "key_file", false),
                          !replicas || flag_member(body, "replicas")},
                         call.who());
}

std::string acknowledge(const Call& call) {
  const auto id = number(call.names[0], "An alert's id", std::int64_t{1} << 53);
  return call.api.acknowledge_alert(id, call.who());
}

std::string disconnect(const Call& call) {
  OperatorApi::Disconnect order;
  if (!call.request.body.empty()) {
    const auto document = body_of(call);
    order.account = find_string(document, "account").value_or("");
    order.force = find_bool(document, "force").value_or(false);
    // Out of range is refused below, and must not overflow before.
    if (const auto seconds = find_int(document, "wait_seconds"))
      order.wait_ms = *seconds < 0 || *seconds > kLongestWaitMs ? -1 : *seconds * 1000;
    const auto given = static_cast<rapidjson::SizeType>(find_string(document, "account").has_value()) +
                       static_cast<rapidjson::SizeType>(find_bool(document, "force").has_value()) +
                       static_cast<rapidjson::SizeType>(order.wait_ms.has_value());
    if (document.MemberCount() != given || order.wait_ms.value_or(0) < 0 || order.wait_ms.value_or(0) > kLongestWaitMs)
      throw invalid_input(R"(The body may hold {"account": "...", "force": true, "wait_seconds": 0 to 600}.)");
  }
  return call.api.disconnect(call.names[0], order, call.who());
}

std::string set_passphrase(Call& call) {
  auto secrets = secrets_of(call);
  return call.api.set_vault_passphrase(secrets.of("passphrase"), secrets.of("new_passphrase"), call.who());
}

std::string connect(Call& call) {
  AccountOwn own;
  auto secrets = secrets_of(call, &own);
  const auto& token = secrets.of("token");
  if (token.empty()) throw invalid_input(R"(The body must be {"token": "...", "account": "..."}.)");
  return call.api.connect(call.names[0], token, std::string(secrets.of("account").reveal()), own, call.who());
}

std::string begin_oauth(Call& call) {
  OperatorApi::OAuthBegin asked;
  auto given = secrets_of(call, &asked.own);
  asked.account = given.of("account").reveal();
  asked.profile = given.of("profile").reveal();
  asked.flow = given.of("flow").reveal();
  asked.client_id = given.of("client_id").reveal();
  asked.client_secret = std::move(given.of("client_secret"));
  return call.api.begin_oauth(call.names[0], std::move(asked), call.who());
}

OperatorGate& gate_of(const Call& call) {
  if (!call.gate) throw not_found("This host has no passphrase of its operator.");
  return *call.gate;
}

/// Who an operator says that he is.
std::string operator_of(BodySecrets& secrets) {
  return std::string(secrets.of("operator").reveal());
}

std::string set_operator_passphrase(Call& call) {
  auto secrets = secrets_of(call);
  return gate_of(call).set_passphrase(call.request, secrets.of("passphrase"), secrets.of("new_passphrase"),
                                      operator_of(secrets), call.who());
}

std::string give_grant(Call& call) {
  auto secrets = secrets_of(call);
  const auto& passphrase = secrets.of("passphrase");
  if (passphrase.empty()) throw invalid_input(R"(The body must be {"passphrase": "...", "operator": "..."}.)");
  return gate_of(call).give_grant(call.request, passphrase, operator_of(secrets));
}

/// Who may decide is decided by somebody who is known by name, whoever else may use the socket.
std::string add_operator(Call& call) {
  gate_of(call).must_be_known(call.by);
  return gate_of(call).add_operator(call.names[0], secret_of(call, "new_passphrase"), call.who());
}

std::string remove_operator(Call& call) {
  gate_of(call).must_be_known(call.by);
  return gate_of(call).remove_operator(call.names[0], call.who());
}

/// Stopping needs nothing, but for a cleanup: what it takes away would stay at the service.
std::string cancel_write(Call& call) {
  if (call.gate && call.names[0].starts_with(kCleanupPrefix)) call.gate->must_be_operator(call.request, call.by);
  return call.api.cancel_write(call.names[0], call.who());
}

/// kOperator: what lets things happen, or gives access. Stopping and looking need nothing besides the socket.
enum class Needs { kNothing, kOperator };

struct Route {
  std::string_view method, pattern;
  std::string (*run)(Call&);
  Needs needs = Needs::kNothing;
  std::span<const std::string_view> secrets{};  ///< the members of a body that has secrets, all of them
  /// What stands for '*' is worth something to others until it is used, and is told to no log.
  bool has_secret_names = false;
};

constexpr std::array<std::string_view, 1> kAddress{"address"}, kPassphrase{"passphrase"};
constexpr std::array<std::string_view, 1> kNewPassphrase{"new_passphrase"};
constexpr std::array<std::string_view, 2> kPassphrases{"passphrase", "new_passphrase"}, kToken{"token", "account"},
    kOperatorsOwn{"passphrase", "operator"};
constexpr std::array<std::string_view, 3> kOperatorsPassphrases{"passphrase", "new_passphrase", "operator"};
constexpr std::array<std::string_view, 5> kOAuth{"account", "profile", "flow", "client_id", "client_secret"};
constexpr std::span<const std::string_view> kNoSecrets;

constexpr std::array<Route, 66> kRoutes{{
    {"GET", "/v1/status", [](Call& c) { return c.api.status(); }},
    {"GET", "/v1/config", [](Call& c) { return c.api.config(); }},
    {"GET", "/v1/agents", [](Call& c) { return c.api.agents(); }},
    {"POST", "/v1/agents", [](Call& c) { return c.api.create_agent(only_string(c, "name"), c.who()); },
     Needs::kOperator},
    {"GET", "/v1/agents/*", [](Call& c) { return c.api.agent(c.names[0]); }},
    {"POST", "/v1/agents/*/rotate", [](Call& c) { return c.api.rotate_agent(c.names[0], grace_of(c), c.who()); },
     Needs::kOperator},
    {"POST", "/v1/agents/*/revoke", [](Call& c) { return c.api.revoke_agent(c.names[0], c.who()); }},
    {"POST", "/v1/agents/*/pause", [](Call& c) { return c.api.pause_agent(c.names[0], reason_of(c), c.who()); }},
    {"POST", "/v1/agents/*/resume", [](Call& c) { return c.api.resume_agent(c.names[0], c.who()); }, Needs::kOperator},
    {"POST", "/v1/pause", [](Call& c) { return c.api.pause_all(reason_of(c), c.who()); }},
    {"POST", "/v1/resume", [](Call& c) { return c.api.resume_all(c.who()); }, Needs::kOperator},
    {"GET", "/v1/sign-in", [](Call& c) { return c.api.sign_in(); }},
    {"GET", "/v1/sign-in/*", [](Call& c) { return c.api.sign_in_request(c.names[0]); }, Needs::kNothing, kNoSecrets,
     true},
    {"POST", "/v1/sign-in/*/accept",
     [](Call& c) { return c.api.accept_sign_in(c.names[0], only_string(c, "agent"), c.who()); }, Needs::kOperator,
     kNoSecrets, true},
    {"POST", "/v1/sign-in/*/reject", [](Call& c) { return c.api.reject_sign_in(c.names[0], c.who()); }, Needs::kNothing,
     kNoSecrets, true},
    {"POST", "/v1/sign-in/grants/*/end", [](Call& c) { return c.api.end_sign_in(c.names[0], c.who()); }},
    {"GET", "/v1/connections", [](Call& c) { return c.api.connections(); }},
    {"GET", "/v1/connections/*", [](Call& c) { return c.api.connection(c.names[0]); }},
    {"POST", "/v1/connections/*", [](Call& c) { return connect(c); }, Needs::kOperator, kToken},
    {"POST", "/v1/connections/*/oauth", [](Call& c) { return begin_oauth(c); }, Needs::kOperator, kOAuth},
    {"GET", "/v1/connections/*/oauth/*", [](Call& c) { return c.api.oauth_attempt(c.names[0], c.names[1]); }},
    {"POST", "/v1/connections/*/oauth/*/callback",
     [](Call& c) { return c.api.answer_oauth(c.names[0], c.names[1], secret_of(c, "address")); }, Needs::kOperator,
     kAddress},
    {"POST", "/v1/connections/*/oauth/*/cancel", [](Call& c) { return c.api.cancel_oauth(c.names[0], c.names[1]); }},
    {"POST", "/v1/connections/*/disconnect", [](Call& c) { return disconnect(c); }},
    {"GET", "/v1/receipts", [](Call& c) { return c.api.receipts(limit_of(c)); }},
    {"GET", "/v1/receipts/*", [](Call& c) { return c.api.receipt(c.names[0]); }},
    {"POST", "/v1/backup", [](Call& c) { return backup(c); }},
    {"POST", "/v1/replicas/*/verify",
     [](Call& c) { return c.api.verify_replica(c.names[0], replica_order_of(body_of(c)), c.who()); }},
    {"POST", "/v1/replicas/*/rebuild",
     [](Call& c) {
       return c.api.rebuild_replica(c.names[0], text_member(body_with(c, {"account"}), "account", false), c.who());
     }},
    {"GET", "/v1/vault", [](Call& c) { return c.api.vault(); }},
    {"POST", "/v1/vault/unlock", [](Call& c) { return c.api.unlock_vault(secret_of(c, "passphrase"), c.who()); },
     Needs::kNothing, kPassphrase},
    {"POST", "/v1/vault/rotate", [](Call& c) { return c.api.rotate_vault(secrets_of(c).of("passphrase"), c.who()); },
     Needs::kNothing, kPassphrase},
    {"POST", "/v1/vault/passphrase", [](Call& c) { return set_passphrase(c); }, Needs::kOperator, kPassphrases},
    {"POST", "/v1/vault/key-file",
     [](Call& c) { return c.api.use_vault_key_file(secret_of(c, "passphrase"), c.who()); }, Needs::kNothing,
     kPassphrase},
    {"GET", "/v1/sync/*", [](Call& c) { return c.api.sync_status(c.names[0]); }},
    {"POST", "/v1/sync/*", [](Call& c) { return c.api.sync_now(c.names[0], c.who()); }},
    {"GET", "/v1/writes", [](Call& c) { return list_writes(c); }},
    {"GET", "/v1/writes/*", [](Call& c) { return c.api.write(c.names[0]); }},
    {"POST", "/v1/writes/*/cancel", [](Call& c) { return cancel_write(c); }},
    {"POST", "/v1/writes/*/resolve", [](Call& c) { return resolve(c); }, Needs::kOperator},
    {"POST", "/v1/writes/*/accept", [](Call& c) { return accept(c); }, Needs::kOperator},
    {"POST", "/v1/writes/*/reject", [](Call& c) { return reject(c); }, Needs::kOperator},
    {"POST", "/v1/writes/*/edit", [](Call& c) { return edit(c); }, Needs::kOperator},
    {"POST", "/v1/writes/*/rollback", [](Call& c) { return rollback(c); }, Needs::kOperator},
    {"POST", "/v1/decisions", [](Call& c) { return decide(c); }, Needs::kOperator},
    {"GET", "/v1/operator", [](Call& c) { return gate_of(c).status(); }},
    {"POST", "/v1/operator/grant", [](Call& c) { return give_grant(c); }, Needs::kNothing, kOperatorsOwn},
    {"POST", "/v1/operator/passphrase", [](Call& c) { return set_operator_passphrase(c); }, Needs::kNothing,
     kOperatorsPassphrases},
    {"POST", "/v1/operators/*", [](Call& c) { return add_operator(c); }, Needs::kOperator, kNewPassphrase},
    {"POST", "/v1/operators/*/remove", [](Call& c) { return remove_operator(c); }, Needs::kOperator},
    {"GET", "/v1/standing-approvals", [](Call& c) { return c.api.standing_approvals(); }},
    {"POST", "/v1/standing-approvals/*/end", [](Call& c) { return c.api.end_standing_approval(c.names[0], c.who()); }},
    {"GET", "/v1/approvals/figures", [](Call& c) { return c.api.approval_figures(); }},
    {"GET", "/v1/limits", [](Call& c) { return c.api.limits(); }},
    {"GET", "/v1/plugins", [](Call& c) { return c.api.plugins(); }},
    {"POST", "/v1/plugins/verify", [](Call& c) { return c.api.verify_plugin(only_string(c, "file")); }},
    {"POST", "/v1/plugins/*/release", [](Call& c) { return c.api.release_plugin(c.names[0], c.who()); },
     Needs::kOperator},
    {"GET", "/v1/audit", [](Call& c) { return c.api.audit(audit_filter_of(c.request)); }},
    {"GET", "/v1/audit/export",
     [](Call& c) {
       const auto page = audit_page_of(c.request);
       return c.api.audit_export(page.after, page.limit);
     }},
    {"POST", "/v1/audit/verify", [](Call& c) { return c.api.verify_audit(); }},
    {"GET", "/v1/audit/receipts/*", [](Call& c) { return c.api.decision_receipt(c.names[0]); }},
    {"POST", "/v1/audit/rotate-key", [](Call& c) { return c.api.rotate_audit_key(); }, Needs::kOperator},
    {"GET", "/v1/webhook", [](Call& c) { return c.api.webhook(); }},
    {"POST", "/v1/webhook/test", [](Call& c) { return c.api.test_webhook(); }, Needs::kOperator},
    {"GET", "/v1/alerts", [](Call& c) { return c.api.alerts(c.query("all") != "1", limit_of(c)); }},
    {"POST", "/v1/alerts/*/acknowledge", [](Call& c) { return acknowledge(c); }, Needs::kOperator},
}};

/// Takes the first part off.
std::string_view next_part(std::string_view& path) {
  path.remove_prefix(1);
  const auto end = path.find('/');
  const auto part = path.substr(0, end);
  path.remove_prefix(part.size());
  return part;
}

/// The parts that stand for '*', decoded; nothing when the path does not fit.
std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> names;
  while (!pattern.empty() && !path.empty()) {
    const auto wanted = next_part(pattern), part = next_part(path);
    if (wanted == "*") {
      auto name = url_decode(part);
      if (!name || name->empty()) return std::nullopt;
      names.push_back(*std::move(name));
    } else if (wanted != part) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return names;
}

/// Without the advice that goes with an agent's errors: an operator can follow none of it.
ServerResponse failed(const Error& error) {
  ServerResponse response;
  response.status = error.type().facts().http_status;
  response.body = json_object([&](JsonWriter& out) {
    put_key(out, "error");
    out.StartObject();
    put(out, "type", error.type().name());
    put(out, "message", error.what());
    put(out, "retryable", error.retryable());
    if (!error.context_json().empty()) put_raw(out, "context", error.context_json());
    out.EndObject();
  });
  return response;
}

std::string run_route(const Route& route, Call& call) {
  if (call.gate && route.needs == Needs::kOperator) call.gate->must_be_operator(call.request, call.by);
  return route.run(call);
}

/// What is only asked for needs no row of its own.
std::string run_audited(const Route& route, Call& call, AuditLog* log) {
  const auto told = route.has_secret_names ? std::vector<std::string>() : call.names;
  AuditedAction action(log, call.request, route.pattern, told, call.who());
  try {
    auto body = run_route(route, call);
    action.done();
    return body;
  } catch (const Error& error) {
    action.refused(error.type().name());
    throw;
  }
}

ServerResponse answer(OperatorApi& api, ServerRequest& request, OperatorGate* gate, AuditLog* audit) {
  std::string allowed;
  for (const auto& route : kRoutes) {
    auto names = match(route.pattern, request.path);
    if (!names) continue;
    if (route.method != request.method) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    Call call{
        api,          request, gate, gate ? gate->asking(request) : operator_name(request.peer.uid), *std::move(names),
        route.secrets};
    ServerResponse response;
    response.body = run_audited(route, call, audit);
    return response;
  }
  if (allowed.empty()) throw not_found("There is no such path; docs/operator-api.md lists them.");
  auto response = error_response(405, ErrorCode::kInvalidInput, fmt::format("This path takes {}.", allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

/// Wipes a request's body however its handling ends.
struct Wiped {
  explicit Wiped(std::string& b) : body(b) {}
  ~Wiped() { sodium_memzero(body.data(), body.size()); }
  Wiped(const Wiped&) = delete;
  Wiped& operator=(const Wiped&) = delete;
  std::string& body;
};

}  // namespace

ServerResponse run_operator_request(OperatorApi& api, ServerRequest& request, OperatorGate* gate, AuditLog* audit) {
  const Wiped wiped(request.body);
  try {
    return answer(api, request, gate, audit);
  } catch (const Error& error) {
    return failed(error);
  } catch (const std::exception& error) {
    spdlog::error("{} {} failed: {}", request.method, request.path, error.what());
    return error_response(ErrorCode::kInternal, "The host could not do this. Its log says more.");
  }
}

}  // namespace krux
