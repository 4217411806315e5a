// The command line of the host itself, its adapters, policies and audit log.
#include "host/cli/parsed.hpp"
#include "host/cli/watching.hpp"

namespace krux::cli {
namespace {

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
  install->add_option("DIR", p.bundle.bundle, "The bundle's directory, with its manifest.yaml")
      ->required()
      ->type_name("DIR");
  install->add_option("--definitions", p.bundle.definitions, "Directory of the other services' definitions")
      ->type_name("DIR");
  auto* remove = add(plugin, "remove", "Remove an installed bundle", p, with(remove_bundle));
  remove->add_option("SERVICE", p.bundle.bundle, "Which service's")->required()->type_name("SERVICE");
  remove->add_flag("--force", p.bundle.force, "Even if accounts are connected or writes have not ended");
  for (auto* command : {install, remove}) {
    command->add_flag("-y,--yes", p.yes, "Do not ask");
    command->add_option("--bundles-dir", p.bundle.bundles_dir, "The host's bundles_dir, where it does not run")
        ->type_name("DIR");
  }
}

}  // namespace

void add_host_commands(CLI::App& app, Parsed& p) {
  add_watch(add(&app, "status", "The host, its services and what waits for you", p,
                [&p](const Session& s) { return p.watch ? watch(s, show_status) : show_status(s); }),
            p);
  add(group(app, "config", "The host's configuration"), "show", "Every value and where it comes from", p, show_config);
  auto* webhook = group(app, "webhook", "What tells your own programs of what waits for you");
  add(webhook, "show", "Where it goes, and whether it works", p, show_webhook);
  add(webhook, "test", "Deliver a test now", p, test_webhook);
  auto* alerts = add(&app, "alerts", "What has gone wrong, or needs your attention", p, [&p](const Session& s) {
    if (p.alert > 0) return acknowledge_alert(s, p.alert);
    const auto list = [&p](const Session& now) { return list_alerts(now, p.all); };
    return p.watch ? watch(s, list) : list(s);
  });
  alerts->add_flag("--all", p.all, "Those that were seen too");
  add_watch(alerts, p);
  alerts->add_option("--acknowledge", p.alert, "Mark this one as seen")
      ->type_name("ALERT")
      ->check(whole_number(1, std::int64_t{1} << 53));
}

void add_plugin_commands(CLI::App& app, Parsed& p) {
  auto* plugin = group(app, "plugin", "Adapters");
  add(plugin, "list", "The adapters that the host found, and why it refused some", p, list_plugins);
  add(plugin, "release", "Let an adapter work again that hung and was quarantined", p,
      [&p](const Session& s) { return release_plugin(s, p.service); })
      ->add_option("SERVICE", p.service, "Which service's adapter")
      ->required()
      ->type_name("SERVICE");
  add_bundle_commands(plugin, p);
  auto* verify = add(plugin, "verify", "Check an adapter's file, without a running host", p,
                     [&p](const Session& s) { return verify_plugin(s, p.file, p.definitions); });
  verify->add_option("FILE", p.file, "The adapter's shared library")->required()->type_name("FILE");
  verify->add_option("--definitions", p.definitions, "Directory of the services' definitions")->type_name("DIR");
}

void add_policy_commands(CLI::App& app, Parsed& p) {
  auto* policy = group(app, "policy", "What agents are held to, by services' policies and by rules");
  const auto with = [&p](int (*command)(const Session&, const PolicyArguments&)) {
    return [&p, command](const Session& s) { return command(s, p.policy); };
  };
  auto* validate =
      add(policy, "validate", "Read a directory of policies as the host would", p, with(validate_policies));
  auto* show = add(policy, "show", "The rules, in words", p, with(show_policies));
  show->add_option("--agent", p.policy.agent, "Those for this agent")->type_name("AGENT");
  auto* check = add(policy, "check", "What is decided about a call, and by which rule", p, with(check_policies));
  check->add_option("CAPABILITY", p.policy.capability, "Which one is called")->required()->type_name("CAPABILITY");
  check->add_option("--agent", p.policy.agent, "Who calls it")->type_name("AGENT")->required();
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
  simulate->add_option("--agent", p.policy.agent, "About this agent's calls")->type_name("AGENT");
  simulate->add_option("--since", p.policy.since, "From then on: 2026-11-21T09:30:00Z")->type_name("TIME");
  simulate->add_option("--until", p.policy.until, "Before then")->type_name("TIME");
  for (auto* command : {validate, show, check, analyze, simulate}) {
    const bool positional = command == validate || command == analyze || command == simulate;
    auto* directory = command->add_option(positional ? "DIR" : "--policies", p.policy.policies,
                                          "Directory of the policies; the running host's unless given");
    directory->type_name("DIR");
    if (command == analyze) directory->excludes(before);
    command->add_option("--definitions", p.policy.definitions, "Directory of the services' definitions")
        ->type_name("DIR");
  }
}

void add_audit_commands(CLI::App& app, Parsed& p) {
  auto* audit = group(app, "audit", "What was asked for, who decided and by which rule, what became of it");
  const auto with = [&p](int (*command)(const Session&, const AuditArguments&)) {
    return [&p, command](const Session& s) { return command(s, p.audit); };
  };
  auto* query = add(audit, "query", "The newest rows that fit", p, with(query_audit));
  query->add_option("--agent", p.audit.agent, "About this agent")->type_name("AGENT");
  query->add_option("--service", p.audit.service, "About this service")->type_name("SERVICE");
  query->add_option("--write", p.audit.write, "About this write")->type_name("WRITE");
  query->add_option("--kind", p.audit.kind, "Of this kind: write, write.accept, ...")->type_name("KIND");
  query->add_option("--since", p.audit.since, "From then on: 2026-11-21T09:30:00Z")->type_name("TIME");
  query->add_option("--until", p.audit.until, "Before then")->type_name("TIME");
  query->add_option("--limit", p.audit.limit, "How many at most")->type_name("NUMBER")->check(whole_number(1, 1000));
  auto* verify = add(audit, "verify", "Whether every row is as it was written", p, with(verify_audit_log));
  auto* file = verify->add_option("--file", p.audit.file, "This audit.db, without a running host");
  file->type_name("FILE");
  verify->add_option("--anchors", p.audit.anchors, "With --file: the file with the log's signed heads")
      ->type_name("FILE")
      ->needs(file);
  verify->add_option("--key", p.audit.key, "With --file: the public key that must be in force")
      ->type_name("KEY")
      ->needs(file);
  add(audit, "key", "The public key by which the log and receipts are signed", p, show_audit_key);
  add(audit, "rotate-key", "Sign by another key from here on", p, [&p](const Session& s) {
    return rotate_audit_key(s, p.yes);
  })->add_flag("-y,--yes", p.yes, "Do not ask");
  add(audit, "export", "All rows with their hashes, one JSON object a line", p, with(export_audit))
      ->add_option("--after", p.audit.after, "Those behind this row")
      ->type_name("ROW")
      ->check(whole_number(0, std::int64_t{1} << 53));
}

void add_receipt_commands(CLI::App& app, Parsed& p) {
  auto* receipt = group(app, "receipt", "Signed receipts of what was decided about a write");
  auto* get = add(receipt, "get", "What the audit log says of a write, signed", p,
                  [&p](const Session& s) { return get_receipt(s, p.decision_receipt); });
  get->add_option("WRITE", p.decision_receipt.write, "Its id, or the beginning of it")->required()->type_name("WRITE");
  get->add_option("--output", p.decision_receipt.file, "Into this file")->type_name("FILE");
  auto* verify = add(receipt, "verify", "Check a receipt, without a running host", p,
                     [&p](const Session& s) { return verify_receipt(s, p.decision_receipt); });
  verify->add_option("FILE", p.decision_receipt.file, "The receipt")->required()->type_name("FILE");
  verify->add_option("--key", p.decision_receipt.key, "The public key that must have signed it")->type_name("KEY");
}

void add_test_host_command(CLI::App& app, Parsed& p) {
  auto* command = add(&app, "test-host", "For tests: a host with mocks or adapters, connected, until it is ended", p,
                      [&p](const Session&) {
                        if (!p.socket.empty() || !p.data_dir.empty())
                          throw CliError(kUsage,
                                         "A host for tests makes a directory of its own: leave --data-dir and "
                                         "--socket out.");
                        return begin_test_host(p.test_host);
                      });
  add_test_host_options(*command, p.test_host);
}

void add_adapter_commands(CLI::App& app, Parsed& p) {
  auto* adapter = group(app, "adapter", "For authors of adapters");
  auto* create = add(adapter, "new", "Begin an adapter: files that build and pass their tests", p,
                     [&p](const Session& s) { return new_adapter(s, p.scaffold); });
  create->add_option("NAME", p.scaffold.name, "The service: small letters, digits and _")
      ->required()
      ->type_name("NAME");
  create->add_option("--dir", p.scaffold.directory, "Where to; NAME in the current directory unless given")
      ->type_name("DIR");
  create->add_option("--prefix", p.scaffold.prefix, "What its capabilities begin with; NAME unless given")
      ->type_name("PREFIX");
  create->add_option("--display-name", p.scaffold.display_name, "Its name for people; made of NAME unless given")
      ->type_name("TEXT");
  auto* wrap =
      add(adapter, "wrap", "Make the tools of an MCP server capabilities: SERVICE ADDRESS, or SERVICE -- PROGRAM", p,
          [&p](const Session& s) { return wrap_server(s, p.wrapping->remaining()); });
  wrap->fallthrough(false)->prefix_command();
  wrap->set_help_flag();
  p.wrapping = wrap;
  auto* certify =
      add(adapter, "certify", "Try an adapter out against its author's fake service, without a running host", p,
          [&p](const Session& s) { return certify_adapter(s, p.certify); });
  certify->add_option("FILE", p.certify.file, "The bundle's manifest.yaml, its directory, or one with several bundles")
      ->type_name("FILE");
  certify->add_option("--only", p.certify.only, "Only this check, or group of checks; may be repeated")
      ->type_name("CHECK")
      ->expected(1);
  certify->get_option("--only")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  certify->add_option("--output", p.certify.output, "Where the certificate goes, instead of beside the manifest")
      ->type_name("FILE");
  certify->add_option("--time-limit", p.certify.time_limit_s, "Seconds for everything")
      ->type_name("SECONDS")
      ->check(whole_number(10, 3600));
  certify->add_flag("--list", p.certify.list, "All checks");
}

}  // namespace krux::cli
