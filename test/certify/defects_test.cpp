// Each defect is found by the check that was made for it, with real processes and a real library.
#include <catch2/catch.hpp>

#include <set>

#include "bundle_dir.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using certify::CheckOutcome;

namespace {

struct Defect {
  const char *name, *check;
};

constexpr Defect kDefects[] = {
    {"names_another", "account.verify"},
    {"refusal_is_network", "account.refused"},
    {"guesses_account", "account.faults"},
    {"verifies_for_ever", "account.in_time"},
    {"counts_rows", "sync.repeat"},
    {"counts_rows", "sync.idle"},
    {"sweeps_always", "sync.idle"},
    {"keeps_deleted", "sync.changes"},
    {"starts_at_the_end", "sync.resume"},
    {"nothing_is_empty", "sync.connection"},
    {"nothing_is_empty", "sync.server"},
    {"nothing_is_empty", "sync.refused"},
    {"limit_is_network", "sync.limited"},
    {"crashes_on_nonsense", "sync.garbage"},
    {"syncs_for_ever", "sync.in_time"},
    {"syncs_by_the_hosts_clock", "sync.changes"},
    {"sweeps_never", "sync.cursors"},
    {"stops_at_odd_words", "sync.hostile"},
    {"fetches_in_read", "read.answers"},
    {"answers_text", "read.answers"},
    {"answers_other_types", "read.answers"},
    {"answers_differently", "read.answers"},
    {"exits_in_read", "read.answers"},
    {"answers_anything", "read.bad"},
    {"resolves_on", "write.resolve"},
    {"finds_other_result", "write.once"},
    {"sends_again", "write.answer_lost"},
    {"denies_it", "write.answer_lost"},
    {"never_found", "write.answer_lost"},
    {"believes_it", "write.not_sent"},
    {"always_found", "write.not_sent"},
    {"finds_its_twin", "write.twins"},
    {"forgets_retry_after", "write.limited"},
    {"denies_server_errors", "write.server"},
    {"crashes_on_nonsense", "write.garbage"},
    {"waits_for_ever", "write.in_time"},
    {"crashes_on_params", "write.bad"},
    {"absent_unseen", "write.find_faults"},
    {"undoes_nothing", "rollback.undoes"},
    {"cannot_undo", "rollback.undoes"},
    {"undoes_blindly", "rollback.conflict"},
    {"denies_undoing", "rollback.answer_lost"},
    {"denies_undoing_5xx", "rollback.faults"},
    {"reads_alone", "threads.side_by_side"},
    {"leaves_thread", "life.leaks"},
    {"leaves_descriptor", "life.leaks"},
    {"revokes_nothing", "account.revoke"},
    {"revokes_always", "account.revoke"},
};

std::string failures(const certify::CertifyReport& report) {
  std::string out;
  for (const auto& check : report.checks) {
    if (check.outcome == CheckOutcome::kFailed) out += check.id + " " + check.subject + ": " + check.happened + "\n";
  }
  return out;
}

/// Of the example's fake service: what was asked for since a time before `forget` is answered with 410.
void let_cursors_expire(const test::NotesBundle& bundle) {
  bundle.replace("conformance:\n", "conformance:\n  expire_cursors: {path: /_fake/forget}\n");
  auto service = bundle.read("fake_notes.py");
  const auto put_before = [&](const std::string& where, const std::string& what) {
    const auto at = service.find(where);
    REQUIRE(at != std::string::npos);
    service.insert(at, what);
  };
  put_before("            return 200, self.notes.page(",
             "            if 0 < int(query.get(\"since\", 0)) < getattr(self.notes, \"forgotten\", 0):\n"
             "                return 410, {\"error\": \"that is too long ago\"}\n");
  put_before(
      "        if path == [\"add\"]:",
      "        if path == [\"forget\"]:\n            time.sleep(0.002)\n            self.notes.forgotten = now_ms()\n"
      "            return 200, {}\n");
  bundle.write("fake_notes.py", service);
}

certify::CertifyReport run(const std::string& defect, const std::vector<std::string>& only) {
  const test::NotesBundle bundle(KRUXOS_SWITCHABLE_NOTES);
  bundle.replace("{page_size: 2}", defect.empty() ? "{}" : "{defect: " + defect + "}");
  let_cursors_expire(bundle);
  auto options = bundle.options();
  options.only = only;
  options.check_limit_ms = 30'000;
  return certify::certify(options);
}

void expect_found(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    const auto& defect = kDefects[i];
    INFO(defect.name << " by " << defect.check);
    const auto report = run(defect.name, {defect.check});
    INFO(failures(report));
    bool found = false;
    for (const auto& check : report.checks) {
      const bool failed = check.outcome == CheckOutcome::kFailed;
      found = found || (failed && check.id == defect.check);
      CHECK((!failed || check.id == defect.check));
      CHECK((!failed || !check.happened.empty()));
    }
    CHECK(found);
  }
}

}  // namespace

TEST_CASE("Without a defect the checks that find defects pass") {
  std::set<std::string> ids{"describe.same", "secret.token"};
  for (const auto& defect : kDefects) ids.insert(defect.check);
  const auto report = run("", {ids.begin(), ids.end()});
  INFO(failures(report));
  CHECK(report.passed());
  CHECK(report.count(CheckOutcome::kNotChecked) == 0);
}

TEST_CASE("Defects of account and sync are found") {
  expect_found(0, 18);
}

TEST_CASE("Defects of reads are found") {
  expect_found(18, 25);
}

TEST_CASE("Defects of writes are found") {
  expect_found(25, 38);
}

TEST_CASE("Defects of rollbacks, threads and lifetimes are found") {
  expect_found(38, std::size(kDefects));
}

TEST_CASE("An operation with two states, whose change is its undoing, is no conflict") {
  const test::NotesBundle bundle(KRUXOS_SWITCHABLE_NOTES);
  bundle.replace("{page_size: 2}", "{}");
  bundle.replace("{path: /_fake/edit, body: {id: \"{result.id}\", text: somebody else}}",
                 "{path: /_fake/delete, body: {id: \"{result.id}\"}}");
  auto options = bundle.options();
  options.only = {"rollback.conflict"};
  const auto report = certify::certify(options);
  INFO(failures(report));
  CHECK(report.passed());
}

TEST_CASE("An adapter that copies answers out has no token to copy, though the service repeats it") {
  const auto report = run("tells_the_body", {"account.refused", "secret"});
  INFO(failures(report));
  CHECK(report.count(CheckOutcome::kFailed) == 0);
  CHECK(report.checks.back().id == "secret.token");
  CHECK(report.checks.back().outcome == CheckOutcome::kPassed);
  CHECK(certify::report_json(report).find("note-") == std::string::npos);
}

TEST_CASE("An adapter that ends the process costs its own check alone") {
  const auto report = run("exits_in_read", {"read", "write.once"});
  INFO(failures(report));
  CHECK_THAT(failures(report), Catch::Contains("did not come to the check's end") && Catch::Contains("code 0"));
  for (const auto& check : report.checks) {
    if (check.id == "write.once") CHECK(check.outcome == CheckOutcome::kPassed);
  }
}

}  // namespace KRUXOS_TEST_FILE
