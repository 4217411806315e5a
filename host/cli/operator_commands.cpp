#include <fmt/format.h>

#include <ostream>

#include "host/cli/commands.hpp"
#include "host/cli/passphrase_input.hpp"
#include "host/cli/secret_body.hpp"

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

int print_operator(const Session& session, const HostAnswer& answer) {
  if (session.printed(answer)) return kOk;
  const auto& shown = part(answer.json, "operator");
  Listing listing;
  const bool set = flag(shown, "passphrase_set");
  listing.add("Passphrase", set ? "set " + moment(number(shown, "set_at_ms"), session.now_ms) : "not set");
  const bool open = !flag(shown, "needs_passphrase") && find_bool(shown, "agents_share_user") != false;
  listing.add("Decisions need", {in_words(shown), open || !set ? Style::kWarn : Style::kPlain});
  const auto wait = number(shown, "next_try_in_ms");
  if (wait > 0) listing.add("Next try", {fmt::format("in {} s, after wrong ones", (wait + 999) / 1000), Style::kWarn});
  listing.print(session.console);
  return kOk;
}

}  // namespace

int show_operator(const Session& session) {
  return print_operator(session, session.host.get("/v1/operator"));
}

int set_operator_passphrase(const Session& session, bool forgotten) {
  const auto before = session.host.get("/v1/operator");
  auto& console = session.console;
  const bool set = flag(part(before.json, "operator"), "passphrase_set");
  const auto present =
      set && !forgotten ? ask_passphrase(console, "Present passphrase (not shown while you type): ") : SecretBytes();
  const auto wanted = ask_new_passphrase(console);
  const auto body = secret_body({{"passphrase", as_view(present)}, {"new_passphrase", as_view(wanted)}});
  return print_operator(session, session.host.post("/v1/operator/passphrase", as_view(body)));
}

}  // namespace krux::cli
