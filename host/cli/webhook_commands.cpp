// kruxos webhook: what tells the operator's own programs of what waits for him.
#include <fmt/format.h>

#include <ostream>

#include "host/cli/commands.hpp"

namespace krux::cli {
int show_webhook(const Session& session) {
  const auto answer = session.host.get("/v1/webhook");
  if (session.printed(answer)) return kOk;
  auto& out = session.console.out();
  if (!flag(answer.json, "configured")) {
    session.console.err() << "There is no webhook. Set webhook.url in the configuration and start the host again.\n";
    return kOk;
  }
  out << "Goes to:     " << text(answer.json, "origin") << "\n"
      << "Signed by:   " << text(answer.json, "secret_file") << "\n"
      << "Tells:       " << (flag(answer.json, "details") ? "summaries and reasons too" : "ids and names alone") << "\n"
      << "Delivered:   " << number(answer.json, "delivered");
  if (const auto at = number(answer.json, "delivered_at_ms"); at > 0)
    out << ", the last one " << moment(at, session.now_ms);
  out << "\n";
  if (const auto failures = number(answer.json, "failures"); failures > 0)
    out << fmt::format("FAILING:     {} times since {}: {}\n", failures,
                       moment(number(answer.json, "failing_since_ms"), session.now_ms), text(answer.json, "problem"));
  return kOk;
}

int test_webhook(const Session& session) {
  const auto answer = session.host.post("/v1/webhook/test", "");
  if (!session.printed(answer)) session.console.out() << "Delivered to " << text(answer.json, "delivered_to") << ".\n";
  return kOk;
}

}  // namespace krux::cli
