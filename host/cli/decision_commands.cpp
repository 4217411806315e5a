// The operator's decisions about writes, one or many.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/cli/known_names.hpp"
#include "host/cli/write_output.hpp"
#include "host/cli/write_pages.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

/// With a question: as many as one can look through before one answers it.
constexpr std::size_t kShownAtOnce = 20;

/// What is decided about: as it was shown, or as the host has it where nothing is shown.
struct Target {
  std::string write_id, content_hash;
  std::string finding;  ///< of what is held as a copy
  bool several;         ///< people must accept it

  explicit Target(const JsonValue& write)
      : write_id(text(write, "write_id")),
        content_hash(text(write, "content_hash")),
        finding(text(part(write, "evidence"), "finding")),
        several(number(part(write, "approvals"), "needed") > 1) {}
};

/// What --all leaves of what is held.
struct Left {
  int found = 0, not_found = 0, not_looked = 0, released = 0;
};

std::string in_words(const Left& left) {
  std::string list;
  const auto add = [&](int count, const char* why) {
    if (count > 0) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, why);
  };
  add(left.found, "found (kruxos held complete)");
  add(left.not_found, "not found (kruxos held release or discard)");
  add(left.not_looked, "not looked for yet");
  add(left.released, "released before, to go out if a look does not find them");
  return list;
}

/// The state that writes must be in for the decision.
const char* state_for(const std::string& decision) {
  return decision == "accept" || decision == "reject" ? "pending_approval" : "dead_letter";
}

std::string question_for(const std::string& decision, std::size_t writes, bool may_have_happened) {
  const auto what = writes == 1 ? std::string("it") : fmt::format("these {} writes", writes);
  if (decision == "accept") return fmt::format("Accept {}?", what);
  if (decision == "reject") return fmt::format("Reject {}?", what);
  if (decision == "release")
    return fmt::format("Let {} go out?{}", what,
                       may_have_happened ? " What the original of this copy has sent is then sent twice." : "");
  if (decision == "happened") return fmt::format("Record that {} happened? Nothing of it will be sent again.", what);
  if (decision == "discard") return fmt::format("Give {} up? Nothing of it will be sent again.", what);
  return fmt::format("Try {} again now?{}", what,
                     may_have_happened ? " What an earlier attempt has done then happens twice." : "");
}

std::string body_of(const DecisionOptions& options, const std::vector<Target>& targets) {
  const bool about_dead_letters = !options.held && (options.decision == "resend" || options.decision == "discard");
  const auto state =
      about_dead_letters ? fmt::format(R"(,"expected_state":"{}")", state_for(options.decision)) : std::string();
  std::string list;
  for (const auto& target : targets) {
    const auto finding = options.held && !target.finding.empty()
                             ? ",\"expected_finding\":" + json_string(target.finding)
                             : std::string();
    list += fmt::format(R"({}{{"write_id":{},"content_hash":{}{}{}}})", list.empty() ? "" : ",",
                        json_string(target.write_id), json_string(target.content_hash), state, finding);
  }
  const auto reason = options.reason.empty() ? std::string() : ",\"reason\":" + json_string(options.reason);
  const auto* held = options.held ? ",\"held\":true" : "";
  const auto like = options.like_minutes > 0 ? fmt::format(R"(,"like":{{"seconds":{},"most":{}}})",
                                                           options.like_minutes * 60, options.like_most)
                                             : std::string();
  return fmt::format(R"({{"decision":"{}","writes":[{}]{}{}{}}})", options.decision, list, reason, held, like);
}

/// Who else is needed, where it waits on.
std::string with_people(const JsonValue& result) {
  const auto people = text(result, "state") == "pending_approval" ? acceptances(result) : std::string();
  return people.empty() ? "" : " " + people;
}

/// One command's decision, taken in steps of as many writes as are asked about at once.
class Deciding {
 public:
  Deciding(const Session& session, const DecisionOptions& options)
      : session_(session), options_(options), at_once_(options.yes ? WritePages::kLargest : kShownAtOnce) {}

  int run() {
    const bool all = options_.all ? about_all() : about_named();
    if (session_.json) session_.console.out() << "{\"results\":[" << results_ << "]}\n";
    return !all ? kFailed : failed_ ? kConflict : kOk;
  }

 private:
  bool about_named() {
    const auto& ids = options_.ids;
    for (std::size_t at = 0; at < ids.size(); at += at_once_) {
      const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(at + at_once_, ids.size()));
      if (!step({ids.begin() + static_cast<std::ptrdiff_t>(at), end})) return false;
    }
    return true;
  }
  bool about_all() {
    auto query = options_.held ? std::string("held=1") : fmt::format("state={}", state_for(options_.decision));
    if (!options_.service.empty()) query += "&service=" + url_encode(options_.service);
    if (!options_.agent.empty()) query += "&agent=" + url_encode(options_.agent);
    WritePages pages(session_.host, query, at_once_);
    std::vector<Target> all;
    while (const auto page = pages.next()) {
      for (auto& target : listed(items(page->json, "writes"))) all.push_back(std::move(target));
    }
    if (all.empty()) must_narrow_to_something(session_, options_.service);
    if (all.empty()) session_.console.err() << none_of_all();
    // Pages begin with the newest; what goes out in order is decided in that order.
    std::reverse(all.begin(), all.end());
    for (std::size_t at = 0; at < all.size(); at += at_once_) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
      const std::vector<Target> targets(begin,
                                        begin + static_cast<std::ptrdiff_t>(std::min(at_once_, all.size() - at)));
      if (options_.yes ? !decide(targets) : !step(ids_of(targets))) return false;
    }
    if (const auto left = in_words(left_); !left.empty())
      session_.console.err() << fmt::format("Of what is held these were left: {}.\n", left);
    return true;
  }
  std::string none_of_all() const {
    if (!options_.held) return fmt::format("No write is {}.\n", state_for(options_.decision));
    if (options_.decision == "happened") return "No write is held whose effect was found.\n";
    if (options_.decision == "release") return "No write is held that could be released.\n";
    return "No write is held.\n";
  }
  /// All that are held: what was found is completed and never released.
  bool is_meant(const JsonValue& write) {
    const auto finding = text(part(write, "evidence"), "finding");
    const bool found = finding == "found";
    if (options_.decision == "discard" || (options_.decision == "happened" && found)) return true;
    const bool released = flag(write, "release_wanted");
    if (options_.decision == "release" && !found && !released) return true;
    ++(found                         ? left_.found
       : released                    ? left_.released
       : finding == "not_looked_yet" ? left_.not_looked
                                     : left_.not_found);
    return false;
  }

  std::vector<Target> listed(const JsonValue& page) {
    std::vector<Target> targets;
    for (const auto& write : page.GetArray()) {
      if (!options_.held || is_meant(write)) targets.emplace_back(write);
    }
    return targets;
  }
  static std::vector<std::string> ids_of(const std::vector<Target>& targets) {
    std::vector<std::string> ids;
    for (const auto& target : targets) ids.push_back(target.write_id);
    return ids;
  }

  /// Gets each as the host has it now, shows it whole, and asks once about them.
  bool step(const std::vector<std::string>& ids) {
    std::vector<Target> targets;
    bool may_have_happened = false;
    for (const auto& id : ids) {
      const auto answer = session_.host.get(write_path(id));
      const auto& write = part(answer.json, "write");
      targets.emplace_back(write);
      may_have_happened = may_have_happened || flag(write, "irrevocable") || options_.held;
      if (options_.yes) continue;
      print_write(session_, write);
      session_.console.out() << "\n";
      must_be_open_to_it(write);
      say_the_like(write);
    }
    if (!session_.confirm(question_for(options_.decision, targets.size(), may_have_happened), options_.yes))
      return false;
    return decide(targets);
  }

  /// The host refuses it as well, but there is no sense in asking. A write that --all met may have gone on since.
  void must_be_open_to_it(const JsonValue& write) const {
    const auto state = text(write, "state");
    if (options_.held) {
      if (options_.all || flag(write, "held_as_copy")) return;
      throw CliError(kConflict, fmt::format("Write {} is {} and not held as a copy, so that nothing was asked and "
                                            "nothing decided.",
                                            printable(text(write, "write_id")), printable(state)));
    }
    if (options_.all || state == state_for(options_.decision)) return;
    throw CliError(kConflict,
                   fmt::format("Write {} is {}, not {}, so that nothing was asked and nothing decided.{}",
                               printable(text(write, "write_id")), printable(state), state_for(options_.decision),
                               state == "unknown" ? " Decide with: kruxos approve resolve" : ""));
  }

  /// What is accepted with it.
  void say_the_like(const JsonValue& write) const {
    if (options_.like_minutes == 0) return;
    const auto& like = part(write, "like");
    if (const auto why = text(like, "why_not"); !why.empty())
      throw CliError(kConflict, fmt::format("Nothing can be approved as the like of {}. {} Accept it without --like.",
                                            printable(text(write, "write_id")), printable(why)));
    session_.console.out() << fmt::format(
        "With it, for {} and up to {} writes: {} of {} to {}, asked about for no other reason.\n",
        span_in_words(options_.like_minutes * kMinute), options_.like_most, printable(text(write, "operation")),
        printable(text(write, "agent")), printable(joined(items(like, "reaches"))));
  }

  bool decide(const std::vector<Target>& targets) {
    // One answer for all of them cannot ask for the passphrase that some need in any case.
    const bool several = std::any_of(targets.begin(), targets.end(), [](const Target& one) { return one.several; });
    if (several && options_.decision == "accept") session_.host.get_grant();
    const auto answer = session_.host.post("/v1/decisions", body_of(options_, targets));
    for (const auto& result : items(answer.json, "results").GetArray()) note(result);
    return true;
  }

  void note(const JsonValue& result) {
    const auto& error = part(result, "error");
    failed_ = failed_ || !error.ObjectEmpty();
    const auto id = printable(text(result, "write_id"));
    if (session_.json) {
      results_ += (results_.empty() ? "" : ",") + to_json(result);
    } else if (error.ObjectEmpty()) {
      session_.console.out() << (options_.decision == "resend" ? fmt::format("Write {} is tried again now.\n", id)
                                 : flag(result, "release_wanted")
                                     ? fmt::format("Write {} goes out as soon as a look has not found it.\n", id)
                                 : options_.decision == "release"
                                     ? fmt::format("Write {} is released: {}.\n", id, printable(text(result, "state")))
                                     : fmt::format("Write {} is now {}.{}\n", id, printable(text(result, "state")),
                                                   with_people(result)));
    } else {
      session_.console.err() << fmt::format("Write {}: {}\n", id, printable(text(error, "message")));
    }
  }

  const Session& session_;
  const DecisionOptions& options_;
  const std::size_t at_once_;
  std::string results_;
  Left left_;
  bool failed_ = false;
};

/// "text=hello" sets a text, "count:=3" a JSON value, "note:=null" takes one back to its default.
std::string changes_of(const std::vector<std::string>& assignments) {
  std::string out;
  for (const auto& assignment : assignments) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
      throw CliError(kUsage,
                     fmt::format("\"{}\" changes nothing: write NAME=TEXT or NAME:=JSON.", printable(assignment)));
    const bool json = assignment[equals - 1] == ':';
    const auto name = assignment.substr(0, equals - (json ? 1 : 0));
    const auto value = assignment.substr(equals + 1);
    try {
      if (json) parse_json(value, name);
      out += (out.empty() ? "" : ",") + json_string(name) + ":" + (json ? value : json_string(value));
    } catch (const Error& error) {
      throw CliError(kUsage, error.what());
    }
  }
  return "{" + out + "}";
}

}  // namespace

int decide_writes(const Session& session, const DecisionOptions& options) {
  if (options.ids.empty() != options.all) throw CliError(kUsage, "Name the writes, or give --all.");
  if (!options.yes && !session.console.reads_terminal())
    throw CliError(kUsage, "This decision is a person's, and there is no terminal to ask on: add --yes.");
  if (!options.yes && session.json)
    throw CliError(kUsage, "With --json nothing is shown that you could decide about: add --yes.");
  auto named = options;
  named.ids = whole_write_ids(session, options.ids);
  named.agent = whole_agent_id(session, options.agent);
  return Deciding(session, named).run();
}

int edit_write(const Session& session, const std::string& given, const std::vector<std::string>& assignments,
               bool yes) {
  const auto changes = changes_of(assignments);
  const auto id = whole_write_id(session, given);
  const auto before = session.host.get(write_path(id));
  const auto& write = part(before.json, "write");
  if (!yes && !session.json && session.console.reads_terminal()) {
    print_write(session, write);
    session.console.out() << "\n";
    print_change(session, part(write, "params"), parse_json(changes, "the change"));
  }
  if (!session.confirm("Change it?", yes)) return kFailed;
  const auto answer = session.host.post(
      write_path(id, "/edit"),
      fmt::format(R"({{"content_hash":{},"arguments":{}}})", json_string(text(write, "content_hash")), changes));
  return report_write(session, answer);
}

int rollback_write(const Session& session, const std::string& given, bool force, bool yes) {
  const auto id = whole_write_id(session, given);
  if (!yes && !session.json && session.console.reads_terminal()) {
    print_write(session, part(session.host.get(write_path(id)).json, "write"));
    session.console.out() << "\n";
  }
  const auto* question = force ? "Undo it at the service, even if it was changed since?" : "Undo it at the service?";
  if (!session.confirm(question, yes)) return kFailed;
  const auto answer =
      session.host.post(write_path(id, "/rollback"), fmt::format(R"({{"force":{}}})", force ? "true" : "false"));
  const auto& undo = part(answer.json, "write");
  const bool done = text(undo, "state") == "completed";
  if (session.printed(answer)) return done ? kOk : kFailed;
  if (done) {
    session.console.out() << fmt::format("Write {} is undone ({}).\n", printable(id),
                                         printable(text(undo, "write_id")));
    return kOk;
  }
  const auto& error = part(undo, "error");
  session.console.err() << fmt::format("Write {} is not undone: {} is {}. {}\n", printable(id),
                                       printable(text(undo, "write_id")), printable(text(undo, "state")),
                                       printable(text(error, "message")));
  return ErrorType::named(text(error, "type")) == ErrorCode::kRollbackConflict ? kConflict : kFailed;
}

}  // namespace krux::cli
