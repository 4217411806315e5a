// What the effect ledger costs beside plain SQLite: acks of buffered writes, claims, the due poll with a full ledger.
// Every row compares two things measured in turn in this run; it fails when a count is wrong.
//   bench-write [PENDING]      default: 1,000,000 pending writes; on the disk that TMPDIR is on
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <semaphore>
#include <utility>
#include <vector>

#include "bench/ack_clients.hpp"
#include "bench/pending_writes.hpp"
#include "bench/report.hpp"
#include "core/storage/database.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/clock.hpp"
#include "core/write/ledger.hpp"
#include "core/write/ledger_rows.hpp"
#include "core/write/write_buffer.hpp"

using namespace krux;
using namespace krux::bench;
namespace fs = std::filesystem;

namespace {

const AccountRef kAccount{"notes", "N1", 1};
const std::string kBody(600, 'x');

/// One table as plain as a durable queue can be: an insert, a unique key, an index of what is due.
class PlainTable {
 public:
  explicit PlainTable(const fs::path& file) : db_(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    execute(db_.getHandle(), "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    execute(
        db_.getHandle(),
        "CREATE TABLE writes (id INTEGER PRIMARY KEY, service TEXT NOT NULL, account TEXT NOT NULL, operation TEXT NOT "
        "NULL, payload TEXT NOT NULL, state INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL, key TEXT NOT NULL "
        "UNIQUE, created_at INTEGER NOT NULL); CREATE INDEX due ON writes (due_at, id) WHERE state = 0");
    insert_ = std::make_unique<Statement>(
        db_.getHandle(),
        "INSERT INTO writes (service, account, operation, payload, due_at, key, created_at) "
        "VALUES ('notes', 'N1', 'notes.add', ?1, ?2, ?3, ?2)");
  }
  ~PlainTable() { insert_.reset(); }

  /// Rows a second with `batch` rows a commit.
  double rate(int batch) {
    const auto rows_before = rows_;
    const auto start = now_s();
    while (now_s() - start < kRoundSeconds) {
      execute(db_.getHandle(), "BEGIN IMMEDIATE");
      for (int i = 0; i < batch; ++i) {
        ++rows_;
        const auto key = fmt::format("{:016x}{:08x}", static_cast<std::uint64_t>(rows_) * 0x9E3779B97F4A7C15U, rows_);
        insert_->bind_all(kBody, rows_, key).run();
      }
      execute(db_.getHandle(), "COMMIT");
    }
    return static_cast<double>(rows_ - rows_before) / (now_s() - start);
  }

 private:
  SQLite::Database db_;
  std::unique_ptr<Statement> insert_;
  std::int64_t rows_ = 0;
};

/// The ledger's own table, its indexes and triggers, filled by a bare connection: what the schema alone costs.
class LedgerTable {
 public:
  explicit LedgerTable(const fs::path& file) : db_(open_database(file, kLedgerKind)), sql_(db_->getHandle()) {
    execute(db_->getHandle(), "INSERT INTO boots (boot, boot_id) VALUES (1, 'boot')");
  }

  double rate(int batch) {
    const auto rows_before = rows_;
    const auto start = now_s();
    while (now_s() - start < kRoundSeconds) {
      execute(db_->getHandle(), "BEGIN IMMEDIATE");
      for (int i = 0; i < batch; ++i) insert();
      execute(db_->getHandle(), "COMMIT");
    }
    return static_cast<double>(rows_ - rows_before) / (now_s() - start);
  }

 private:
  void insert() {
    const auto asked = note(++rows_);
    LedgerRow row;
    row.boot = 1;
    auto& w = row.write;
    w.agent_id = asked.agent_id;
    w.account = asked.account;
    w.operation = asked.operation;
    w.params_json = w.params_shown_json = asked.params_json;
    w.summary = asked.summary;
    w.content_hash = content_hash(w.account, w.operation, w.params_json);
    w.due_at_ms = w.created_at_ms = 1'700'000'000'000 + rows_;
    number_row(sql_, row);
    insert_row(sql_, row);
  }

  std::unique_ptr<SQLite::Database> db_;
  StatementCache sql_;
  std::int64_t rows_ = 0;
};

class Acks {
 public:
  explicit Acks(const fs::path& file) : store_(file, kLedgerKind), buffer_(store_, clock_) {}

  double rate(int clients) {
    const auto acks = clients_.rate(clients);
    if (buffer_.ledger.counts().buffered != clients_.acked()) wrong("the ledger does not hold what was acknowledged");
    return acks;
  }

 private:
  SystemClock clock_;
  GroupCommit store_;
  WriteBuffer buffer_;
  AckClients clients_{buffer_.ledger, note};
};

template <class Table>
void acks_against_commits(const fs::path& directory, int clients, int batch, const std::string& table, double wanted) {
  Table plain(directory / fmt::format("{}{}.db", table, clients));
  Acks acks(directory / fmt::format("{}{}-acks.db", table, clients));
  Rounds rounds;
  for (int round = 0; round < Rounds::kPairs; ++round) {
    const auto theirs = plain.rate(batch);
    rounds.add(acks.rate(clients), theirs);
  }
  print_rates(
      fmt::format("acks, {} client{} / FULL commits of {} to a {}", clients, clients > 1 ? "s" : "", batch, table),
      rounds, wanted);
}

/// A ledger with `pending` buffered writes, none of them due.
void fill(GroupCommit& store, std::int64_t pending, std::int64_t due_at_ms) {
  for (std::int64_t done = 0; done < pending;) {
    const auto count = std::min<std::int64_t>(pending - done, 100'000);
    store.run([&](SQLite::Database& db) { add_pending(db, kAccount, done, count, due_at_ms); });
    done += count;
  }
}

struct FilledLedger {
  FilledLedger(const fs::path& directory, std::int64_t pending)
      : store(directory / fmt::format("pending{}.db", pending), kLedgerKind), ledger(store, clock, "boot") {
    fill(store, pending, clock.wall_ms() + 3'600'000);
    if (ledger.counts().buffered != pending) wrong("the ledger is not filled");
    if (!ledger.take(accounts, {16, 16}, {}).empty()) wrong("something is due");
  }
  /// Microseconds of one poll that finds nothing due; `held`: because a pause holds everything.
  double poll(bool held) {
    constexpr int polls = 10'000;
    const auto start = now_s();
    for (int i = 0; i < polls; ++i) {
      const auto next = ledger.next_due_in(accounts, {4, 2}, {});
      if (held ? next.has_value() : next.value_or(0) == 0) wrong("something is due, or held");
    }
    return (now_s() - start) / polls * 1e6;
  }
  void pause() {
    store.run([](SQLite::Database& db) {
      execute(
          db.getHandle(),
          "INSERT INTO agent_pauses (agent_id, paused_at_ms, paused_by, reason) VALUES ('agent_1', 1, 'bench', '')");
    });
  }
  SystemClock clock;
  GroupCommit store;
  Ledger ledger;
  const std::vector<AccountRef> accounts{kAccount};
};

void due_poll(const fs::path& directory, std::int64_t pending) {
  FilledLedger few(directory, 10), many(directory, pending);
  for (const bool held : {false, true}) {
    Rounds rounds;
    for (int round = 0; round < Rounds::kPairs; ++round) {
      const auto with_few = few.poll(held);
      rounds.add(many.poll(held), with_few);
    }
    print_times(fmt::format("due poll, {} pending{} / 10", pending, held ? " of a paused agent" : ""), rounds, "us", 2);
    if (held) continue;
    few.pause();
    many.pause();
  }
}

/// Whether the commit that claims the next writes also records what came of those before, as the executor has it where
/// writes wait for a place, or each has its own.
enum class Outcomes { kApart, kWithNext };

/// Due writes that are claimed and completed, without an adapter.
class Claims {
 public:
  Claims(const fs::path& file, std::int64_t due) : store_(file, kLedgerKind), ledger_(store_, clock_, "boot") {
    fill(store_, due, clock_.wall_ms() - 3'600'000);
  }

  /// Writes a second, `batch` at a time.
  double rate(std::size_t batch, Outcomes outcomes) {
    const auto before = completed_;
    const auto start = now_s();
    if (outcomes == Outcomes::kApart) {
      while (now_s() - start < kRoundSeconds) complete(ledger_.take(accounts_, {batch, batch}, {}).writes);
    } else {
      auto taken = ledger_.take(accounts_, {batch, batch}, {}).writes;
      while (now_s() - start < kRoundSeconds) taken = complete_and_take(taken);
      complete(taken);
    }
    const auto seconds = now_s() - start;
    if (ledger_.counts().completed != completed_) wrong("not everything was completed");
    return static_cast<double>(completed_ - before) / seconds;
  }

 private:
  void complete(const std::vector<WriteRecord>& taken) {
    if (taken.empty()) wrong("there is nothing due any more");
    std::counting_semaphore<> recorded{0};
    for (const auto& write : taken) {
      ledger_.record(
          done(write),
          [&](std::variant<WriteRecord, Error> answer) {
            if (!std::holds_alternative<WriteRecord>(answer)) wrong("an outcome was not recorded");
            recorded.release();
          },
          thread_of(taken.size()));
    }
    for (std::size_t i = 0; i < taken.size(); ++i) recorded.acquire();
    completed_ += static_cast<std::int64_t>(taken.size());
  }
  std::vector<WriteRecord> complete_and_take(const std::vector<WriteRecord>& taken) {
    if (taken.empty()) wrong("there is nothing due any more");
    std::vector<Ledger::Outcome> outcomes;
    for (const auto& write : taken) {
      outcomes.push_back({done(write), [&](const std::variant<WriteRecord, Error>& answer) {
                            if (!std::holds_alternative<WriteRecord>(answer)) wrong("an outcome was not recorded");
                            ++completed_;
                          }});
    }
    return ledger_.take(accounts_, {taken.size(), taken.size()}, {}, kOrderWaitMs, std::move(outcomes)).writes;
  }
  static WriteReport done(const WriteRecord& write) {
    WriteReport report;
    report.write_id = write.write_id;
    report.attempt = write.attempts;
    report.event = WriteEvent::kDone;
    report.result_json = "{}";
    return report;
  }

  SystemClock clock_;
  GroupCommit store_;
  Ledger ledger_;
  const std::vector<AccountRef> accounts_{kAccount};
  std::int64_t completed_ = 0;
};

/// Half the commits: a claim and an outcome apart are a commit each.
void claims_against_commits(const fs::path& directory, int batch, Outcomes outcomes, double wanted) {
  const auto name = fmt::format("claims{}{}", batch, outcomes == Outcomes::kApart ? "" : "-with-next");
  PlainTable plain(directory / (name + "-plain.db"));
  Claims claims(directory / (name + ".db"), batch == 1 ? 100'000 : 300'000);
  Rounds rounds;
  for (int round = 0; round < Rounds::kPairs; ++round) {
    const auto theirs = plain.rate(batch) / 2;
    rounds.add(claims.rate(static_cast<std::size_t>(batch), outcomes), theirs);
  }
  print_rates(fmt::format("claimed and completed{}, batches of {} / half the FULL commits of {} to a plain table",
                          outcomes == Outcomes::kApart ? "" : " with the next claim", batch, batch),
              rounds, wanted);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t pending = argc > 1 ? std::stoll(argv[1]) : 1'000'000;
  configure_sqlite();
  const auto directory = scratch_directory();
  print_header();
  acks_against_commits<PlainTable>(directory, 1, 1, "plain table", 0.8);
  acks_against_commits<LedgerTable>(directory, 1, 1, "bare ledger", 0.8);
  acks_against_commits<PlainTable>(directory, 64, 64, "plain table", 0.65);
  acks_against_commits<LedgerTable>(directory, 64, 64, "bare ledger", 0.6);
  due_poll(directory, pending);
  claims_against_commits(directory, 1, Outcomes::kWithNext, 0.9);
  claims_against_commits(directory, 1, Outcomes::kApart, 0.9);
  claims_against_commits(directory, 64, Outcomes::kApart, 0.8);
}
