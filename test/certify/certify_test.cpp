// The kit as a whole: reports, certificates, manifests that do not fit, services that do not start.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "bundle_dir.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "support/process.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;
using certify::CheckOutcome;

namespace {

const certify::CheckResult& result_of(const certify::CertifyReport& report, const std::string& id) {
  for (const auto& check : report.checks) {
    if (check.id == id) return check;
  }
  throw std::runtime_error("there is no result of " + id);
}

std::string failures(const certify::CertifyReport& report) {
  std::string out;
  for (const auto& check : report.checks) {
    if (check.outcome == CheckOutcome::kFailed) out += check.id + " " + check.subject + ": " + check.happened + "\n";
  }
  return out;
}

certify::CertifyReport run(const test::BundleDir& bundle, std::vector<std::string> only = {}) {
  auto options = bundle.options();
  options.only = std::move(only);
  return certify::certify(options);
}

std::string refusal(const test::BundleDir& bundle, std::vector<std::string> only = {}) {
  try {
    run(bundle, std::move(only));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("A run that fails takes the certificate away, one of some checks gives none") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  bundle.write("certificate.json", "{}");
  const auto some = run(bundle, {"describe.same"});
  CHECK(some.passed());
  CHECK_FALSE(some.whole);
  CHECK(certify::write_certificate(some, {}).empty());
  CHECK(bundle.read("certificate.json") == "{}");
  bundle.replace("account: acct-1", "account: acct-2");
  const auto failed = run(bundle, {"account.verify"});
  CHECK_THAT(failures(failed), Contains("acct-1") && Contains("acct-2"));
  CHECK(certify::write_certificate(failed, {}).empty());
  CHECK_FALSE(std::filesystem::exists(bundle.path() / "certificate.json"));
}

TEST_CASE("What the manifest does not tell is said, not guessed") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  bundle.replace("      effects: {request: GET /_fake/effects, at: /made}\n", "");
  bundle.replace("    notes.read: {note_id: n000001}\n", "    notes.search: {query: milk}\n");
  const auto report = run(bundle, {"sync.cursors", "read.answers", "write.once", "write.twins"});
  INFO(failures(report));
  CHECK(report.passed());
  CHECK(result_of(report, "write.twins").outcome == CheckOutcome::kNotChecked);
  CHECK_THAT(result_of(report, "write.once").happened, Contains("effects is missing"));
  CHECK(result_of(report, "sync.cursors").outcome == CheckOutcome::kNotChecked);
  CHECK_THAT(certify::report_text(report), Contains("because conformance.expire_cursors is missing"));
  CHECK_THAT(certify::report_text(report), Contains("notes.read, which needs note_id"));
}

TEST_CASE("A manifest that does not fit its library or definition is found out") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  bundle.replace("version: 1.0.0", "version: 1.0.1");
  CHECK_THAT(failures(run(bundle, {"manifest"})), Contains("notes 1.0.0") && Contains("notes 1.0.1"));
  bundle.replace("version: 1.0.1", "version: 1.0.0");
  bundle.replace("abi: 1", "abi: 2");
  CHECK_THAT(failures(run(bundle, {"manifest"})), Contains("ABI 2"));
  bundle.replace("abi: 2", "abi: 1");
  bundle.replace("[notes.example]", "[other.example]");
  CHECK_THAT(failures(run(bundle, {"manifest"})), Contains("notes.example"));
  bundle.replace("[other.example]", "[notes.example]");
  bundle.replace("notes.read:", "notes.reed:");
  const auto report = run(bundle, {"manifest", "describe.same"});
  CHECK_THAT(failures(report), Contains("notes.reed"));
  CHECK(result_of(report, "describe.same").outcome == CheckOutcome::kNotChecked);
}

TEST_CASE("A fake service that does not start fails with what it printed") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  bundle.replace("[python3, fake_notes.py, ", "[sh, -c, 'echo \"no such luck\"; exit 3', x, ");
  const auto ended = run(bundle, {"service", "describe.same"});
  CHECK_THAT(failures(ended), Contains("code 3") && Contains("no such luck"));
  CHECK(result_of(ended, "describe.same").outcome == CheckOutcome::kNotChecked);
  bundle.replace("[sh, -c, 'echo \"no such luck\"; exit 3', x, ", "[./nothing-of-this-name, ");
  CHECK_THAT(failures(run(bundle, {"service"})), Contains("could not be started"));
}

TEST_CASE("A prepare request that the service refuses fails the start") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  bundle.replace("path: /_fake/add, body: {texts: [buy", "path: /_fake/ad, body: {texts: [buy");
  CHECK_THAT(failures(run(bundle, {"service"})), Contains("/_fake/ad") && Contains("404"));
}

TEST_CASE("Without a fake service nothing is tried out and nothing certified") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  auto text = bundle.read("manifest.yaml");
  bundle.write("manifest.yaml", text.substr(0, text.find("conformance:")));
  const auto report = run(bundle);
  CHECK(report.passed());
  CHECK_FALSE(report.whole);
  CHECK(certify::write_certificate(report, {}).empty());
  CHECK_THAT(result_of(report, "write.once").happened, Contains("no section conformance"));
}

TEST_CASE("A library that the host refuses is not run") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  bundle.write("notes.so", "this is no library");
  const auto report = run(bundle, {"describe.same"});
  CHECK(result_of(report, "library.accepted").outcome == CheckOutcome::kFailed);
  CHECK(result_of(report, "describe.same").outcome == CheckOutcome::kNotChecked);
}

TEST_CASE("Manifests and names of checks that are of no use are refused") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  CHECK_THAT(refusal(bundle, {"write.twin"}), Contains("did you mean \"write.twins\""));
  bundle.replace("manifest: 1", "manifest: one");
  CHECK_THAT(refusal(bundle), Contains("manifest.yaml:"));
}

TEST_CASE("Checks that the whole time does not suffice for have failed") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  auto options = bundle.options();
  options.only = {"describe.same"};
  options.time_limit_ms = 0;
  const auto report = certify::certify(options);
  CHECK_THAT(failures(report), Contains("whole time"));
}

TEST_CASE("The fake service is gone afterwards, with everything that it started") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  bundle.replace(
      "[python3, fake_notes.py, ",
      "[sh, -c, 'echo $$ > own.pid; sleep 1000 & echo $! > other.pid; exec python3 fake_notes.py \"$@\"', x, ");
  CHECK(failures(run(bundle, {"describe.same"})) == "");
  for (const char* name : {"own.pid", "other.pid"}) {
    const auto pid = std::stoi(bundle.read(name));
    REQUIRE(pid > 1);
    // Its new parent may need a moment to see that it has ended.
    bool gone = false;
    for (int i = 0; i < 500 && !gone; ++i) {
      gone = kill(pid, 0) != 0;
      std::ifstream state("/proc/" + std::to_string(pid) + "/stat");
      const std::string text{std::istreambuf_iterator<char>(state), {}};
      gone = gone || text.find(") Z") != std::string::npos;
      if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(gone);
  }
}

TEST_CASE("A fake service that ends during a check is said to, and started again for the next") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  bundle.write("dying.py",
               "import os, socket, time, fake_notes\n"
               "real = fake_notes.Handler.control\n"
               "def control(self, path, body):\n"
               "    if path == ['die']:\n"
               "        print('farewell', flush=True)\n"
               "        self.connection.shutdown(socket.SHUT_RDWR)  # its end is seen before it has gone\n"
               "        time.sleep(0.1)\n"
               "        os._exit(7)\n"
               "    return real(self, path, body)\n"
               "fake_notes.Handler.control = control\n"
               "fake_notes.main()\n");
  bundle.replace("python3, fake_notes.py", "python3, dying.py");
  bundle.replace("  changes:\n", "  changes:\n    - POST /_fake/die\n");
  const auto report = run(bundle, {"sync.changes", "sync.resume"});
  CHECK_THAT(result_of(report, "sync.changes").happened, Contains("ended during this check") && Contains("farewell"));
  CHECK(result_of(report, "sync.resume").outcome == CheckOutcome::kPassed);
}

TEST_CASE("The command prints a report and answers with its exit code") {
  const test::NotesBundle bundle(KRUXOS_NOTES_PLUGIN);
  const auto command = [&](std::vector<std::string> more) {
    std::vector<std::string> argv{KRUXOS_COMMAND, "adapter", "certify"};
    argv.insert(argv.end(), more.begin(), more.end());
    return test::run({.argv = argv}, std::chrono::milliseconds(60'000));
  };
  const auto path = bundle.path().string();
  const auto good = command({path, "--only", "describe", "--only", "account.verify"});
  CHECK(good.status.code == 0);
  CHECK_THAT(good.out, Contains("account.verify") && Contains("No certificate") && !Contains("\x1b"));
  const auto json = command({path, "--json", "--only", "describe.same"});
  CHECK(find_bool(parse_json(json.out, "the report"), "passed") == true);
  CHECK(command({"--list"}).out.find("write.twins") != std::string::npos);
  CHECK(command({}).status.code == 2);
  CHECK(command({path, "--only", "nothing"}).status.code == 1);
  bundle.replace("account: acct-1", "account: \"acct-\\e[2J\"");
  CHECK(command({path, "--only", "account.verify"}).status.code == 1);
}

TEST_CASE("A directory of bundles is certified one by one, and one that cannot be used ends no other") {
  const support::Scratch scratch;
  const auto home = std::filesystem::canonical(scratch.path());
  const test::NotesBundle good(KRUXOS_NOTES_PLUGIN), broken(KRUXOS_NOTES_PLUGIN), other(KRUXOS_NOTES_PLUGIN);
  broken.replace("manifest: 1", "manifest: one");
  other.replace("version: 1.0.0", "version: 1.0.1");
  std::filesystem::create_directory(home / "empty");
  const auto certify = [&](std::vector<std::string> more) {
    std::vector<std::string> argv{KRUXOS_COMMAND, "adapter", "certify", home.string(), "--only", "manifest"};
    argv.insert(argv.end(), more.begin(), more.end());
    return test::run({.argv = argv}, std::chrono::milliseconds(60'000));
  };
  CHECK(certify({}).status.code == 2);
  for (const auto* name : {"b_good", "a_good"}) std::filesystem::copy(good.path(), home / name);
  const auto fine = certify({});
  CHECK(fine.status.code == 0);
  CHECK(fine.out.find("== a_good") < fine.out.find("== b_good"));
  CHECK_THAT(fine.out, Contains("All 2 adapters passed."));
  std::filesystem::copy(broken.path(), home / "broken");
  std::filesystem::copy(other.path(), home / "other");
  const auto some = certify({});
  CHECK(some.status.code == 1);
  CHECK_THAT(some.out, Contains("2 of 4 adapters failed: broken, other") && Contains("manifest.yaml:"));
  const auto json = parse_json(certify({"--json"}).out, "the reports");
  CHECK(find_bool(json, "passed") == false);
  CHECK(find_member(json, "bundles")->Size() == 4);
  CHECK(certify({"--output", "c.json"}).status.code == 2);
}

}  // namespace KRUXOS_TEST_FILE
