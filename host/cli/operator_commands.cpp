#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/passphrase_input.hpp"
#include "host/cli/secret_body.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

std::string in_words(const JsonValue& shown) {
  const bool set = flag(shown, "passphrase_set");
  const auto shared = find_bool(shown, "agents_share_user");
  if (shared == false) return "nothing: operator.agents_share_user is false";
  if (flag(shown, "needs_passphrase"))
    return set ? "the passphrase, each command anew"
               : "the passphrase, which is not set: kruxos operator set-passphrase";
  return "nothing until a passphrase is set, since this data directory is older: every program of this user can decide";
}

void print_operators(const Session& session, const JsonValue& operators) {
  Table table({{"OPERATOR"}, {"PASSPHRASE SET"}, {"ADDED"}, {"BY"}});
  for (const auto& one : operators.GetArray())
    table.add({text(one, "name"), moment(number(one, "set_at_ms"), session.now_ms),
               moment(number(one, "added_at_ms"), session.now_ms), text(one, "added_by")});
  table.print(session.console);
}

int print_operator(const Session& session, const HostAnswer& answer) {
  if (session.printed(answer)) return kOk;
  const auto& shown = part(answer.json, "operator");
  Listing listing;
  const bool set = flag(shown, "passphrase_set");
  listing.add("Passphrase", set ? "set " + moment(number(shown, "set_at_ms"), session.now_ms) : "not set");
  const bool open = !flag(shown, "needs_passphrase") && find_bool(shown, "agents_share_user") != false;
  listing.add("Decisions need", {in_words(shown), open || !set ? Style::kWarn : Style::kPlain});
  std::string names;
  for (const auto& one : items(shown, "operators").GetArray())
    names += (names.empty() ? "" : ", ") + printable(text(one, "name"));
  listing.add_unless_empty("Operators", names);
  const auto wait = number(shown, "next_try_in_ms");
  if (wait > 0) listing.add("Next try", {fmt::format("in {} s, after wrong ones", (wait + 999) / 1000), Style::kWarn});
  listing.print(session.console);
  return kOk;
}

}  // namespace

int show_operator(const Session& session) {
  return print_operator(session, session.host.get("/v1/operator"));
}

int list_operators(const Session& session) {
  const auto answer = session.host.get("/v1/operator");
  if (session.printed(answer)) return kOk;
  const auto& operators = items(part(answer.json, "operator"), "operators");
  if (operators.Empty()) {
    session.console.out() << "No operator is known by a passphrase yet: kruxos operator set-passphrase\n";
    return kOk;
  }
  print_operators(session, operators);
  return kOk;
}

int add_operator(const Session& session, const std::string& name) {
  session.host.get_grant();  // first yours, then his
  const auto wanted = ask_new_passphrase(session.console);
  const auto body = secret_body({{"new_passphrase", as_view(wanted)}});
  const auto answer = session.host.post("/v1/operators/" + url_encode(name), as_view(body));
  if (session.printed(answer)) return kOk;
  print_operators(session, items(part(answer.json, "operator"), "operators"));
  return kOk;
}

int remove_operator(const Session& session, const std::string& name, bool yes) {
  const auto question = fmt::format(
      "Remove the operator {}? What he has accepted and has not gone out counts without him then.", printable(name));
  if (!session.confirm(question, yes)) return kFailed;
  const auto answer = session.host.post(fmt::format("/v1/operators/{}/remove", url_encode(name)));
  if (session.printed(answer)) return kOk;
  print_operators(session, items(part(answer.json, "operator"), "operators"));
  return kOk;
}

int set_operator_passphrase(const Session& session, bool forgotten) {
  const auto before = session.host.get("/v1/operator");
  auto& console = session.console;
  const auto name = session.host.which_operator();
  const bool set = flag(part(before.json, "operator"), "passphrase_set");
  const auto present =
      set && !forgotten ? ask_passphrase(console, "Present passphrase (not shown while you type): ") : SecretBytes();
  const auto wanted = ask_new_passphrase(console);
  const auto body =
      secret_body({{"passphrase", as_view(present)}, {"new_passphrase", as_view(wanted)}, {"operator", name}});
  return print_operator(session, session.host.post("/v1/operator/passphrase", as_view(body)));
}

}  // namespace krux::cli
