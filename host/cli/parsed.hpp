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

namespace krux::cli {

/// What the arguments say; `run` is the command that they name.
struct Parsed {
  std::string socket, data_dir, passphrase_file;
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
  std::int64_t alert = 0;
  ScaffoldPlan scaffold;
  BundleArguments bundle;
  BackupArguments backup;
  McpArguments mcp;
  PolicyArguments policy;
  PauseArguments pause;
  AuditArguments audit;
  ReceiptArguments decision_receipt;
  std::function<int(const Session&)> run;
};

inline CLI::App* add(CLI::App* app, const char* name, const char* help, Parsed& parsed,
                     std::function<int(const Session&)> run) {
  auto* command = app->add_subcommand(name, help);
  command->callback([&parsed, run = std::move(run)] { parsed.run = run; });
  return command;
}

inline CLI::App* group(CLI::App& app, const char* name, const char* help) {
  auto* command = app.add_subcommand(name, help);
  command->require_subcommand(1);
  return command;
}

/// Commands about what agents want to write: approve, dlq, held.
void add_write_commands(CLI::App& app, Parsed& parsed);

}  // namespace krux::cli
