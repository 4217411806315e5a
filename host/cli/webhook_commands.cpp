// kruxos webhook: what tells the operator's own programs of what waits for him.
#include <fmt/format.h>

#include <ostream>

#include "host/cli/commands.hpp"
#include "host/cli/table.hpp"

namespace krux::cli {

int show_webhook(const Session& session) {
  const auto answer = session.host.get("/v1/webhook");
  if (session.printed(answer)) return kOk;
  const auto& webhook = answer.json;
  if (!flag(webhook, "configured")) {
    session.console.err() << "There is no webhook. Set webhook.url in the configuration and start the host again.\n";
    return kOk;
  }
  const auto at = [&](const char* name) { return moment(number(webhook, name), session.now_ms); };
  Listing listing;
  listing.add("Goes to", text(webhook, "origin"));
  listing.add("Signed by", text(webhook, "secret_file"));
  listing.add("Tells", std::string(flag(webhook, "details") ? "summaries and reasons too" : "ids and names alone"));
  listing.add("Delivered", fmt::format("{} since the host's start", number(webhook, "delivered")));
  listing.add_unless_empty("The last one", at("delivered_at_ms"));
  if (const auto failures = number(webhook, "failures"); failures > 0)
    listing.add("Fails",
                {fmt::format("{} times since {}: {}", failures, at("failing_since_ms"), text(webhook, "problem")),
                 Style::kBad});
  listing.print(session.console);
  return kOk;
}

int test_webhook(const Session& session) {
  const auto answer = session.host.post("/v1/webhook/test", "");
  if (!session.printed(answer)) session.console.out() << "Delivered to " << text(answer.json, "delivered_to") << ".\n";
  return kOk;
}

}  // namespace krux::cli
