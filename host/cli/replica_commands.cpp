// Replicas beside what their services have.
#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

std::string target_of(const ReplicaArguments& arguments, const char* what) {
  return fmt::format("/v1/replicas/{}/{}", url_encode(arguments.service), what);
}

std::string account_member(const Session& session, const ReplicaArguments& arguments) {
  if (arguments.account.empty()) return {};
  return "\"account\":" + json_string(whole_account_id(session, arguments.service, arguments.account));
}

std::string kind_in_words(std::string_view kind) {
  if (kind == "missing") return "missing here";
  return kind == "only_here" ? "only here" : "other content";
}

std::string members_of(const JsonValue& difference) {
  std::string all;
  for (const auto& member : items(difference, "members").GetArray())
    all += (all.empty() ? "" : ", ") + std::string(view(member));
  return all;
}

void print_differences(const Session& session, const JsonValue& verified) {
  Table table({{"WHAT"}, {"COLLECTION"}, {"ID", false, true}, {"MEMBERS", false, true}});
  for (const auto& difference : items(verified, "differences").GetArray())
    table.add({kind_in_words(text(difference, "kind")), text(difference, "collection"), text(difference, "id"),
               members_of(difference)});
  table.print(session.console);
}

}  // namespace

int verify_replica(const Session& session, const ReplicaArguments& arguments) {
  // Two passes of the account's own and two fillings, each as long as was given.
  const auto longest = arguments.minutes * 60 * 4 + 60;
  auto body = fmt::format(R"({{"records":{},"minutes":{})", arguments.all ? 0 : arguments.records, arguments.minutes);
  if (auto account = account_member(session, arguments); !account.empty()) body += ',' + account;
  const auto answer = session.host.with_timeout(longest).post(target_of(arguments, "verify"), body + '}');
  const auto& verified = answer.json;
  const auto differ = number(verified, "differ"), unsettled = number(verified, "unsettled");
  const auto code = differ > 0 ? kFailed : kOk;
  if (session.printed(answer)) return code;
  auto& out = session.console.out();
  const auto* how = flag(verified, "whole") ? "all that the service gives" : "a sample";
  out << fmt::format("{}: {} records compared, {}.\n", printable(text(verified, "account_name")),
                     number(verified, "compared"), how);
  if (unsettled > 0) out << fmt::format("{} changed meanwhile, and say nothing.\n", unsettled);
  if (const auto left_out = number(verified, "left_out"); left_out > 0)
    out << fmt::format("{} cannot be taken by a replica.\n", left_out);
  for (const auto& problem : items(verified, "problems").GetArray())
    out << fmt::format("Not compared: {}: {}\n", printable(text(problem, "part")), printable(text(problem, "message")));
  if (differ == 0) {
    out << "Nothing differs.\n";
    return code;
  }
  const auto shown = static_cast<std::int64_t>(items(verified, "differences").Size());
  out << fmt::format("{}{} differ{}:\n", flag(verified, "more") ? "More than " : "", differ,
                     shown < differ ? fmt::format(", the first {}", shown) : std::string());
  print_differences(session, verified);
  out << fmt::format("Mend it with: kruxos replica rebuild {}\n", printable(arguments.service));
  return code;
}

int rebuild_replica(const Session& session, const ReplicaArguments& arguments) {
  const auto answer =
      session.host.post(target_of(arguments, "rebuild"), '{' + account_member(session, arguments) + '}');
  if (session.printed(answer)) return kOk;
  session.console.out() << fmt::format(
      "The replica of {} is built anew. Agents read the one before until it is whole: kruxos sync {}\n",
      printable(text(answer.json, "account_name")), printable(arguments.service));
  return kOk;
}

}  // namespace krux::cli
