// The command line of what agents want to write.
#include <map>
#include <tuple>

#include "host/cli/parsed.hpp"
#include "host/cli/watching.hpp"

namespace krux::cli {
namespace {

/// One decision about several writes: by their ids, or all that wait for it.
CLI::App* add_decision(CLI::App* to, const char* name, const char* help, const char* decision, Parsed& p) {
  auto* command = add(to, name, help, p, [&p, decision](const Session& s) {
    p.decide.decision = decision;
    return decide_writes(s, p.decide);
  });
  auto* ids = command->add_option("ID", p.decide.ids, "The writes' ids, or the beginnings of them");
  ids->type_name("WRITE");
  auto* all = command->add_flag("--all", p.decide.all, "All that wait for it")->excludes(ids);
  command->add_option("--service", p.decide.service, "With --all: of this service only")
      ->needs(all)
      ->type_name("SERVICE");
  command->add_option("--agent", p.decide.agent, "With --all: of this agent only")->needs(all)->type_name("AGENT");
  command->add_flag("-y,--yes", p.decide.yes, "Do not ask");
  return command;
}

void add_decision_commands(CLI::App* approve, Parsed& p) {
  auto* accept = add_decision(approve, "accept", "Let writes go out that wait for your approval", "accept", p);
  auto* like = add_time(accept, "--like", p.decide.like_minutes,
                        "Approve the like of them too, for so long (30min, 1h; up to 24h)", 24 * 60);
  accept->add_option("--most", p.decide.like_most, "With --like: at most so many")
      ->needs(like)
      ->type_name("NUMBER")
      ->check(whole_number(1, 1000));
  add(approve, "standing", "What is approved beforehand (--like)", p,
      [&p](const Session& s) { return show_standing_approvals(s, p.id); })
      ->add_option("--end", p.id, "End this one")
      ->type_name("STANDING");
  add_decision(approve, "reject", "Refuse writes that wait for your approval", "reject", p)
      ->add_option("--reason", p.decide.reason, "What the agent is told")
      ->type_name("TEXT");
  auto* edit = add(approve, "edit", "Change a write that has not begun", p,
                   [&p](const Session& s) { return edit_write(s, p.id, p.assignments, p.yes); });
  edit->add_option("ID", p.id, "Its id, or the beginning of it")->required()->type_name("WRITE");
  edit->add_option("CHANGE", p.assignments, "NAME=TEXT, or NAME:=JSON")->required()->type_name("CHANGE");
  edit->add_flag("-y,--yes", p.yes, "Do not ask");
  auto* rollback = add(approve, "rollback", "Undo a completed write at its service", p,
                       [&p](const Session& s) { return rollback_write(s, p.id, p.force, p.yes); });
  rollback->add_option("ID", p.id, "Its id, or the beginning of it")->required()->type_name("WRITE");
  rollback->add_flag("--force", p.force, "Even if somebody has changed it since");
  rollback->add_flag("-y,--yes", p.yes, "Do not ask");
}

void add_dead_letter_commands(CLI::App& app, Parsed& p) {
  auto* dlq = group(app, "dlq", "The dead letter queue: writes whose last attempt certainly did not happen");
  auto* list = add(dlq, "list", "What is in it, and what is tried again when", p, [&p](const Session& s) {
    const auto show = [&p](const Session& now) { return list_dead_letters(now, p.service); };
    return p.watch ? watch(s, show) : show(s);
  });
  list->add_option("--service", p.service, "Of this service only")->type_name("SERVICE");
  add_watch(list, p);
  add(dlq, "show", "One write with its content and attempts", p, [&p](const Session& s) { return show_write(s, p.id); })
      ->add_option("ID", p.id, "Its id, or the beginning of it")
      ->required()
      ->type_name("WRITE");
  add_decision(dlq, "retry", "Try writes again now, with a new schedule", "resend", p);
  add_decision(dlq, "discard", "Give writes up", "discard", p);
}

void add_held_commands(CLI::App& app, Parsed& p) {
  auto* held = group(app, "held", "Writes that are held because the data directory may be a copy");
  add(held, "list", "Which, and whether their effect was found", p,
      [&p](const Session& s) { return list_held(s, p.service); })
      ->add_option("--service", p.service, "Of this service only")
      ->type_name("SERVICE");
  add(held, "show", "One write with its content and attempts", p,
      [&p](const Session& s) { return show_write(s, p.id); })
      ->add_option("ID", p.id, "Its id, or the beginning of it")
      ->required()
      ->type_name("WRITE");
  for (const auto& [name, help, decision] :
       {std::tuple("release", "The original did not send them: let them go out", "release"),
        std::tuple("complete", "The original sent them: record what was found", "happened"),
        std::tuple("discard", "Give them up", "discard")}) {
    auto* command = add_decision(held, name, help, decision, p);
    command->get_option("--all")->description(std::string_view(decision) == "release"    ? "All that were not found"
                                              : std::string_view(decision) == "happened" ? "All that were found"
                                                                                         : "All");
    command->callback([&p, decision = decision] {
      p.run = [&p, decision](const Session& s) {
        p.decide.decision = decision;
        p.decide.held = true;
        return decide_writes(s, p.decide);
      };
    });
  }
}

void add_approve_commands(CLI::App& app, Parsed& p) {
  auto* approve = group(app, "approve", "What agents want to write");
  auto* list = add(approve, "list", "What waits for you, is buffered, under way or recent", p, [&p](const Session& s) {
    const auto show = [&p](const Session& now) { return list_writes(now, p.service, p.recent); };
    return p.watch ? watch(s, show) : show(s);
  });
  add_watch(list, p);
  list->add_option("--service", p.service, "Of this service only")->type_name("SERVICE");
  list->add_option("--recent", p.recent, "How many that have ended")->type_name("NUMBER")->check(whole_number(1, 500));
  add(approve, "watch", "What waits for you, live: look at each and decide by keys", p, watch_writes);
  add(approve, "stats", "How fast approvals are given, and which way", p, show_approval_figures);
  const auto one = [&](const char* name, const char* help, std::function<int(const Session&)> run) {
    auto* command = add(approve, name, help, p, std::move(run));
    command->add_option("ID", p.id, "Its id, or the beginning of it")->required()->type_name("WRITE");
    return command;
  };
  one("show", "One write with its content and attempts", [&p](const Session& s) { return show_write(s, p.id); });
  one("cancel", "Stop a write that has not begun", [&p](const Session& s) {
    return cancel_write(s, p.id, p.yes);
  })->add_flag("-y,--yes", p.yes, "Do not ask");
  auto* resolve = one("resolve", "Decide about a write whose outcome is unknown",
                      [&p](const Session& s) { return decide_outcome(s, p.id, p.decision, p.yes); });
  resolve->add_flag("-y,--yes", p.yes, "Do not ask");
  auto* decision = resolve->add_option_group("decision");
  for (const auto& [name, help] : {std::pair("resend", "It did not happen: send it again"),
                                   std::pair("discard", "Give it up"), std::pair("happened", "It did happen")}) {
    decision->add_flag_callback(
        std::string("--") + name, [&p, name = name] { p.decision = name; }, help);
  }
  decision->require_option(1);
  add_decision_commands(approve, p);
}

}  // namespace

void add_write_commands(CLI::App& app, Parsed& p) {
  add_approve_commands(app, p);
  add_dead_letter_commands(app, p);
  add_held_commands(app, p);
}

}  // namespace krux::cli
