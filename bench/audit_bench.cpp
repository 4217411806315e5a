// What the audit log costs: an ack of a write with it and without, the row of a read, checking a whole log.
//   bench-audit [ROWS]      default: 200,000 rows are checked; on the disk that TMPDIR is on
#include <fmt/format.h>
#include <time.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "bench/ack_clients.hpp"
#include "bench/report.hpp"
#include "core/audit/audit_log.hpp"
#include "core/audit/verify.hpp"
#include "core/capability/call_audit.hpp"
#include "core/capability/capability_handler.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/clock.hpp"
#include "core/write/write_buffer.hpp"

using namespace krux;
using namespace krux::bench;
namespace fs = std::filesystem;

namespace {

constexpr double kReadUs = 200;  ///< of a search that finds one row, through the gateway: docs/benchmarks.md
const AccountRef kAccount{"notes", "N1", 1};

NewWrite audited_note(std::int64_t number) {
  auto w = note(number);
  w.audited.decision_json = R"({"tier":"notify","decided_by":{"definition":"1.0.0","capability":"notes.add"}})";
  w.audited.parameters_json = R"({"n":{"type":"number"},"text":{"type":"text","bytes":600}})";
  return w;
}

/// As docs/audit.md describes it, or a ledger whose outbox keeps nothing, which nobody reads.
enum class With { kAudit, kNothing };

class Acks {
 public:
  Acks(const fs::path& directory, With with) : store_(made(directory, with), kLedgerKind), buffer_(store_, clock_) {
    if (with == With::kNothing) return;
    AuditOptions options;
    options.file = directory / "audit.db";
    log_.emplace(store_, clock_, std::move(options));
    observation_ = buffer_.ledger.observe([this](const WriteRecord&) { log_->wake(); });
  }

  double rate(int clients) { return clients_.rate(clients); }
  /// Everything that was acknowledged stands in the log.
  void check(const fs::path& directory) {
    if (!log_->flush()) wrong("the log was not written");
    const auto found = verify_audit(directory / "audit.db");
    if (!found.whole() || found.rows != clients_.acked() + 1) wrong("the log does not hold what was acknowledged");
  }

 private:
  /// A table that takes rows and keeps none.
  static fs::path made(const fs::path& directory, With with) {
    fs::create_directories(directory);
    auto file = directory / "kruxos.db";
    const auto db = open_database(file, kLedgerKind);
    if (with == With::kNothing)
      execute(db->getHandle(),
              "DROP TABLE audit_outbox; CREATE VIEW audit_outbox AS SELECT 0 AS seq, 0 AS at_ms, '' AS kind, '' AS "
              "agent_id, '' AS service, '' AS account_id, '' AS write_id, '' AS body WHERE 0; CREATE TRIGGER none "
              "INSTEAD OF INSERT ON audit_outbox BEGIN SELECT 1; END");
    return file;
  }
  SystemClock clock_;
  GroupCommit store_;
  WriteBuffer buffer_;
  std::optional<AuditLog> log_;
  Ledger::Observation observation_;
  AckClients clients_{buffer_.ledger, audited_note};
};

void acks(const fs::path& directory, int clients) {
  const auto audited = directory / fmt::format("audited{}", clients), bare = directory / fmt::format("bare{}", clients);
  Acks ours(audited, With::kAudit), theirs(bare, With::kNothing);
  Rounds rounds;
  for (int round = 0; round < Rounds::kPairs; ++round) {
    const auto baseline = theirs.rate(clients);
    rounds.add(ours.rate(clients), baseline);
  }
  ours.check(audited);
  print_rates(fmt::format("acks, {} client{}, audited / not audited", clients, clients > 1 ? "s" : ""), rounds, 0.9);
}

double thread_us() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

double process_us() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

/// Of the thread that answers, and of all that is done for its row.
void reads(const fs::path& directory, std::int64_t rows) {
  SystemClock clock;
  GroupCommit store(directory / "reads.db", kLedgerKind);
  AuditOptions options;
  options.file = directory / "audit.db";
  AuditLog log(store, clock, std::move(options));
  ServiceDefinition definition;
  definition.version = "1.0.0";
  CapabilityDefinition search;
  search.name = "notes.search";
  Invocation invocation;
  invocation.agent_id = "agent_0192f0c1-0000-7000-8000-000000000000";
  invocation.session_id = "sess_0192f0c1-0000-7000-8000-000000000000";
  invocation.capability = search.name;
  invocation.arguments_json = R"({"query":"meeting notes","limit":20,"offset":0})";
  const auto params = parse_json(invocation.arguments_json, "arguments");
  constexpr std::int64_t kBatch = 10'000;
  std::vector<double> caller, all;
  for (std::int64_t done = 0; done < rows; done += kBatch) {
    const auto thread_before = thread_us(), process_before = process_us();
    for (std::int64_t i = 0; i < kBatch; ++i) {
      CallAudit call(log);
      call.is(definition, search);
      call.given(params);
      call.ended(invocation, &kAccount, {});
    }
    caller.push_back((thread_us() - thread_before) / kBatch);
    if (!log.flush()) wrong("the log was not written");
    all.push_back((process_us() - process_before) / kBatch);
  }
  print_bound("audit of a read, CPU of its thread", caller, "us", kReadUs * 0.05);
  print_bound("audit of a read, CPU of all threads", all, "us", kReadUs * 0.1);
  const auto start = now_s();
  const auto check = verify_audit(directory / "audit.db");
  const auto seconds = now_s() - start;
  if (!check.whole() || check.rows != (rows + kBatch - 1) / kBatch * kBatch + 1) wrong("the log is not whole");
  print_bound("audit verify, a million rows", seconds / static_cast<double>(check.rows) * 1e6, "s", 60);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::stoll(argv[1]) : 200'000;
  configure_sqlite();
  const auto directory = scratch_directory();
  print_header();
  acks(directory, 1);
  acks(directory, 64);
  reads(directory, rows);
}
