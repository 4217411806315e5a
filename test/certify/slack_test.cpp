// Our own adapter passes the kit that others have to pass, against its emulator.
#include <catch2/catch.hpp>

#include "bundle_dir.hpp"

using namespace krux;
using certify::CheckOutcome;

TEST_CASE("The Slack adapter passes the conformance kit") {
  const test::BundleDir bundle;
  bundle.copy(KRUXOS_SLACK_ADAPTER, "slack.so");
  bundle.copy(KRUXOS_SLACK_DEFINITION, "slack.yaml");
  bundle.copy(KRUXOS_SLACK_MANIFEST, "manifest.yaml");
  bundle.link(KRUXOS_SLACK_EMULATOR, "slack-emulator");
  const auto report = certify::certify(bundle.options());
  INFO(certify::report_text(report));
  CHECK(report.passed());
  CHECK(report.whole);
  for (const auto& check : report.checks) {
    if (check.outcome != CheckOutcome::kNotChecked) continue;
    // What the service has no counterpart of: cursors that expire, and a reaction that somebody changes.
    INFO(check.id << " " << check.subject);
    CHECK((check.id == "sync.cursors" || (check.id == "rollback.conflict" && check.subject == "slack.react")));
  }
}
