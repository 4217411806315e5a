// kruxos approve standing: what was approved beforehand.
#include <fmt/format.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/cli/table.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {

int show_standing_approvals(const Session& session, const std::string& end) {
  if (!end.empty()) {
    const auto answer = session.host.post(
        fmt::format("/v1/standing-approvals/{}/end", url_encode(whole_standing_id(session, end))), "");
    if (!session.printed(answer))
      session.console.out() << "Ended. What it has let through and has not gone out yet waits for you.\n";
    return kOk;
  }
  const auto answer = session.host.get("/v1/standing-approvals");
  if (session.printed(answer)) return kOk;
  Table table({id_column("ID"), {"AGENT"}, {"OPERATION"}, {"TO", false, true}, {"USED", true}, {"ENDS"}, {"BY"}});
  for (const auto& one : items(answer.json, "standing_approvals").GetArray()) {
    std::vector<Cell> row{text(one, "standing_id"), text(one, "agent"), text(one, "operation")};
    row.emplace_back(joined(items(one, "reaches")));
    row.emplace_back(fmt::format("{} of {}", number(one, "used"), number(one, "most")));
    row.emplace_back(moment(number(one, "until_ms"), session.now_ms));
    row.emplace_back(text(one, "granted_by"));
    table.add(std::move(row));
  }
  if (table.empty()) {
    session.console.err() << "Nothing is approved beforehand.\n";
  } else {
    table.print(session.console);
  }
  return kOk;
}

}  // namespace krux::cli
