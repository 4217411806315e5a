// What the parts of the command line share. Internal to it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/mcp_bridge.hpp"
#include "host/cli/usage_errors.hpp"

namespace krux::cli {

/// What the arguments say; `run` is the command that they name.
struct Parsed {
  std::string socket, data_dir, passphrase_file, operator_name;
  bool json = false, yes = false, wait = false, all = false;
  std::string name, service, id, file, definitions, decision;
  CertifyRequest certify;
  std::vector<std::string> assignments;
  DecisionOptions decide;
  bool force = false;
  int recent = 10;
  ConnectArguments connect;
  DisconnectArguments disconnect;
  std::string receipt;
  bool receipts = false, remove = false, forgotten = false;
  std::int64_t alert = 0, grace_minutes = 0;
  ScaffoldPlan scaffold;
  const CLI::App* wrapping = nullptr;  ///< its words are another program's
  BundleArguments bundle;
  TestHostOptions test_host;
  BackupArguments backup;
  ReplicaArguments replica;
  McpArguments mcp;
  PolicyArguments policy;
  PauseArguments pause;
  AuditArguments audit;
  ReceiptArguments decision_receipt;
  bool version = false, watch = false;
  std::vector<std::string> help;  ///< the words of the command that it is about
  std::function<int(const Session&)> run;
};

inline CLI::App* add(CLI::App* app, const char* name, const char* help, Parsed& parsed,
                     std::function<int(const Session&)> run) {
  auto* command = app->add_subcommand(name, help);
  command->callback([&parsed, run = std::move(run)] { parsed.run = run; });
  return command;
}

/// A time in minutes, with its unit: "30min", "2h", "7d".
inline CLI::Option* add_time(CLI::App* command, const char* name, std::int64_t& minutes, const char* help,
                             std::int64_t most_minutes) {
  return command->add_option(name, minutes, help)->transform(time_in_minutes(most_minutes))->type_name("TIME");
}

inline void add_watch(CLI::App* command, Parsed& parsed) {
  command->add_flag("--watch", parsed.watch, "Show it again and again, until q or Ctrl-C; on a terminal");
}

inline CLI::App* group(CLI::App& app, const char* name, const char* help) {
  auto* command = app.add_subcommand(name, help);
  command->require_subcommand(1);
  return command;
}

/// All commands and their options. What an option's value is stands in its type's name: AGENT, WRITE, SERVICE, FILE …;
/// completing goes by that.
void build_tree(CLI::App& app, Parsed& parsed);

/// Its parts.
void add_host_commands(CLI::App& app, Parsed& parsed);
void add_plugin_commands(CLI::App& app, Parsed& parsed);
void add_policy_commands(CLI::App& app, Parsed& parsed);
void add_audit_commands(CLI::App& app, Parsed& parsed);
void add_receipt_commands(CLI::App& app, Parsed& parsed);
void add_adapter_commands(CLI::App& app, Parsed& parsed);
void add_test_host_command(CLI::App& app, Parsed& parsed);
void add_agent_commands(CLI::App& app, Parsed& parsed);
void add_sign_in_commands(CLI::App& app, Parsed& parsed);
void add_mcp_command(CLI::App& app, Parsed& parsed);
void add_operator_commands(CLI::App& app, Parsed& parsed);
void add_vault_commands(CLI::App& app, Parsed& parsed);
void add_service_commands(CLI::App& app, Parsed& parsed);
void add_backup_commands(CLI::App& app, Parsed& parsed);
/// About what agents want to write: approve, dlq, held.
void add_write_commands(CLI::App& app, Parsed& parsed);

}  // namespace krux::cli
