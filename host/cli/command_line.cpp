#include "host/cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <functional>

#include "core/state/agents.hpp"
#include "core/util/clock.hpp"
#include "core/util/durations.hpp"
#include "core/util/user_directories.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/mcp_bridge.hpp"
#include "host/cli/parsed.hpp"
#include "host/cli/passphrase_input.hpp"

namespace krux::cli {
namespace {

constexpr int kTimeoutSeconds = 120;

std::string default_data_dir() {
  if (const char* given = std::getenv("KRUXOS_DATA_DIR"); given && *given) return given;
  return data_dir_for_commands().string();
}

void add_bundle_commands(CLI::App* plugin, Parsed& p) {
  const auto with = [&p](int (*command)(const Session&, const BundleArguments&)) {
    return [&p, command](const Session& s) {
      auto arguments = p.bundle;
      arguments.yes = p.yes;
      return command(s, arguments);
    };
  };
  auto* install =
      add(plugin, "install", "Install a bundle, or a new version: shows what it asks for", p, with(install_bundle));
  install->add_option("DIR", p.bundle.bundle, "The bundle's directory, with its manifest.yaml")->required();
  install->add_option("--definitions", p.bundle.definitions, "Directory of the other services' definitions");
  auto* remove = add(plugin, "remove", "Remove an installed bundle", p, with(remove_bundle));
  remove->add_option("SERVICE", p.bundle.bundle, "Which service's")->required();
  remove->add_flag("--force", p.bundle.force, "Even if accounts are connected or writes have not ended");
  for (auto* command : {install, remove}) {
    command->add_flag("-y,--yes", p.yes, "Do not ask");
    command->add_option("--bundles-dir", p.bundle.bundles_dir, "The host's bundles_dir, where it does not run");
  }
}

void add_host_commands(CLI::App& app, Parsed& p) {
  add(&app, "status", "The host, its services and what waits", p, show_status);
  add(group(app, "config", "The host's configuration"), "show", "Every value and where it comes from", p, show_config);
  auto* plugin = group(app, "plugin", "Adapters");
  add(plugin, "list", "Those that the host found, and why it refused some", p, list_plugins);
  add(plugin, "release", "Call one again that hung and was quarantined", p,
      [&p](const Session& s) { return release_plugin(s, p.service); })
      ->add_option("SERVICE", p.service, "Which service's adapter")
      ->required();
  add_bundle_commands(plugin, p);
  auto* verify = add(plugin, "verify", "Make all checks on a file, without a running host", p,
                     [&p](const Session& s) { return verify_plugin(s, p.file, p.definitions); });
  verify->add_option("FILE", p.file, "The adapter's shared library")->required();
  verify->add_option("--definitions", p.definitions, "Directory of the services' definitions");
  auto* webhook = group(app, "webhook", "What tells your own programs of what waits for you");
  add(webhook, "show", "Where it goes, and whether it works", p, show_webhook);
  add(webhook, "test", "Deliver a test now", p, test_webhook);
  auto* alerts = add(&app, "alerts", "What you must hear of", p, [&p](const Session& s) {
    return p.alert > 0 ? acknowledge_alert(s, p.alert) : list_alerts(s, p.all);
  });
  alerts->add_flag("--all", p.all, "Acknowledged ones too");
  alerts->add_option("--acknowledge", p.alert, "Mark this one as seen")->type_name("ID")->check(CLI::PositiveNumber);
}

void add_policy_commands(CLI::App& app, Parsed& p) {
  auto* policy = group(app, "policy", "What agents are held to, by services' policies and by rules");
  const auto with = [&p](int (*command)(const Session&, const PolicyArguments&)) {
    return [&p, command](const Session& s) { return command(s, p.policy); };
  };
  auto* validate =
      add(policy, "validate", "Read a directory of policies as the host would", p, with(validate_policies));
  auto* show = add(policy, "show", "The rules, in words", p, with(show_policies));
  show->add_option("--agent", p.policy.agent, "Those for this agent")->type_name("NAME");
  auto* check = add(policy, "check", "What is decided about a call, and by which rule", p, with(check_policies));
  check->add_option("CAPABILITY", p.policy.capability, "Which one is called")->required();
  check->add_option("--agent", p.policy.agent, "Who calls it")->type_name("NAME")->required();
  check->add_option("--arguments", p.policy.arguments, "One JSON object, with ids as the adapter resolves them")
      ->type_name("JSON");
  check->add_option("--at", p.policy.at, "When, instead of now: 2026-11-21T09:30:00Z")->type_name("TIME");
  auto* analyze =
      add(policy, "analyze", "Rules that do nothing; or whether a change permits more", p, with(analyze_policies));
  auto* before = analyze->add_option("--old", p.policy.before, "Directory of the policies before")->type_name("DIR");
  auto* now = analyze->add_option("--new", p.policy.now, "Directory of the policies that are to replace them")
                  ->type_name("DIR")
                  ->needs(before);
  before->needs(now);
  auto* simulate = add(policy, "simulate", "What it would have decided about what the audit log tells of", p,
                       with(simulate_policies));
  simulate->add_option("--agent", p.policy.agent, "About this agent's calls")->type_name("NAME");
  simulate->add_option("--since", p.policy.since, "From then on: 2026-11-21T09:30:00Z")->type_name("TIME");
  simulate->add_option("--until", p.policy.until, "Before then")->type_name("TIME");
  for (auto* command : {validate, show, check, analyze, simulate}) {
    const bool positional = command == validate || command == analyze || command == simulate;
    auto* directory = command->add_option(positional ? "DIR" : "--policies", p.policy.policies,
                                          "Directory of the policies; the running host's unless given");
    if (command == analyze) directory->excludes(before);
    command->add_option("--definitions", p.policy.definitions, "Directory of the services' definitions");
  }
}

void add_audit_commands(CLI::App& app, Parsed& p) {
  auto* audit = group(app, "audit", "What was asked for, who decided and by which rule, what became of it");
  const auto with = [&p](int (*command)(const Session&, const AuditArguments&)) {
    return [&p, command](const Session& s) { return command(s, p.audit); };
  };
  auto* query = add(audit, "query", "The newest rows that fit", p, with(query_audit));
  query->add_option("--agent", p.audit.agent, "About this agent")->type_name("NAME");
  query->add_option("--service", p.audit.service, "About this service");
  query->add_option("--write", p.audit.write, "About this write")->type_name("ID");
  query->add_option("--kind", p.audit.kind, "Of this kind: write, write.accept, ...");
  query->add_option("--since", p.audit.since, "From then on: 2026-11-21T09:30:00Z")->type_name("TIME");
  query->add_option("--until", p.audit.until, "Before then")->type_name("TIME");
  query->add_option("--limit", p.audit.limit, "How many at most")->check(CLI::Range(1, 1000));
  auto* verify = add(audit, "verify", "Whether every row is as it was written", p, with(verify_audit_log));
  auto* file = verify->add_option("--file", p.audit.file, "This audit.db, without a running host");
  verify->add_option("--anchors", p.audit.anchors, "With --file: the file with the log's signed heads")->needs(file);
  verify->add_option("--key", p.audit.key, "With --file: the public key that must be in force")->needs(file);
  add(audit, "key", "The public key by which the log and receipts are signed", p, show_audit_key);
  add(audit, "rotate-key", "Sign by another key from here on", p, [&p](const Session& s) {
    return rotate_audit_key(s, p.yes);
  })->add_flag("-y,--yes", p.yes, "Do not ask");
  add(audit, "export", "All rows with their hashes, one JSON object a line", p, with(export_audit))
      ->add_option("--after", p.audit.after, "Those behind this row")
      ->type_name("ROW")
      ->check(CLI::NonNegativeNumber);
}

void add_receipt_commands(CLI::App& app, Parsed& p) {
  auto* receipt = group(app, "receipt", "Signed receipts of what was decided about a write");
  auto* get = add(receipt, "get", "What the audit log says of a write, signed", p,
                  [&p](const Session& s) { return get_receipt(s, p.decision_receipt); });
  get->add_option("ID", p.decision_receipt.write, "The write's id")->required();
  get->add_option("--output", p.decision_receipt.file, "Into this file")->type_name("FILE");
  auto* verify = add(receipt, "verify", "Check one, without a running host", p,
                     [&p](const Session& s) { return verify_receipt(s, p.decision_receipt); });
  verify->add_option("FILE", p.decision_receipt.file, "The receipt")->required();
  verify->add_option("--key", p.decision_receipt.key, "The public key that must have signed it");
}

void add_agent_commands(CLI::App& app, Parsed& p) {
  auto* agent = group(app, "agent", "Agents and their keys");
  const auto one = [&](const char* name, const char* help, std::function<int(const Session&)> run) {
    auto* command = add(agent, name, help, p, std::move(run));
    command->add_option("NAME", p.name, "The agent's name or id")->required();
    return command;
  };
  one("create", "Make an agent; prints its key", [&p](const Session& s) { return create_agent(s, p.name); });
  add(agent, "list", "All agents", p, list_agents);
  one("show", "One agent", [&p](const Session& s) { return show_agent(s, p.name); });
  auto* rotate = one("rotate", "Replace its key; prints the new one",
                     [&p](const Session& s) { return rotate_agent(s, p.name, p.grace_minutes, p.yes); });
  rotate->add_flag("-y,--yes", p.yes, "Do not ask");
  add_time(rotate, "--grace", p.grace_minutes, "The old key is good for so long too (30min, 2h, up to 7d)",
           AgentStore::kLongestGrace / kMinute);
  const auto one_or_all = [&](const char* name, const char* help, int (*run)(const Session&, const PauseArguments&)) {
    auto* command = add(agent, name, help, p, [&p, run](const Session& s) { return run(s, p.pause); });
    auto* named = command->add_option("NAME", p.pause.agent, "The agent's name or id");
    command->add_flag("--all", p.pause.all, "All agents, also those that are made later")->excludes(named);
    return command;
  };
  one_or_all("pause", "Refuse its calls and hold its writes", pause_agents)
      ->add_option("--reason", p.pause.reason, "Why; the agent is told")
      ->type_name("TEXT");
  one_or_all("resume", "Let it go on; what is due goes out", resume_agents);
  one("revoke", "Shut it out", [&p](const Session& s) {
    return revoke_agent(s, p.name, p.yes);
  })->add_flag("-y,--yes", p.yes, "Do not ask");
}

void add_sign_in_commands(CLI::App& app, Parsed& p) {
  auto* sign_in = group(app, "sign-in", "Programs that sign in at the gateway instead of sending a key");
  add(sign_in, "list", "Which wait for you, and which have signed in", p, list_sign_in);
  auto* accept = add(sign_in, "accept", "Let one in: it becomes an agent", p,
                     [&p](const Session& s) { return accept_sign_in(s, p.id, p.name, p.yes); });
  accept->add_option("CODE", p.id, "The code that its page shows")->required();
  accept->add_option("--agent", p.name, "Which agent, by name or id; it is made where there is none")->required();
  accept->add_flag("-y,--yes", p.yes, "Do not ask");
  add(sign_in, "reject", "Refuse one", p, [&p](const Session& s) { return reject_sign_in(s, p.id); })
      ->add_option("CODE", p.id, "The code that its page shows, or the request's id; `sign-in list` shows the ids")
      ->required();
  auto* end = add(sign_in, "end", "Shut one out", p, [&p](const Session& s) { return end_sign_in(s, p.id, p.yes); });
  end->add_option("ID", p.id, "The grant's id; `sign-in list` shows them")->required();
  end->add_flag("-y,--yes", p.yes, "Do not ask");
}

void add_mcp_command(CLI::App& app, Parsed& p) {
  auto* mcp =
      add(&app, "mcp", "For agents' programs that start one: the Model Context Protocol over standard input and output",
          p, [&p](const Session& s) { return run_mcp_bridge(s, p.mcp); });
  mcp->add_option("--key-file", p.mcp.key_file, "A file with the agent's key; without it the key is in KRUXOS_API_KEY")
      ->type_name("FILE");
  mcp->add_option("--tools", p.mcp.tools, "Which are shown: core (unless given), all, or names of services")
      ->type_name("PROFILE");
  mcp->add_option("--url", p.mcp.url, "Where the gateway listens on this machine")
      ->type_name("URL")
      ->capture_default_str();
}

void add_service_commands(CLI::App& app, Parsed& p) {
  auto* connect = add(&app, "connect", "Connect an account: in the browser, or with a token from standard input", p,
                      [&p](const Session& s) { return connect_service(s, p.connect); });
  connect->add_option("SERVICE", p.connect.service, "Which service; `status` shows all connections")->required();
  connect->add_option("--account", p.connect.account, "The name that the account gets here");
  connect->add_option("--profile", p.connect.profile, "For how much it is connected");
  connect->add_option("--flow", p.connect.flow, "Which kind of app is used");
  connect->add_option("--client-id", p.connect.client_id, "Of the app; its secret is read from KRUXOS_CLIENT_SECRET");
  connect->add_option("--base-url", p.connect.base_url, "The account's own address, where its service has several");
  connect->add_option("--set", p.connect.settings, "A setting of the account, for each one")->type_name("NAME=VALUE");
  auto* token = connect->add_flag("--token", p.connect.token, "Paste a token instead of using the browser");
  connect->add_flag("--no-browser", p.connect.no_browser, "Show the address, but open no browser");
  connect->add_flag("--help-setup", p.connect.setup, "Show how to make the app")->excludes(token);
  auto* sync =
      add(&app, "sync", "Sync a service now", p, [&p](const Session& s) { return sync_service(s, p.service, p.wait); });
  sync->add_option("SERVICE", p.service, "Which service")->required();
  sync->add_flag("--wait", p.wait, "Until it is done, with its progress");
}

int run_disconnect(const Session& session, const Parsed& p) {
  if (!p.receipt.empty()) return show_receipt(session, p.receipt);
  if (p.receipts) return list_receipts(session);
  if (p.disconnect.service.empty()) throw CliError(kUsage, "Which service? kruxos connect status shows all.");
  auto arguments = p.disconnect;
  arguments.yes = p.yes;
  return disconnect_service(session, arguments);
}

void add_disconnect_command(CLI::App& app, Parsed& p) {
  auto* disconnect = add(&app, "disconnect", "Disconnect an account, with a receipt", p,
                         [&p](const Session& s) { return run_disconnect(s, p); });
  disconnect->add_option("SERVICE", p.disconnect.service, "Which service");
  disconnect->add_option("ACCOUNT", p.disconnect.account, "Its account, where there are several: name or id");
  disconnect->add_flag(
      "--force", p.disconnect.force,
      "Leave writes of unknown outcome to a person, and a token that cannot be revoked to the service");
  disconnect->add_option("--wait", p.disconnect.wait_seconds, "Seconds that writes under way are waited for")
      ->check(CLI::Range(0, 600));
  disconnect->add_flag("-y,--yes", p.yes, "Do not ask");
  auto* receipt = disconnect->add_option("--receipt", p.receipt, "Show this receipt")->type_name("ID");
  disconnect->add_flag("--receipts", p.receipts, "Show all receipts")->excludes(receipt);
}

void add_backup_commands(CLI::App& app, Parsed& p) {
  auto* backup = add(&app, "backup", "Copy the running host's data directory, consistent and checked", p,
                     [&p](const Session& s) { return make_backup_of_host(s, p.backup); });
  backup->add_option("DIR", p.backup.directory, "A directory that is to be made")->required();
  backup->add_option("--with-key", p.backup.key_file, "Copy the vault's key into this file, which is to be made")
      ->type_name("FILE");
  backup->add_flag("--without-replicas", p.backup.without_replicas,
                   "Leave out the local copies of the services' data, which are synced anew then");
  auto* restore = add(&app, "restore", "Put a backup into an empty data directory, which then starts held", p,
                      [&p](const Session& s) { return restore_data_directory(s, p.file); });
  restore->add_option("DIR", p.file, "The backup")->required();
}

/// By the option, else by the environment.
std::string operator_named(const Parsed& p) {
  const char* given = std::getenv("KRUXOS_OPERATOR");
  return p.operator_name.empty() && given ? given : p.operator_name;
}

void add_operator_commands(CLI::App& app, Parsed& p) {
  auto* group_of = group(app, "operator", "By what you are told from the agents that run as your user");
  add(group_of, "list", "Who decides on this host", p, list_operators);
  add(group_of, "add", "Add another one, who sets a passphrase of his own", p,
      [&p](const Session& s) { return add_operator(s, p.name); })
      ->add_option("NAME", p.name, "Up to 32 small letters, digits and . _ -")
      ->required();
  auto* remove = add(group_of, "remove", "Remove one: what he has begun ends at once", p,
                     [&p](const Session& s) { return remove_operator(s, p.name, p.yes); });
  remove->add_option("NAME", p.name, "Whom")->required();
  remove->add_flag("-y,--yes", p.yes, "Do not ask");
  add(group_of, "status", "Whether a passphrase is set, and what needs it", p, show_operator);
  add(group_of, "set-passphrase", "Set the passphrase that decisions need, or another one (--operator: whose)", p,
      [&p](const Session& s) { return set_operator_passphrase(s, p.forgotten); })
      ->add_flag("--forgotten", p.forgotten, "Without the present one: for root, where the host runs as another user");
}

void add_vault_commands(CLI::App& app, Parsed& p) {
  auto* vault = group(app, "vault", "Where the services' tokens are kept");
  add(vault, "status", "How it is protected, and whether it is open", p, show_vault);
  add(vault, "unlock", "Open it: the passphrase is read from standard input", p, unlock_vault);
  add(vault, "rotate", "Make a new key and encrypt every token with it", p, rotate_vault);
  add(vault, "passphrase", "Protect it by a passphrase instead of the key file, or change the passphrase", p,
      [&p](const Session& s) { return p.remove ? use_vault_key_file(s) : set_vault_passphrase(s); })
      ->add_flag("--remove", p.remove, "Go back to the key file");
}

void add_adapter_commands(CLI::App& app, Parsed& p) {
  auto* adapter = group(app, "adapter", "For authors of adapters");
  auto* create = add(adapter, "new", "Begin one: files that build and pass their tests", p,
                     [&p](const Session& s) { return new_adapter(s, p.scaffold); });
  create->add_option("NAME", p.scaffold.name, "The service: small letters, digits and _")->required();
  create->add_option("--dir", p.scaffold.directory, "Where to; NAME in the current directory unless given");
  create->add_option("--prefix", p.scaffold.prefix, "Of its capabilities; NAME unless given");
  create->add_option("--display-name", p.scaffold.display_name, "For people; made of NAME unless given");
  auto* wrap =
      add(adapter, "wrap", "Make the tools of an MCP server capabilities: SERVICE ADDRESS, or SERVICE -- PROGRAM", p,
          [&p](const Session& s) { return wrap_server(s, p.wrapping->remaining()); });
  wrap->fallthrough(false)->prefix_command();
  wrap->set_help_flag();
  p.wrapping = wrap;
  auto* certify =
      add(adapter, "certify", "Try an adapter out against its author's fake service, without a running host", p,
          [&p](const Session& s) { return certify_adapter(s, p.certify); });
  certify->add_option("FILE", p.certify.file, "The bundle's manifest.yaml, its directory, or one with several bundles");
  certify->add_option("--only", p.certify.only, "Only this check, or group of checks")->type_name("ID")->expected(1);
  certify->get_option("--only")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  certify->add_option("--output", p.certify.output, "Where the certificate goes, instead of beside the manifest");
  certify->add_option("--time-limit", p.certify.time_limit_s, "Seconds for everything")->check(CLI::Range(10, 3600));
  certify->add_flag("--list", p.certify.list, "All checks");
}

void add_completion(CLI::App& app, Parsed& p) {
  auto* completion = group(app, "completion", "A script for your shell");
  add(completion, "bash", "Put it into ~/.local/share/bash-completion/completions/kruxos", p, [](const Session& s) {
    s.console.out() << kBashCompletion;
    return static_cast<int>(kOk);
  });
}

int run(const Parsed& parsed, Console& console, const VerifyPlugin& verify, const CertifyAdapter& certify,
        const InspectBundle& inspect_bundle) {
  const auto data_dir = parsed.data_dir.empty() ? default_data_dir() : parsed.data_dir;
  const auto socket =
      parsed.socket.empty() ? std::filesystem::path(data_dir) / "control.sock" : std::filesystem::path(parsed.socket);
  const auto ask = [&](const std::string& name) { return operators_passphrase(console, parsed.passphrase_file, name); };
  const Session session{console,        ControlClient(socket, ask, kTimeoutSeconds, operator_named(parsed)),
                        parsed.json,    SystemClock().wall_ms(),
                        verify,         certify,
                        inspect_bundle, parsed.socket.empty() ? data_dir : ""};
  try {
    const int code = parsed.run(session);
    console.out() << std::flush;
    return code;
  } catch (const CliError& error) {
    console.progress("");
    if (parsed.json && !error.json().empty()) console.out() << error.json() << std::endl;
    console.err() << styled(console, "kruxos: ", Style::kBad) << error.what() << std::endl;
    return error.code();
  } catch (const std::exception& error) {
    console.err() << styled(console, "kruxos: ", Style::kBad) << error.what() << std::endl;
    return kFailed;
  }
}

}  // namespace

int run_command(const std::vector<std::string>& arguments, Console& console, const VerifyPlugin& verify,
                const CertifyAdapter& certify, const InspectBundle& inspect_bundle) {
  Parsed parsed;
  CLI::App app("Operates a running kruxosd.", "kruxos");
  app.require_subcommand(1);
  app.fallthrough();
  auto* socket = app.add_option("--socket", parsed.socket, "The host's control socket");
  app.add_option("--data-dir", parsed.data_dir, "The host's data directory, with its control socket")->excludes(socket);
  app.add_flag("--json", parsed.json, "JSON instead of tables");
  app.add_option("--passphrase-file", parsed.passphrase_file,
                 "Where the operator's passphrase is read, instead of asked")
      ->type_name("FILE");
  app.add_option("--operator", parsed.operator_name, "Which operator you are, where there are several")
      ->type_name("NAME");
  add_host_commands(app, parsed);
  add_mcp_command(app, parsed);
  add_agent_commands(app, parsed);
  add_policy_commands(app, parsed);
  add_audit_commands(app, parsed);
  add_receipt_commands(app, parsed);
  add_sign_in_commands(app, parsed);
  add_service_commands(app, parsed);
  add_disconnect_command(app, parsed);
  add_backup_commands(app, parsed);
  add_operator_commands(app, parsed);
  add_vault_commands(app, parsed);
  add_write_commands(app, parsed);
  add_adapter_commands(app, parsed);
  add_completion(app, parsed);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, console.out(), console.err()) == 0 ? kOk : kUsage;
  }
  return run(parsed, console, verify, certify, inspect_bundle);
}

}  // namespace krux::cli
