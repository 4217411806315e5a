#include "host/cli/parsed.hpp"
#include "host/cli/usage_errors.hpp"

namespace krux::cli {
namespace {

/// Empty is what they say then.
const std::vector<std::string> kMayBeEmpty{"--reason"};

void add_global_options(CLI::App& app, Parsed& p) {
  auto* socket = app.add_option("--socket", p.socket, "The host's control socket")->type_name("FILE");
  app.add_option("--data-dir", p.data_dir, "The host's data directory, with its control socket")
      ->type_name("DIR")
      ->excludes(socket);
  app.add_flag("--json", p.json, "JSON instead of tables");
  app.add_option("--passphrase-file", p.passphrase_file, "Where the operator's passphrase is read, instead of asked")
      ->type_name("FILE");
  app.add_option("--operator", p.operator_name, "Which operator you are, where there are several")
      ->type_name("OPERATOR");
}

}  // namespace

void build_tree(CLI::App& app, Parsed& p) {
  app.name("kruxos");
  app.description("Operates a running kruxosd.");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_help_flag("-h,--help", "Print help and end");
  add_global_options(app, p);
  app.add_flag("--version", p.version, "Print the version and end");
  add_host_commands(app, p);
  add_agent_commands(app, p);
  add_mcp_command(app, p);
  add_sign_in_commands(app, p);
  add_service_commands(app, p);
  add_write_commands(app, p);
  add_policy_commands(app, p);
  add_audit_commands(app, p);
  add_receipt_commands(app, p);
  add_plugin_commands(app, p);
  add_adapter_commands(app, p);
  add_test_host_command(app, p);
  add_operator_commands(app, p);
  add_vault_commands(app, p);
  add_backup_commands(app, p);
  auto* completion = add(&app, "completion", "A completion script for your shell", p,
                         [&p](const Session& s) { return print_completion(s, p.name); });
  completion->add_option("SHELL", p.name, "bash, zsh or fish")->required()->type_name("SHELL");
  auto* help = add(&app, "help", "What a command does, with its options and examples", p, {});
  help->add_option("COMMAND", p.help, "Which one: agent create")->type_name("COMMAND");
  add(&app, "version", "The version of this command", p, print_version);
  refuse_empty_values(app, kMayBeEmpty);
}

}  // namespace krux::cli
