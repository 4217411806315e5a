#include <fmt/format.h>

#include <algorithm>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/cli/known_names.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

/// Beside the time that writes are waited for: the call that revokes the token, and what the host does itself.
constexpr int kBesideWaitingSeconds = 150, kUsualWaitSeconds = 75;

Style style_of(const std::string& outcome) {
  if (outcome == "done" || outcome == "disconnected") return Style::kGood;
  return outcome == "failed" || outcome == "stopped" ? Style::kBad : Style::kWarn;
}

std::string in_words(const std::string& outcome) {
  return outcome == "under_way" ? "under way" : outcome;
}

std::string account_of(const JsonValue& receipt) {
  return fmt::format("{} {} ({})", text(receipt, "service"), text(receipt, "account_name"),
                     text(receipt, "account_id"));
}

void print_writes(const Session& session, const JsonValue& receipt) {
  Table table({id_column("WRITE"), {"OPERATION"}, {"", false, true}, {"WAS"}, {"IS"}});
  for (const auto& write : items(receipt, "writes").GetArray()) {
    const auto state = text(write, "state");
    table.add({text(write, "write_id"),
               text(write, "operation"),
               text(write, "summary"),
               text(write, "was"),
               {state, state == "unknown" ? Style::kWarn : Style::kPlain}});
  }
  if (table.empty()) return;
  session.console.out() << "\n";
  table.print(session.console);
}

int print_receipt(const Session& session, const HostAnswer& answer) {
  if (session.printed(answer)) return kOk;
  const auto& receipt = part(answer.json, "receipt");
  const auto outcome = text(receipt, "outcome");
  Listing listing;
  listing.add("Receipt", text(receipt, "receipt_id"));
  listing.add("Account", account_of(receipt));
  listing.add("Outcome", {in_words(outcome) + (flag(receipt, "forced") ? ", by force" : ""), style_of(outcome)});
  listing.add("By", text(receipt, "who"));
  listing.add("Begun", moment(number(receipt, "begun_at_ms"), session.now_ms));
  const auto ended = number(receipt, "ended_at_ms");  // perhaps after this command began
  listing.add_unless_empty("Ended", moment(ended, std::max(session.now_ms, ended)));
  for (const auto& step : items(receipt, "steps").GetArray()) {
    listing.add(text(step, "step"), {text(step, "message"), style_of(text(step, "outcome"))});
  }
  listing.print(session.console);
  print_writes(session, receipt);
  return kOk;
}

std::string question(const std::string& service, const std::string& account, bool force) {
  return fmt::format(
      "{}{} is disconnected: its waiting writes are cancelled, its token is revoked and removed, the "
      "local copy of its data is deleted{}. Go on?",
      printable(service), account.empty() ? "" : " " + printable(account),
      force ? ", also where that leaves writes of unknown outcome or a token that the service still knows" : "");
}

}  // namespace

int disconnect_service(const Session& session, const DisconnectArguments& given) {
  auto a = given;
  if (!a.yes && session.console.reads_terminal()) must_be_service(session, a.service);  // before anything is asked
  a.account = whole_account_id(session, a.service, given.account);
  if (!session.confirm(question(a.service, a.account, a.force), a.yes)) return kFailed;
  auto body = fmt::format(R"({{"force":{})", a.force);
  if (!a.account.empty()) body += fmt::format(R"(,"account":{})", json_string(a.account));
  if (a.wait_seconds >= 0) body += fmt::format(R"(,"wait_seconds":{})", a.wait_seconds);
  body += "}";
  const int wait = a.wait_seconds >= 0 ? a.wait_seconds : kUsualWaitSeconds;
  const auto host = session.host.with_timeout(wait + kBesideWaitingSeconds);
  return print_receipt(session, about_service(session, a.service, [&] {
                         return host.post("/v1/connections/" + url_encode(a.service) + "/disconnect", body);
                       }));
}

int show_receipt(const Session& session, const std::string& id) {
  return print_receipt(session, session.host.get("/v1/receipts/" + url_encode(whole_receipt_id(session, id))));
}

int list_receipts(const Session& session) {
  const auto answer = session.host.get("/v1/receipts");
  if (session.printed(answer)) return kOk;
  Table table({id_column("RECEIPT"), {"ACCOUNT", false, true}, {"OUTCOME"}, {"BY"}, {"BEGUN"}});
  for (const auto& receipt : items(answer.json, "receipts").GetArray()) {
    const auto outcome = text(receipt, "outcome");
    table.add({text(receipt, "receipt_id"),
               account_of(receipt),
               {in_words(outcome), style_of(outcome)},
               text(receipt, "who"),
               relative(number(receipt, "begun_at_ms"), session.now_ms)});
  }
  if (table.empty()) {
    session.console.out() << "No account has been disconnected yet.\n";
    return kOk;
  }
  table.print(session.console);
  return kOk;
}

}  // namespace krux::cli
