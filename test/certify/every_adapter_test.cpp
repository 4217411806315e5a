// The contract of every adapter that this build makes: it holds a certificate. One that brings nothing to be tried out
// with fails.
#include <catch2/catch.hpp>
#include <set>

#include "bundle_dir.hpp"
#include "core/util/json.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using certify::CheckOutcome;
namespace fs = std::filesystem;

namespace {

/// What the adapter's bundle is made of, besides the library.
void fill(const test::BundleDir& bundle, const std::string& service) {
  const fs::path own = fs::path(KRUXOS_CERTIFY_MANIFESTS) / service;
  const fs::path example = fs::path(KRUXOS_EXAMPLES) / (service + "_adapter");
  const auto& directory = fs::exists(own) ? own : example;
  INFO("An adapter needs a bundle: " << own << " or " << example << " with manifest.yaml and a fake service");
  REQUIRE(fs::exists(directory / "manifest.yaml"));
  bundle.copy(directory / "manifest.yaml", "manifest.yaml");
  const fs::path definitions = fs::exists(own) ? fs::path(KRUXOS_DEFINITIONS) : example / "definitions";
  bundle.copy(definitions / (service + ".yaml"), service + ".yaml");
  if (const auto fake = directory / ("fake_" + service + ".py"); fs::exists(fake)) {
    bundle.copy(fake, fake.filename().string());
  }
  if (const auto emulator = fs::path(KRUXOS_EMULATORS) / (service + "-emulator"); fs::exists(emulator)) {
    bundle.link(emulator, emulator.filename().string());
  }
}

/// What cannot be tried out with a service, and why: it has no counterpart of it.
const std::set<std::string> kNoCounterpart{
    "notes sync.cursors ",                  // its cursors do not expire
    "tasks sync.cursors ",                  // nor do these
    "slack sync.cursors ",                  // nor do these
    "gmail sync.cursors ",                  // a lost history leaves a note, so that no mailbox is compared for ever
    "slack rollback.conflict slack.react",  // nobody can change a reaction
};

void passes(const std::string& service) {
  const test::BundleDir bundle;
  const auto library = fs::path(KRUXOS_ADAPTERS) / (service + ".so");
  bundle.copy(library, library.filename().string());
  fill(bundle, service);
  const auto report = certify::certify(bundle.options());
  INFO(certify::report_text(report));
  CHECK(report.passed());
  CHECK(report.whole);
  for (const auto& check : report.checks) {
    if (check.outcome != CheckOutcome::kNotChecked) continue;
    INFO(check.id << " " << check.subject);
    CHECK(kNoCounterpart.contains(service + " " + check.id + " " + check.subject));
  }
  REQUIRE(certify::write_certificate(report, {}) == bundle.path() / "certificate.json");
  const auto certificate = parse_json(bundle.read("certificate.json"), "the certificate");
  CHECK(find_int(certificate, "certificate") == 1);
  CHECK(find_string(certificate, "version") == report.manifest.version);
  CHECK(find_string(*find_member(certificate, "hashes"), report.manifest.library) == report.library_sha256);
  CHECK(find_member(certificate, "checks")->Size() == report.checks.size());
}

}  // namespace

// A case for each, since the kit takes a minute or two.
TEST_CASE("The Gmail adapter passes the conformance kit") {
  passes("gmail");
}
TEST_CASE("The Slack adapter passes the conformance kit") {
  passes("slack");
}
TEST_CASE("The first example's adapter passes the conformance kit") {
  passes("notes");
}
TEST_CASE("The second example's adapter passes the conformance kit") {
  passes("tasks");
}

TEST_CASE("Every adapter of the build is tried with the conformance kit") {
  std::set<std::string> adapters;
  for (const auto& entry : fs::directory_iterator(KRUXOS_ADAPTERS)) adapters.insert(entry.path().stem().string());
  // The kit stands between an adapter and its service. These work on the machine itself, and have no service: tests of
  // their own kill them at each step and change what they work on.
  for (const char* local : {"filesystem", "network", "process"}) CHECK(adapters.erase(local) == 1);
  CHECK(adapters == std::set<std::string>{"gmail", "notes", "slack", "tasks"});
}

}  // namespace KRUXOS_TEST_FILE
