// The command line of services' accounts and of the data directory.
#include "host/cli/parsed.hpp"

namespace krux::cli {
namespace {

int run_disconnect(const Session& session, const Parsed& p) {
  if (!p.receipt.empty()) return show_receipt(session, p.receipt);
  if (p.receipts) return list_receipts(session);
  if (p.disconnect.service.empty()) throw CliError(kUsage, "Which service? kruxos connect status shows all.");
  auto arguments = p.disconnect;
  arguments.yes = p.yes;
  return disconnect_service(session, arguments);
}

void add_disconnect_command(CLI::App& app, Parsed& p) {
  auto* disconnect = add(&app, "disconnect", "End an account's connection, and print a receipt", p,
                         [&p](const Session& s) { return run_disconnect(s, p); });
  disconnect->add_option("SERVICE", p.disconnect.service, "Which service")->type_name("SERVICE");
  disconnect
      ->add_option("ACCOUNT", p.disconnect.account,
                   "Its account, where there are several: name, or the beginning of its id")
      ->type_name("ACCOUNT");
  disconnect->add_flag(
      "--force", p.disconnect.force,
      "Leave writes of unknown outcome to a person, and a token that cannot be revoked to the service");
  disconnect->add_option("--wait", p.disconnect.wait_seconds, "Seconds that writes under way are waited for")
      ->type_name("SECONDS")
      ->check(whole_number(0, 600));
  disconnect->add_flag("-y,--yes", p.yes, "Do not ask");
  auto* receipt = disconnect->add_option("--receipt", p.receipt, "Show this receipt")->type_name("RECEIPT");
  disconnect->add_flag("--receipts", p.receipts, "Show all receipts")->excludes(receipt);
}

}  // namespace

void add_service_commands(CLI::App& app, Parsed& p) {
  auto* connect = add(&app, "connect", "Connect an account: in the browser, or with a token from standard input", p,
                      [&p](const Session& s) { return connect_service(s, p.connect); });
  connect
      ->add_option("SERVICE", p.connect.service, "Which service; status: all connections, with what is wrong with them")
      ->required()
      ->type_name("SERVICE");
  connect->add_option("--account", p.connect.account, "The name that the account gets here")->type_name("NAME");
  connect
      ->add_option("--profile", p.connect.profile,
                   "How much of the account agents may use; --help-setup lists the profiles")
      ->type_name("PROFILE");
  connect->add_option("--flow", p.connect.flow, "Which kind of app is used; --help-setup lists them")
      ->type_name("FLOW");
  connect
      ->add_option("--client-id", p.connect.client_id,
                   "The app's id; its secret is read from KRUXOS_CLIENT_SECRET, or typed")
      ->type_name("ID");
  connect->add_option("--base-url", p.connect.base_url, "The account's own address, where its service has several")
      ->type_name("URL");
  connect->add_option("--set", p.connect.settings, "A setting of the account; may be repeated")
      ->type_name("NAME=VALUE");
  auto* token = connect->add_flag("--token", p.connect.token, "Paste a token instead of using the browser");
  connect->add_flag("--no-browser", p.connect.no_browser, "Show the address, but open no browser");
  connect->add_flag("--help-setup", p.connect.setup, "Show how to make the app")->excludes(token);
  auto* sync =
      add(&app, "sync", "Sync a service now", p, [&p](const Session& s) { return sync_service(s, p.service, p.wait); });
  sync->add_option("SERVICE", p.service, "Which service")->required()->type_name("SERVICE");
  sync->add_flag("--wait", p.wait, "Wait until the pass is done, and show its progress");
  add_disconnect_command(app, p);
}

void add_backup_commands(CLI::App& app, Parsed& p) {
  auto* backup = add(&app, "backup", "Copy the running host's data directory, consistent and checked", p,
                     [&p](const Session& s) { return make_backup_of_host(s, p.backup); });
  backup->add_option("DIR", p.backup.directory, "A directory that is to be made")->required()->type_name("DIR");
  backup->add_option("--with-key", p.backup.key_file, "Copy the vault's key into this file, which is to be made")
      ->type_name("FILE");
  backup->add_flag("--without-replicas", p.backup.without_replicas,
                   "Leave out the local copies of the services' data, which are synced anew then");
  auto* restore = add(&app, "restore", "Put a backup into an empty data directory, which then starts held", p,
                      [&p](const Session& s) { return restore_data_directory(s, p.file); });
  restore->add_option("DIR", p.file, "The backup")->required()->type_name("DIR");
}

}  // namespace krux::cli
