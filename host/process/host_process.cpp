#include "host/process/host_process.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/audit/audit_log.hpp"
#include "core/audit/token_use.hpp"
#include "core/backup/backup.hpp"
#include "core/capability/capability_handler.hpp"
#include "core/definition/base_url.hpp"
#include "core/facts/fact_book.hpp"
#include "core/notify/webhook.hpp"
#include "core/oauth/token_refresher.hpp"
#include "core/policy/rules/rule_book.hpp"
#include "core/sign_in/client_documents.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/state/agent_history.hpp"
#include "core/state/agent_pauses.hpp"
#include "core/state/agent_state.hpp"
#include "core/state/agents.hpp"
#include "core/state/operator_secret.hpp"
#include "core/state/sessions.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/write_file.hpp"
#include "core/write/enhanced_write_executor.hpp"
#include "core/write/place.hpp"
#include "core/write/write_buffer.hpp"
#include "host/accounts/oauth_attempts.hpp"
#include "host/accounts/service_host.hpp"
#include "host/gateway/agent_gateway.hpp"
#include "host/http/http_server.hpp"
#include "host/metrics/host_figures.hpp"
#include "host/metrics/meters.hpp"
#include "host/operator/control_server.hpp"
#include "host/operator/operator_service.hpp"
#include "host/process/agent_side.hpp"
#include "host/process/config_check.hpp"
#include "host/process/found_plugins.hpp"
#include "host/process/ledger_check.hpp"
#include "host/process/part_options.hpp"
#include "host/process/rule_alerts.hpp"
#include "host/process/worker_lanes.hpp"
#include "host/runner/adapter_runners.hpp"
#include "host/web/web_page.hpp"

namespace krux {
namespace {

constexpr std::int64_t kRunnersMs = 400;

AdapterRunners::Options isolation_options(const Config& config) {
  AdapterRunners::Options options;
  for (const auto& [service, settings] : config.services) options.limits[service] = settings.runner;
  return options;
}

RunnerAlerts runner_alerts(AlertStore& alerts) {
  return {[&alerts](const std::string& kind, const std::string& service, const std::string& message) {
            alerts.raise({"critical", kind, service, "", "", message, true});
          },
          [&alerts](const std::string& kind, const std::string& service) { alerts.settle(kind, service); }};
}

/// Threads that were lost in calls into processes that have been ended come back at once.
bool comes_to_rest(const CallRunner& runner) {
  for (int i = 0; i < 50 && runner.lost() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return runner.lost() == 0;
}

}  // namespace

struct HostProcess::Parts final : HealthSource {
  Parts(Config c, Clock& k);
  Health health() override;
  ListenState listening();
  void begin_metrics();
  void listen();
  void listen_for_page();
  bool stop(std::int64_t limit_ms);
  void leave_place();
  static TokenRefresher::Hooks token_hooks(Parts& host);
  GatewayOptions gateway_options();

  const Config config;
  Clock& clock;
  const std::unique_ptr<Meters> meters;  ///< nullptr: nothing is counted
  std::atomic<bool> stopping{false};
  DataDirectory directory;
  GroupCommit store;
  AlertStore alerts;
  AuditLog audit;  ///< before anything is told to it
  TokenUse token_use;
  Place place;
  UploadStore uploads;
  Vault vault;
  AgentStore agents;
  SignInStore sign_in;
  SessionStore sessions;
  AgentState agent_state;
  AgentHistory history;
  OperatorSecret operator_secret;
  OperatorGate gate;
  ReceiptStore receipts;
  DefinitionSet definitions;
  DefinitionSetIndex index;
  PluginRegistry plugins;
  FactBook facts;
  RuleBook rules;
  AdapterRunners runners;
  AccountDirectory accounts;
  const std::shared_ptr<RecordWatches> record_watches = std::make_shared<RecordWatches>();
  std::shared_ptr<HttpTransport> transport;
  std::shared_ptr<HttpTransport> document_transport;  ///< of clients that sign in; nullptr: nobody can
  std::optional<ClientDocuments> documents;
  CallRunner runner;
  PluginFactory factory;
  WriteBuffer writes;
  ApprovalFiguresReader approvals;
  EnhancedWriteExecutor executor;
  SyncScheduler scheduler;
  TokenRefresher tokens;
  ServiceHost services;
  OAuthAttempts attempts;
  CapabilityHandler handler;
  const std::unique_ptr<Webhook> webhook;  ///< null: there is none
  OperatorService operators;
  AgentSide agent_side;
  AgentGateway gateway;
  Ledger::Observation write_changes;  ///< of which the gateway tells agents
  ControlServer control;
  std::optional<web::WebPage> page;
  Ledger::Observation page_changes, audited_changes, webhook_changes;
  ListenerFigures listeners;
  std::optional<MetricsPage> metrics_page;
  HttpServer operator_server;  ///< and health: an event loop that no agent has anything to do with
  HttpServer server;           ///< for agents
  std::optional<LedgerCheck> check;
  std::string ready;
  std::atomic<std::uint16_t> gateway_port{0}, health_port{0}, page_port{0};
};

HostProcess::Parts::Parts(Config c, Clock& k)
    : config(std::move(c)),
      clock(k),
      meters(config.metrics.enabled ? std::make_unique<Meters>() : nullptr),
      directory(without_unfinished_restore(config.data_dir)),
      store(directory.ledger(), kLedgerKind),
      alerts(store, clock),
      audit(store, clock, audit_options(config, directory, alerts)),
      token_use(audit, clock),
      place(store, clock, directory.path(), place_options(config)),
      uploads(store, clock, directory.uploads(),
              {config.uploads.bytes, config.uploads.agent_bytes, config.uploads.keep_ms}),
      vault(store, clock, vault_options(config, directory)),
      agents(store, clock),
      sign_in(store, clock, sign_in_times(config)),
      sessions(store, clock),
      agent_state(store, clock, sessions, config.state),
      history(store, clock),
      operator_secret(store, clock, passphrase_cost(config), host_user_name()),
      gate(operator_secret, alerts, clock, gate_options(config)),
      receipts(store, clock),
      definitions(config.definitions_dir, config.policies_dir),
      index(definitions),
      plugins(find_plugins(config, definitions, index, Finding::kToServe)),
      facts(history, accounts),
      rules(config.policies_dir, rule_subjects(definitions, facts)),
      runners(plugins, clock, isolation_options(config), runner_alerts(alerts)),
      transport(make_http_transport(transport_options(config))),
      document_transport(config.server.sign_in.enabled ? make_http_transport(document_transport_options(config))
                                                       : nullptr),
      runner(clock, worker_lanes(config, std::thread::hardware_concurrency())),
      factory(plugins, runner, clock, LogLimit::log_of(std::make_shared<LogLimit>(default_adapter_log())), 10'000,
              &runners),
      writes(store, clock),
      approvals(store, clock),
      executor(store, writes.ledger, accounts, runner, clock,
               executor_options(config, meters.get(), audit, [this] { place.advance_in_time(); })),
      scheduler(clock, runner,
                {.attention = [this](const AccountRef& account,
                                     const std::string& why) { return services.note_attention(account, why); },
                 .changed = [this](const AccountRef& account,
                                   const std::vector<std::string>& parts) { services.note_changed(account, parts); },
                 .ended = sync_audit(audit)}),
      tokens(vault, TokenClient(transport, clock), clock, token_hooks(*this)),
      services({config,
                clock,
                directory,
                vault,
                alerts,
                receipts,
                definitions,
                plugins,
                accounts,
                runner,
                factory,
                scheduler,
                writes,
                executor,
                tokens,
                transport,
                uploads,
                record_watches,
                token_use,
                meters ? &meters->registry : nullptr,
                meters ? &meters->adapters : nullptr,
                meters ? &meters->tokens : nullptr}),
      attempts(clock,
               [this](const OAuthPlan& plan, const std::string& redirect_uri, const Secret& code,
                      const Secret& verifier) { return services.connect_by_code(plan, redirect_uri, code, verifier); }),
      handler(accounts, runner, writes, {agents, sessions, alerts}, clock,
              handler_options(config, {uploads, rules, history, agent_state, audit, meters.get()})),
      webhook(make_webhook(config, {store, alerts, audit, clock, transport})),
      operators({config,    clock,     agents,   sign_in, sessions,     vault,
                 alerts,    receipts,  plugins,  runners, accounts,     writes,
                 scheduler, services,  attempts, handler, index,        [this] { return listening(); },
                 stopping,  approvals, audit,    store,   webhook.get()}),
      agent_side(agents, sessions, handler, uploads, *record_watches),
      gateway(agent_side, clock, gateway_options()),
      control(operators, {.gate = &gate, .audit = &audit}),
      operator_server(1, HttpServer::Begin::kLater),
      server(2, HttpServer::Begin::kLater, nullptr, HttpServer::Handlers::kTakeTime) {
  if (!place.copy_reason().empty())
    spdlog::warn("{} {} writes are held: kruxos held list", place.copy_reason(), place.held());
  log_refusals(definitions, plugins, alerts);
  tell_of_rules(rules, alerts);
  check_names(config, {definitions.all(), known_services(config), plugins});
  if (meters) begin_metrics();
  accounts.on_change(gateway.on_capabilities_changed());
  agents.when_key_ends(gateway.on_keys_changed());
  agents.pauses().when_changed([this] { executor.wake(), audit.wake(); });
  sign_in.when_tokens_end(gateway.on_keys_changed());
  write_changes = writes.ledger.observe(gateway.on_write_changed());
  agent_state.kept.when_shared_changed([this, tell = gateway.on_state_changed()](const StateChange& change) {
    const auto agent = agents.find(change.agent_id);
    tell(change, agent ? agent->name : change.agent_id);
  });
  audited_changes = writes.ledger.observe([this](const WriteRecord&) { audit.wake(); });
  if (webhook) webhook_changes = writes.ledger.observe([this](const WriteRecord& write) { webhook->changed(write); });
  writes.ledger.ask_terms(handler.terms());
  try {
    // First of all: a host that cannot listen must not have begun to sync and to send.
    listen();
    tokens.start();
    services.start();
    executor.start();
    writes.transactions.start();
    if (webhook) webhook->start();
    operator_server.serve();
    server.serve();
    check.emplace(directory.ledger(), alerts);
  } catch (...) {
    // Syncs run already, and what they tell goes to members that would be gone before them.
    stop(0);
    throw;
  }
}

TokenRefresher::Hooks HostProcess::Parts::token_hooks(Parts& host) {
  TokenRefresher::Hooks hooks;
  hooks.renewed = [&host](const AccountRef& account) { host.services.token_renewed(account); };
  hooks.resume = [&host](const AccountRef& account) { host.services.resume_writes(account); };
  hooks.refused = [&host](const AccountRef& account, const std::string& why) {
    host.services.token_refused(account, why);
  };
  hooks.ended = [&host](const AccountRef& account, const std::string& why) { host.services.token_ended(account, why); };
  hooks.count = [&host](const AccountRef& account, const char* outcome) {
    host.token_use.renewal(account.service, account.account_id, outcome);
    if (host.meters) host.meters->tokens.refreshed(account.service, account.account_id, outcome);
  };
  return hooks;
}

GatewayOptions HostProcess::Parts::gateway_options() {
  GatewayOptions options{
      {}, meters ? &meters->agents : nullptr, config.server.mcp_labels_key, {}, config.server.allowed_origins};
  if (document_transport) {
    documents.emplace(document_transport, clock);
    options.sign_in = {&sign_in, &*documents};
  }
  return options;
}

void HostProcess::Parts::begin_metrics() {
  writes.ledger.count_into(&meters->writes);
  sign_in.count_into(&meters->sign_in);
  metrics_page.emplace(meters->registry, host_figures({clock, store, vault, agents, sign_in, plugins, runners, accounts,
                                                       runner, writes, scheduler, services, listeners, webhook.get()}));
}

/// On the operator's event loop, and the loopback alone.
void HostProcess::Parts::listen_for_page() {
  if (!config.server.web_port) return;
  page.emplace(web::WebPage::Parts{
      operators, operator_secret, clock, {.idle_ms = config.operators.grant_ms, .most = web::WebSessions::kMost}});
  page_changes = writes.ledger.observe(page->on_write_changed());
  const auto bound = operator_server.listen_tcp("127.0.0.1", *config.server.web_port, page->handler(),
                                                operator_limits(), std::nullopt, page->admission());
  page_port = bound.port;
  listeners["page"] = bound.figures;
  spdlog::info("the operator's page: http://127.0.0.1:{}/", bound.port);
}

void HostProcess::Parts::listen() {
  std::optional<TlsFiles> tls;
  if (!config.server.tls_certificate.empty()) tls = TlsFiles{config.server.tls_certificate, config.server.tls_key};
  listeners["operator"] =
      operator_server.listen_unix(directory.control_socket(), control.handler(), operator_limits()).figures;
  std::function<void(Respond)> metrics_handler;
  if (metrics_page) metrics_handler = [this](const Respond& respond) { metrics_page->give(respond); };
  auto health_limits = operator_limits();
  health_limits.body_bytes = 1024;  // nothing is asked with a body
  const auto health_bound = operator_server.listen_tcp(
      "127.0.0.1", config.server.health_port, health_handler(*this, std::move(metrics_handler)), health_limits);
  health_port = health_bound.port;
  listen_for_page();
  if (page && config.operators.invite_to_page) gateway.set_page_port(page_port);
  listeners["health"] = health_bound.figures;
  // A listener knows whether it is bound to the loopback only once it is bound; the address decides, so ask it first.
  const bool loopback = config.server.host == "localhost" || is_loopback(config.server.host);
  const bool is_tls = tls.has_value();
  const auto bound = server.listen_tcp(config.server.host, config.server.port, gateway.handler(loopback, is_tls),
                                       gateway_limits(config), tls, gateway.admission(loopback, is_tls));
  gateway_port = bound.port;
  listeners["gateway"] = bound.figures;
  write_file_atomically(directory.ports_file(),
                        fmt::format("{{\"gateway\":{},\"health\":{}{}}}\n", bound.port, health_port.load(),
                                    page ? fmt::format(",\"page\":{}", page_port.load()) : ""));
  const auto host =
      config.server.host.find(':') == std::string::npos ? config.server.host : "[" + config.server.host + "]";
  if (documents) gateway.set_origin(public_origin(config, bound.port));
  ready = fmt::format("ready {}://{}:{} health http://127.0.0.1:{} control {}", tls ? "https" : "http", host,
                      bound.port, health_port.load(), directory.control_socket().string());
}

ListenState HostProcess::Parts::listening() {
  const bool failing = store.failing();
  const auto counts = writes.ledger.counts();
  // An approval is what is asked for day by day.
  const bool undecided = counts.needs_operator > counts.pending_approval || counts.held_as_copy > 0;
  const bool attention = vault.locked() || undecided || alerts.any_critical();
  const char* status = failing ? "critical" : attention ? "degraded" : "ok";
  return {gateway_port, health_port, page_port, !failing && !stopping, status};
}

Health HostProcess::Parts::health() {
  const auto counts = writes.ledger.counts();
  const bool failing = store.failing();
  const auto state = listening();
  Health health;
  health.status = state.status;
  health.ready = state.ready;
  health.json = fmt::format(
      R"({{"status":"{}","ready":{},"ledger":"{}","vault":"{}","writes_waiting_for_a_person":{},"writes_held_as_copy":{},"accounts":{}}})",
      state.status, state.ready, failing ? "commits fail: see the log" : "ok", vault.locked() ? "locked" : "open",
      counts.needs_operator, counts.held_as_copy, accounts.accounts().size());
  return health;
}

HostProcess::HostProcess(Config config, Clock& clock) : parts_(std::make_unique<Parts>(std::move(config), clock)) {}

HostProcess::~HostProcess() {
  stop(5'000);
}

const std::string& HostProcess::ready_line() const {
  return parts_->ready;
}

void HostProcess::reload() {
  parts_->definitions.reload();
  parts_->alerts.settle("definition_refused");
  for (const auto& problem : parts_->definitions.problems()) {
    parts_->alerts.raise({"warning", "definition_refused", problem.file.stem().string(), "", "", problem.reason, true});
  }
  parts_->rules.reload(rule_subjects(parts_->definitions, parts_->facts));
  tell_of_rules(parts_->rules, parts_->alerts);
  parts_->services.refresh_definitions();
  spdlog::info("definitions reloaded");
}

bool HostProcess::stop(std::int64_t limit_ms) {
  return parts_->stop(limit_ms);
}

bool HostProcess::Parts::stop(std::int64_t limit_ms) {
  if (stopping.exchange(true)) return runner.lost() == 0;
  check.reset();
  writes.settled.end_waiting();
  operators.stop_waiting();
  services.stop();
  attempts.stop();
  tokens.stop(limit_ms / 10);
  if (page) page->stop();
  if (webhook) webhook->stop();
  server.stop(limit_ms / 5);
  operator_server.stop(limit_ms / 5);
  scheduler.stop();
  writes.transactions.stop();
  executor.stop(limit_ms / 2);
  leave_place();
  transport->stop();
  if (document_transport) document_transport->stop();
  tokens.join();
  runner.stop();
  token_use.tell();
  audit.settle();  // where an adapter hangs the process ends without its destructors
  const bool quiet = runners.stop(kRunnersMs);
  return comes_to_rest(runner) && quiet;
}

/// A copy that was made while the host ran is behind from now on, also one in the very same place.
void HostProcess::Parts::leave_place() {
  try {
    if (!store.failing()) place.advance();
  } catch (const std::exception& error) {
    spdlog::warn("the counter of this data directory could not go on: {}", error.what());
  }
}

void check_configuration(const Config& config) {
  check_files(config);
  check_places_outside(config.places_dir, config.data_dir);
  DefinitionSet definitions(config.definitions_dir, config.policies_dir);
  const DefinitionSetIndex index(definitions);
  const auto plugins = find_plugins(config, definitions, index, Finding::kToCheck);
  for (const auto& plugin : plugins.all()) {
    if (plugin.origin == PluginInfo::Origin::kBundle && plugin.state == PluginInfo::State::kRefused)
      throw ConfigError("bundle refused: " + plugin.reason);
  }
  // Only now: the policy of a bundle's service acts on nothing before the bundle is there.
  for (const auto& problem : definitions.problems()) throw ConfigError(problem.reason);
  for (const auto& problem : RuleBook(config.policies_dir, rule_subjects(definitions, unanswered_facts())).problems())
    throw ConfigError(problem.reason);
  check_names(config, {definitions.all(), known_services(config), plugins});
}

}  // namespace krux
