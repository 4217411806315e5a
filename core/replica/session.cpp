#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <tuple>

#include "core/replica/record_writer.hpp"
#include "core/replica/replica_limits.hpp"
#include "core/replica/sync_shared.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostGathered = 64 << 20, kChunk = 256 << 10;
constexpr std::size_t kChangeBytes = 500;  ///< of a change without its texts
constexpr std::size_t kMostProblems = 5000;
constexpr std::int64_t kLargestBlob = std::int64_t{256} << 20;

/// One record's last change.
struct Change {
  Record record;  ///< erased: collection and id alone
  bool erased = false;
  std::string left_out;  ///< why the replica cannot take it; empty: it can
  bool fetched = false;  ///< counts only where the record is not there, and as seen by the newest pass
};

struct KeptText {
  std::string text, left_out;
};

/// Changes in any order, then what is to be swept: a sweep sees the changes before it and not those behind it.
struct Stretch {
  std::map<std::pair<std::string, std::string>, Change> changes;
  std::vector<Sweep> sweeps;
};

struct StagedBlob {
  std::optional<std::int64_t> blob;  ///< nothing: the one of that name is erased
  std::string collection, id, name;
};

/// At most `longest` bytes, and no broken character whatever came.
std::string clip(std::string_view text, std::size_t longest) {
  auto end = std::min(text.size(), longest);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  const auto clipped = text.substr(0, end);
  return is_valid_utf8(clipped) ? std::string(clipped) : printable(clipped);
}

}  // namespace

class Replica::Session final : public SyncSession {
 public:
  /// `rows`: which ones it writes of a collection that is being built.
  Session(std::shared_ptr<Shared> shared, Rows rows)
      : shared_(std::move(shared)),
        rows_(rows),
        pooled_(std::make_shared<PooledReader>(shared_->readers, rows)),
        reader_(pooled_) {}
  ~Session() override {
    for (const auto& staged : blobs_) {
      if (staged.blob) drop_blob(*staged.blob);
    }
  }

  std::string put(Record record) override;
  std::string put_fetched(Record record, std::string_view too_large) override;
  void leave_out(Record record, std::string_view why) override;
  void keep_text(std::string_view collection, std::string_view id, std::string_view text) override;
  void erase(std::string_view collection, std::string_view id) override;
  void sweep(std::string_view collection, std::string_view scope, std::int64_t generation, std::int64_t from_ms,
             std::int64_t to_ms) override;
  void put_blob(std::string_view collection, std::string_view id, std::string_view name, std::int64_t total,
                const std::function<std::int64_t(char*, std::size_t)>& source) override;
  void erase_blob(std::string_view collection, std::string_view id, std::string_view name) override;
  std::optional<std::string> cursor(std::string_view key) override;
  void set_cursor(std::string_view key, std::string_view value) override;
  void commit() override;
  void report(std::string_view part, krux_status status, std::string_view message) override;
  const std::shared_ptr<ReplicaReader>& reader() override;
  RecordChanges changes() const override { return changes_; }
  std::uint64_t replaced() const override { return replaced_; }
  void close() override;

 private:
  void check_open() const;
  void gather(Change change);
  void count_gathered(std::size_t bytes);
  RecordWriter apply(StatementCache& statements);
  void apply_changes(const Stretch& stretch, RecordWriter& writer) const;
  void note_generation(const Record& record) const;
  void apply_fetched(const Change& change, RecordWriter& writer, std::int64_t now) const;
  static Change without_content(Record record, std::string_view why);
  const std::string* kept_text(const Record& record) const;
  void link_blobs(StatementCache& statements, const CollectionTables& tables) const;
  void write_cursors(StatementCache& statements) const;
  std::int64_t stage_blob();
  void add_chunk(std::int64_t blob, std::int64_t seq, std::string_view bytes);
  std::int64_t receive_blob(std::int64_t blob, const std::function<std::int64_t(char*, std::size_t)>& source);
  void drop_blob(std::int64_t blob) noexcept;

  const CollectionTable& declared(std::string_view collection) const {
    return shared_->readers->sets().filled->get(collection);
  }

  const std::shared_ptr<Shared> shared_;
  const Rows rows_;
  const std::shared_ptr<PooledReader> pooled_;
  const std::shared_ptr<ReplicaReader> reader_;
  std::vector<Stretch> stretches_;
  std::map<std::pair<std::string, std::string>, KeptText> kept_;  ///< by collection and id
  std::map<std::string, std::string> cursors_;
  std::vector<StagedBlob> blobs_;
  std::size_t gathered_ = 0;
  RecordChanges changes_;
  std::uint64_t replaced_ = 0;
  std::atomic<bool> closed_ = false;
  std::mutex closing_;  ///< held for a COMMIT: after close() none can begin
};

std::shared_ptr<SyncSession> Replica::begin_session() {
  return std::make_shared<Session>(shared_, Rows::kFilled);
}

std::shared_ptr<SyncSession> Replica::begin_keeping() {
  return std::make_shared<Session>(shared_, Rows::kServed);
}

void Replica::Session::check_open() const {
  if (closed_) throw Error(ErrorCode::kCancelled, "The call was ended: nothing more is stored.");
}

void Replica::Session::close() {
  const std::lock_guard guard(closing_);
  closed_ = true;
}

void Replica::Session::count_gathered(std::size_t bytes) {
  gathered_ += bytes;
  if (gathered_ > kMostGathered) {
    throw invalid_input(
        "More than 64 MiB of changes were gathered without a commit: commit after each page (200 records).");
  }
}

void Replica::Session::gather(Change change) {
  // Its id is the key that it is gathered under as well.
  count_gathered(kChangeBytes + memory_of(change.record) + change.record.id.size() + change.left_out.size());
  if (stretches_.empty() || !stretches_.back().sweeps.empty()) stretches_.emplace_back();
  const auto key = std::make_pair(change.record.collection, change.record.id);
  stretches_.back().changes.insert_or_assign(key, std::move(change));
}

std::string Replica::Session::put(Record record) {
  check_open();
  auto why = fit_record(record, declared(record.collection), replaced_);
  if (why.empty()) {
    gather({std::move(record), false, {}});
  } else {
    leave_out(std::move(record), why);
  }
  return why;
}

/// One adapter cannot put the records of another one's version: while those are served nothing is put.
std::string Replica::Session::put_fetched(Record record, std::string_view too_large) {
  check_open();
  const auto& table = declared(record.collection);
  const auto sets = shared_->readers->sets();
  if (sets.served->get(record.collection).set != table.set) return "its collection is being built anew";
  auto why = too_large.empty() ? fit_record(record, table, replaced_) : std::string(too_large);
  auto change = why.empty() ? Change{std::move(record), false, {}} : without_content(std::move(record), why);
  change.fetched = true;
  gather(std::move(change));
  return why;
}

void Replica::Session::leave_out(Record record, std::string_view why) {
  check_open();
  declared(record.collection);
  gather(without_content(std::move(record), why));
}

Change Replica::Session::without_content(Record record, std::string_view why) {
  Change change;
  change.record.collection = std::move(record.collection);
  change.record.id = std::move(record.id);
  change.record.scope = std::move(record.scope);
  change.record.order_ms = record.order_ms;
  change.record.generation = record.generation;
  change.left_out = clip(why, 1024);
  return change;
}

void Replica::Session::keep_text(std::string_view collection, std::string_view id, std::string_view text) {
  check_open();
  KeptText kept{std::string(text), {}};
  kept.left_out = fit_kept_text(kept.text, declared(collection), replaced_);
  if (!kept.left_out.empty()) kept.text.clear();
  count_gathered(kChangeBytes + id.size() + kept.text.size() + kept.left_out.size());
  kept_[{std::string(collection), std::string(id)}] = std::move(kept);
}

void Replica::Session::erase(std::string_view collection, std::string_view id) {
  check_open();
  declared(collection);
  Change change;
  change.record.collection = collection;
  change.record.id = id;
  change.erased = true;
  gather(std::move(change));
}

void Replica::Session::sweep(std::string_view collection, std::string_view scope, std::int64_t generation,
                             std::int64_t from_ms, std::int64_t to_ms) {
  check_open();
  declared(collection);
  count_gathered(kChangeBytes + scope.size());
  if (stretches_.empty()) stretches_.emplace_back();
  stretches_.back().sweeps.push_back({std::string(collection), std::string(scope), generation, from_ms, to_ms});
}

std::optional<std::string> Replica::Session::cursor(std::string_view key) {
  check_open();
  const std::lock_guard guard(shared_->mutex);
  auto& statement = shared_->writer().get("SELECT value FROM cursors WHERE name = ?1");
  const ResetAtEnd reset(statement);
  statement.bind(1, key);
  if (!statement.step()) return std::nullopt;
  return std::string(statement.text(0));
}

void Replica::Session::set_cursor(std::string_view key, std::string_view value) {
  check_open();
  if (key.empty() || key.size() > replica_limits::kLongestId || !is_valid_utf8(key) || !is_valid_utf8(value) ||
      value.size() > replica_limits::kLongestCursor) {
    throw invalid_input("A cursor's name is UTF-8 of 1 to 1024 bytes, its value UTF-8 of at most 64 KiB.");
  }
  count_gathered(kChangeBytes + key.size() + value.size());
  cursors_[std::string(key)] = value;
}

void Replica::Session::commit() {
  check_open();
  RecordWatches::Changed noted;
  std::shared_ptr<const RecordWatches> watches;
  {
    const std::lock_guard guard(shared_->mutex);
    auto& statements = shared_->writer();
    Transaction transaction(statements.db());
    auto writer = apply(statements);
    const auto left_out = writer.left_out();
    {
      const std::lock_guard closing(closing_);
      check_open();
      KRUX_FAULT_POINT("sync.commit.before_commit");
      transaction.commit();
      KRUX_FAULT_POINT("sync.commit.after_commit");
    }
    const std::lock_guard telling(shared_->told);
    for (const auto& [collection, growth] : writer.growth()) shared_->counts[collection] += growth;
    shared_->changes += writer.changes();
    if (left_out) {
      shared_->left_out_rows = left_out->rows;
      shared_->state.left_out = left_out->served;
    }
    changes_ += writer.changes();
    noted = writer.noted();
    watches = shared_->watches;
  }
  if (!noted.empty()) watches->tell(shared_->watched_service, noted);
  stretches_.clear();
  kept_.clear();
  cursors_.clear();
  blobs_.clear();
  gathered_ = 0;
  pooled_->refresh();  // who reads in the same step sees what it has committed
}

RecordWriter Replica::Session::apply(StatementCache& statements) {
  const auto now = shared_->clock.wall_ms();
  const auto& tables = shared_->tables(rows_);
  RecordWriter writer(statements, tables, shared_->left_out_rows > 0);
  if (shared_->watches) writer.note_for(*shared_->watches, shared_->watched_service);
  for (const auto& stretch : stretches_) {
    apply_changes(stretch, writer);
    for (const auto& sweep : stretch.sweeps) writer.sweep(sweep);
  }
  for (const auto& [of, kept] : kept_) {
    writer.keep_text(of.first, of.second, kept.text);
    if (kept.left_out.empty()) continue;
    Record record;
    std::tie(record.collection, record.id) = of;
    writer.leave_out_kept_text(record, kept.left_out, now);
  }
  for (const auto& [collection, growth] : writer.growth()) {
    statements.get("UPDATE collections SET rows = rows + ?2 WHERE name = ?1")
        .bind_all(tables.get(collection).set, growth)
        .run();
  }
  link_blobs(statements, tables);
  write_cursors(statements);
  return writer;
}

/// In the order of their keys: the search index takes a whole page at once as long as keys ascend.
void Replica::Session::apply_changes(const Stretch& stretch, RecordWriter& writer) const {
  std::vector<const Change*> order;
  for (const auto& [key, change] : stretch.changes) order.push_back(&change);
  std::stable_sort(order.begin(), order.end(), [](const Change* a, const Change* b) {
    const int collections = a->record.collection.compare(b->record.collection);
    return collections != 0 ? collections < 0 : a->record.order_ms > b->record.order_ms;
  });
  const auto now = shared_->clock.wall_ms();
  for (const auto* change : order) {
    if (change->fetched) {
      apply_fetched(*change, writer, now);
    } else if (change->erased) {
      writer.erase(change->record.collection, change->record.id);
    } else if (!change->left_out.empty()) {
      writer.leave_out(change->record, change->left_out, now);
    } else {
      writer.put(change->record, kept_text(change->record), now);
      note_generation(change->record);
    }
  }
}

/// Only where somebody has asked for it.
void Replica::Session::note_generation(const Record& record) const {
  auto& newest = shared_->newest_generation;
  if (newest.empty()) return;
  const auto known = newest.find(shared_->tables(rows_).get(record.collection).set);
  if (known != newest.end()) known->second = std::max(known->second, record.generation);
}

/// With a lower generation the pass that runs now would sweep it, with a higher one no pass would.
void Replica::Session::apply_fetched(const Change& change, RecordWriter& writer, std::int64_t now) const {
  if (writer.has(change.record.collection, change.record.id)) return;
  auto record = change.record;
  auto& newest = shared_->newest_generation;
  const auto& set = shared_->tables(rows_).get(record.collection).set;
  auto known = newest.find(set);
  if (known == newest.end()) known = newest.emplace(set, writer.newest_generation(record.collection)).first;
  record.generation = known->second;
  if (change.left_out.empty()) return writer.put(record, nullptr, now);
  writer.leave_out(record, change.left_out, now);
}

/// At once with the record, so that the search index learns its text once.
const std::string* Replica::Session::kept_text(const Record& record) const {
  const auto kept = kept_.find({record.collection, record.id});
  return kept == kept_.end() ? nullptr : &kept->second.text;
}

void Replica::Session::link_blobs(StatementCache& statements, const CollectionTables& tables) const {
  for (const auto& staged : blobs_) {
    const auto& table = tables.get(staged.collection);
    auto& row = statements.get(fmt::format("SELECT 1 FROM {} WHERE id = ?1", table.rows));
    row.bind(1, staged.id);
    const bool there = row.step();
    row.reset();
    statements.get("DELETE FROM blobs WHERE collection = ?1 AND id = ?2 AND name = ?3")
        .bind_all(table.set, staged.id, staged.name)
        .run();
    if (!staged.blob) continue;
    if (!there) {  // erased meanwhile
      statements.get("DELETE FROM blobs WHERE blob = ?1").bind_all(*staged.blob).run();
      continue;
    }
    statements.get("UPDATE blobs SET collection = ?2, id = ?3, name = ?4 WHERE blob = ?1")
        .bind_all(*staged.blob, table.set, staged.id, staged.name)
        .run();
  }
}

void Replica::Session::write_cursors(StatementCache& statements) const {
  for (const auto& [name, value] : cursors_) {
    if (value.empty()) {
      statements.get("DELETE FROM cursors WHERE name = ?1").bind_all(name).run();
    } else {
      statements.get("INSERT INTO cursors VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
          .bind_all(name, value)
          .run();
    }
  }
}

/// Arrives in transactions of its own, so that nobody waits for the network with the database locked; commit() links
/// it.
void Replica::Session::put_blob(std::string_view collection, std::string_view id, std::string_view name,
                                std::int64_t total, const std::function<std::int64_t(char*, std::size_t)>& source) {
  check_open();
  declared(collection);
  if (!is_valid_utf8(name)) throw invalid_input("A blob's name is valid UTF-8.");
  count_gathered(kChangeBytes + id.size() + name.size());
  const auto blob = stage_blob();
  try {
    const auto bytes = receive_blob(blob, source);
    if (total >= 0 && bytes != total) {
      throw invalid_input(
          fmt::format("The blob \"{}\" has {} bytes where {} were announced.", printable(name), bytes, total));
    }
  } catch (...) {
    drop_blob(blob);
    throw;
  }
  blobs_.push_back({blob, std::string(collection), std::string(id), std::string(name)});
}

void Replica::Session::erase_blob(std::string_view collection, std::string_view id, std::string_view name) {
  check_open();
  declared(collection);
  count_gathered(kChangeBytes + id.size() + name.size());
  blobs_.push_back({std::nullopt, std::string(collection), std::string(id), std::string(name)});
}

std::int64_t Replica::Session::receive_blob(std::int64_t blob,
                                            const std::function<std::int64_t(char*, std::size_t)>& source) {
  std::string chunk(kChunk, '\0');
  std::int64_t bytes = 0, n = 1;
  for (std::int64_t seq = 0; n > 0; ++seq) {
    std::size_t filled = 0;
    while (filled < kChunk && (n = source(chunk.data() + filled, kChunk - filled)) > 0)
      filled += static_cast<std::size_t>(n);
    check_open();
    if (n < 0) throw Error(ErrorCode::kBodyFetchFailed, "The source of a blob failed before its end.", true);
    bytes += static_cast<std::int64_t>(filled);
    if (bytes > kLargestBlob) throw invalid_input(fmt::format("A blob has at most {} MiB.", kLargestBlob >> 20));
    if (filled > 0) add_chunk(blob, seq, std::string_view(chunk).substr(0, filled));
  }
  return bytes;
}

std::int64_t Replica::Session::stage_blob() {
  const std::lock_guard guard(shared_->mutex);
  shared_->writer().get("INSERT INTO blobs DEFAULT VALUES").run();
  return sqlite3_last_insert_rowid(shared_->writer().db());
}

void Replica::Session::add_chunk(std::int64_t blob, std::int64_t seq, std::string_view bytes) {
  const std::lock_guard guard(shared_->mutex);
  auto& statement = shared_->writer().get("INSERT INTO blob_chunks VALUES (?1, ?2, ?3)");
  const ResetAtEnd reset(statement);
  statement.bind(1, blob);
  statement.bind(2, seq);
  statement.bind_blob(3, bytes);
  statement.run();
}

void Replica::Session::drop_blob(std::int64_t blob) noexcept {
  try {
    const std::lock_guard guard(shared_->mutex);
    shared_->writer().get("DELETE FROM blobs WHERE blob = ?1").bind_all(blob).run();
  } catch (const Error&) {
    // It goes when the replica is opened next.
  }
}

void Replica::Session::report(std::string_view part, krux_status status, std::string_view message) {
  check_open();
  const std::lock_guard guard(shared_->mutex);
  const auto name = clip(part, replica_limits::kLongestId);
  const auto known = shared_->problems.find(name);
  if (status == KRUX_OK) {
    if (known == shared_->problems.end()) return;
    shared_->writer().get("DELETE FROM problems WHERE part = ?1").bind_all(name).run();
    const std::lock_guard telling(shared_->told);
    shared_->problems.erase(known);
    return;
  }
  // They are held in memory, and more of them tell nobody more.
  if (known == shared_->problems.end() && shared_->problems.size() >= kMostProblems) return;
  const auto now = shared_->clock.wall_ms();
  const SyncProblem problem{name, clip(message, replica_limits::kLongestReport), status,
                            known == shared_->problems.end() ? now : known->second.since_ms, now};
  shared_->writer()
      .get(
          "INSERT INTO problems VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (part) DO UPDATE SET status = excluded.status, "
          "message = excluded.message, seen_ms = excluded.seen_ms")
      .bind_all(problem.part, static_cast<std::int64_t>(problem.status), problem.message, problem.since_ms,
                problem.seen_ms)
      .run();
  const std::lock_guard telling(shared_->told);
  shared_->problems[name] = problem;
}

const std::shared_ptr<ReplicaReader>& Replica::Session::reader() {
  check_open();
  pooled_->refresh();
  return reader_;
}

}  // namespace krux
