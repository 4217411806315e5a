// The command line of agents, operators and the vault.
#include "core/state/agents.hpp"
#include "core/util/durations.hpp"
#include "host/cli/parsed.hpp"

namespace krux::cli {

void add_agent_commands(CLI::App& app, Parsed& p) {
  auto* agent = group(app, "agent", "Agents and their keys");
  const auto one = [&](const char* name, const char* help, std::function<int(const Session&)> run) {
    auto* command = add(agent, name, help, p, std::move(run));
    command->add_option("AGENT", p.name, "Its name, or its id or the beginning of it")->required()->type_name("AGENT");
    return command;
  };
  add(agent, "create", "Make an agent, and print its key, once", p,
      [&p](const Session& s) { return create_agent(s, p.name); })
      ->add_option("NAME", p.name, "What it is called from now on")
      ->required()
      ->type_name("NAME");
  add(agent, "list", "All agents", p, list_agents);
  one("show", "One agent, with the age of its key", [&p](const Session& s) { return show_agent(s, p.name); });
  auto* rotate = one("rotate", "Replace its key, and print the new one, once",
                     [&p](const Session& s) { return rotate_agent(s, p.name, p.grace_minutes, p.yes); });
  rotate->add_flag("-y,--yes", p.yes, "Do not ask");
  add_time(rotate, "--grace", p.grace_minutes, "The old key is good for so long too (30min, 2h, up to 7d)",
           AgentStore::kLongestGrace / kMinute);
  const auto one_or_all = [&](const char* name, const char* help, int (*run)(const Session&, const PauseArguments&)) {
    auto* command = add(agent, name, help, p, [&p, run](const Session& s) { return run(s, p.pause); });
    auto* named = command->add_option("AGENT", p.pause.agent, "Its name, or its id or the beginning of it");
    named->type_name("AGENT");
    command->add_flag("--all", p.pause.all, "All agents, also those that are made later")->excludes(named);
    return command;
  };
  one_or_all("pause", "Refuse its calls and hold its writes", pause_agents)
      ->add_option("--reason", p.pause.reason, "Why; the agent is told so")
      ->type_name("TEXT");
  one_or_all("resume", "Let it go on; what is due goes out", resume_agents);
  one("revoke", "End its key and cancel its waiting writes, for good", [&p](const Session& s) {
    return revoke_agent(s, p.name, p.yes);
  })->add_flag("-y,--yes", p.yes, "Do not ask");
}

void add_sign_in_commands(CLI::App& app, Parsed& p) {
  auto* sign_in = group(app, "sign-in", "Programs that sign in at the gateway instead of sending a key");
  add(sign_in, "list", "Which wait for you, and which have signed in", p, list_sign_in);
  auto* accept = add(sign_in, "accept", "Let a program in: it becomes an agent", p,
                     [&p](const Session& s) { return accept_sign_in(s, p.id, p.name, p.yes); });
  accept->add_option("CODE", p.id, "The code that its page shows")->required()->type_name("CODE");
  accept->add_option("--agent", p.name, "Which agent, by name or id; it is made where there is none")
      ->required()
      ->type_name("AGENT");
  accept->add_flag("-y,--yes", p.yes, "Do not ask");
  add(sign_in, "reject", "Refuse a program", p, [&p](const Session& s) { return reject_sign_in(s, p.id); })
      ->add_option("CODE", p.id, "The code that its page shows, or the request's id; kruxos sign-in list shows the ids")
      ->required()
      ->type_name("REQUEST");
  auto* end = add(sign_in, "end", "End what a program has been let in by", p,
                  [&p](const Session& s) { return end_sign_in(s, p.id, p.yes); });
  end->add_option("GRANT", p.id, "Its id; kruxos sign-in list shows them")->required()->type_name("GRANT");
  end->add_flag("-y,--yes", p.yes, "Do not ask");
}

void add_mcp_command(CLI::App& app, Parsed& p) {
  auto* mcp =
      add(&app, "mcp", "For agents' programs that start one: the Model Context Protocol over standard input and output",
          p, [&p](const Session& s) { return run_mcp_bridge(s, p.mcp); });
  mcp->add_option("--key-file", p.mcp.key_file, "A file with the agent's key; without it the key is in KRUXOS_API_KEY")
      ->type_name("FILE");
  mcp->add_option("--tools", p.mcp.tools, "Which are shown: core (unless given), all, or names of services")
      ->type_name("TOOLS");
  mcp->add_option("--url", p.mcp.url, "Where the gateway listens on this machine")
      ->type_name("URL")
      ->capture_default_str();
}

void add_operator_commands(CLI::App& app, Parsed& p) {
  auto* group_of =
      group(app, "operator", "The passphrase by which the host tells you from agents that run as your user");
  add(group_of, "list", "Who decides on this host", p, list_operators);
  add(group_of, "add", "Add an operator, who sets a passphrase of his own", p,
      [&p](const Session& s) { return add_operator(s, p.name); })
      ->add_option("NAME", p.name, "Up to 32 small letters, digits and . _ -")
      ->required()
      ->type_name("NAME");
  auto* remove = add(group_of, "remove", "Remove an operator: what he has begun ends at once", p,
                     [&p](const Session& s) { return remove_operator(s, p.name, p.yes); });
  remove->add_option("NAME", p.name, "Whom")->required()->type_name("OPERATOR");
  remove->add_flag("-y,--yes", p.yes, "Do not ask");
  add(group_of, "status", "Whether a passphrase is set, and what needs it", p, show_operator);
  add(group_of, "set-passphrase", "Set the passphrase that decisions need, or another one (--operator: whose)", p,
      [&p](const Session& s) { return set_operator_passphrase(s, p.forgotten); })
      ->add_flag("--forgotten", p.forgotten, "Without the present one: for root, where the host runs as another user");
}

void add_vault_commands(CLI::App& app, Parsed& p) {
  auto* vault = group(app, "vault", "Where the services' tokens are kept");
  add(vault, "status", "How it is protected, and whether it is open", p, show_vault);
  add(vault, "unlock", "Open it with its passphrase, which is typed or read from standard input", p, unlock_vault);
  add(vault, "rotate", "Make a new key and encrypt every token with it", p, rotate_vault);
  add(vault, "passphrase", "Protect it by a passphrase instead of the key file, or change the passphrase", p,
      [&p](const Session& s) { return p.remove ? use_vault_key_file(s) : set_vault_passphrase(s); })
      ->add_flag("--remove", p.remove, "Go back to the key file");
}

}  // namespace krux::cli
