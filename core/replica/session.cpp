#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "core/replica/record_writer.hpp"
#include "core/replica/sync_shared.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostGathered = 64 << 20, kChunk = 256 << 10, kLongestCursor = 1 << 20;
constexpr std::int64_t kLargestBlob = std::int64_t{256} << 20;

/// One record's last change.
struct Change {
  Record record;  ///< erased: collection and id alone
  bool erased = false;
};

/// Changes in any order, then what is to be swept: a sweep sees the changes before it and not those behind it.
struct Stretch {
  std::map<std::pair<std::string, std::string>, Change> changes;
  std::vector<Sweep> sweeps;
};

struct StagedBlob {
  std::int64_t blob;
  std::string collection, id, name;
};

std::size_t size_of(const Record& r) {
  std::size_t size = 200 + r.collection.size() + r.id.size() + r.json.size() + r.text.size() + r.order_key.size();
  for (const auto& [name, value] : r.fields) {
    size += 64 + name.size() + (std::holds_alternative<std::string>(value) ? std::get<std::string>(value).size() : 0);
  }
  return size;
}

/// At most `longest` bytes, and no broken character whatever came.
std::string clip(std::string_view text, std::size_t longest) {
  auto end = std::min(text.size(), longest);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  const auto clipped = text.substr(0, end);
  return is_valid_utf8(clipped) ? std::string(clipped) : printable(clipped);
}

}  // namespace

class SyncStore::Session final : public SyncSession {
 public:
  explicit Session(std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)), pooled_(std::make_shared<PooledReader>(shared_->readers)), reader_(pooled_) {}
  ~Session() override {
    for (const auto& staged : blobs_) drop_blob(staged.blob);
  }

  void put(Record record) override;
  void keep_text(std::string_view collection, std::string_view id, std::string_view text) override;
  void erase(std::string_view collection, std::string_view id) override;
  void sweep(std::string_view collection, std::string_view scope, std::int64_t generation, std::int64_t from_ms,
             std::int64_t to_ms) override;
  void put_blob(std::string_view collection, std::string_view id, std::string_view name, std::int64_t total,
                const std::function<std::int64_t(char*, std::size_t)>& source) override;
  std::optional<std::string> cursor(std::string_view key) override;
  void set_cursor(std::string_view key, std::string_view value) override;
  void commit() override;
  void report(std::string_view part, krux_status status, std::string_view message) override;
  const std::shared_ptr<ReplicaReader>& reader() override;
  RecordChanges changes() const override { return changes_; }
  void close() override;

 private:
  void check_open() const;
  void gather(Change change);
  void count_gathered(std::size_t bytes);
  RecordWriter apply(StatementCache& statements);
  void apply_changes(const Stretch& stretch, RecordWriter& writer) const;
  const std::string* kept_text(const Record& record) const;
  void link_blobs(StatementCache& statements) const;
  void write_cursors(StatementCache& statements) const;
  std::int64_t stage_blob();
  void add_chunk(std::int64_t blob, std::int64_t seq, std::string_view bytes);
  std::int64_t receive_blob(std::int64_t blob, const std::function<std::int64_t(char*, std::size_t)>& source);
  void drop_blob(std::int64_t blob) noexcept;

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<PooledReader> pooled_;
  const std::shared_ptr<ReplicaReader> reader_;
  std::vector<Stretch> stretches_;
  std::map<std::pair<std::string, std::string>, std::string> kept_;  ///< by collection and id
  std::map<std::string, std::string> cursors_;
  std::vector<StagedBlob> blobs_;
  std::size_t gathered_ = 0;
  RecordChanges changes_;
  std::atomic<bool> closed_ = false;
  std::mutex closing_;  ///< held for a COMMIT: after close() none can begin
};

std::shared_ptr<SyncSession> SyncStore::begin_session() {
  return std::make_shared<Session>(shared_);
}

void SyncStore::Session::check_open() const {
  if (closed_) throw Error("Cancelled", "The call was ended: nothing more is stored.");
}

void SyncStore::Session::close() {
  const std::lock_guard guard(closing_);
  closed_ = true;
}

void SyncStore::Session::count_gathered(std::size_t bytes) {
  gathered_ += bytes;
  if (gathered_ > kMostGathered) {
    throw invalid_input(
        "More than 64 MiB of changes were gathered without a commit: commit after each page (200 records).");
  }
}

void SyncStore::Session::gather(Change change) {
  count_gathered(size_of(change.record));
  if (stretches_.empty() || !stretches_.back().sweeps.empty()) stretches_.emplace_back();
  const auto key = std::make_pair(change.record.collection, change.record.id);
  stretches_.back().changes.insert_or_assign(key, std::move(change));
}

void SyncStore::Session::put(Record record) {
  check_open();
  check_record(record, shared_->tables->get(record.collection));
  gather({std::move(record), false});
}

void SyncStore::Session::keep_text(std::string_view collection, std::string_view id, std::string_view text) {
  check_open();
  check_kept_text(id, text, shared_->tables->get(collection));
  count_gathered(200 + id.size() + text.size());
  kept_[{std::string(collection), std::string(id)}] = text;
}

void SyncStore::Session::erase(std::string_view collection, std::string_view id) {
  check_open();
  shared_->tables->get(collection);
  Change change;
  change.record.collection = collection;
  change.record.id = id;
  change.erased = true;
  gather(std::move(change));
}

void SyncStore::Session::sweep(std::string_view collection, std::string_view scope, std::int64_t generation,
                               std::int64_t from_ms, std::int64_t to_ms) {
  check_open();
  shared_->tables->get(collection);
  count_gathered(200);
  if (stretches_.empty()) stretches_.emplace_back();
  stretches_.back().sweeps.push_back({std::string(collection), std::string(scope), generation, from_ms, to_ms});
}

std::optional<std::string> SyncStore::Session::cursor(std::string_view key) {
  check_open();
  const std::lock_guard guard(shared_->mutex);
  auto& statement = shared_->writer().get("SELECT value FROM cursors WHERE name = ?1");
  const ResetAtEnd reset(statement);
  statement.bind(1, key);
  if (!statement.step()) return std::nullopt;
  return std::string(statement.text(0));
}

void SyncStore::Session::set_cursor(std::string_view key, std::string_view value) {
  check_open();
  if (key.empty() || key.size() > 1024 || !is_valid_utf8(key) || !is_valid_utf8(value) ||
      value.size() > kLongestCursor) {
    throw invalid_input("A cursor's name is UTF-8 of 1 to 1024 bytes, its value UTF-8 of at most 1 MiB.");
  }
  count_gathered(key.size() + value.size());
  cursors_[std::string(key)] = value;
}

void SyncStore::Session::commit() {
  check_open();
  {
    const std::lock_guard guard(shared_->mutex);
    auto& statements = shared_->writer();
    Transaction transaction(statements.db());
    const auto writer = apply(statements);
    {
      const std::lock_guard closing(closing_);
      check_open();
      KRUX_FAULT_POINT("sync.commit.before_commit");
      transaction.commit();
      KRUX_FAULT_POINT("sync.commit.after_commit");
    }
    for (const auto& [collection, growth] : writer.growth()) shared_->counts[collection] += growth;
    shared_->changes += writer.changes();
    changes_ += writer.changes();
  }
  stretches_.clear();
  kept_.clear();
  cursors_.clear();
  blobs_.clear();
  gathered_ = 0;
  pooled_->refresh();  // who reads in the same step sees what it has committed
}

RecordWriter SyncStore::Session::apply(StatementCache& statements) {
  RecordWriter writer(statements, *shared_->tables);
  for (const auto& stretch : stretches_) {
    apply_changes(stretch, writer);
    for (const auto& sweep : stretch.sweeps) writer.sweep(sweep);
  }
  for (const auto& [of, text] : kept_) writer.keep_text(of.first, of.second, text);
  for (const auto& [collection, growth] : writer.growth()) {
    statements.get("UPDATE collections SET rows = rows + ?2 WHERE name = ?1")
        .bind_all(std::string_view(collection), growth)
        .run();
  }
  link_blobs(statements);
  write_cursors(statements);
  return writer;
}

/// In the order of their keys: the search index takes a whole page at once as long as keys ascend.
void SyncStore::Session::apply_changes(const Stretch& stretch, RecordWriter& writer) const {
  std::vector<const Change*> order;
  for (const auto& [key, change] : stretch.changes) order.push_back(&change);
  std::stable_sort(order.begin(), order.end(), [](const Change* a, const Change* b) {
    const int collections = a->record.collection.compare(b->record.collection);
    return collections != 0 ? collections < 0 : a->record.order_ms > b->record.order_ms;
  });
  const auto now = shared_->clock.wall_ms();
  for (const auto* change : order) {
    if (change->erased) {
      writer.erase(change->record.collection, change->record.id);
    } else {
      writer.put(change->record, kept_text(change->record), now);
    }
  }
}

/// At once with the record, so that the search index learns its text once.
const std::string* SyncStore::Session::kept_text(const Record& record) const {
  const auto kept = kept_.find({record.collection, record.id});
  return kept == kept_.end() ? nullptr : &kept->second;
}

void SyncStore::Session::link_blobs(StatementCache& statements) const {
  for (const auto& staged : blobs_) {
    const auto exists = fmt::format("SELECT 1 FROM {} WHERE id = ?1", shared_->tables->get(staged.collection).rows);
    auto& row = statements.get(exists);
    row.bind(1, staged.id);
    const bool there = row.step();
    row.reset();
    statements.get("DELETE FROM blobs WHERE collection = ?1 AND id = ?2 AND name = ?3")
        .bind_all(staged.collection, staged.id, staged.name)
        .run();
    if (!there) {  // erased meanwhile
      statements.get("DELETE FROM blobs WHERE blob = ?1").bind_all(staged.blob).run();
      continue;
    }
    statements.get("UPDATE blobs SET collection = ?2, id = ?3, name = ?4 WHERE blob = ?1")
        .bind_all(staged.blob, staged.collection, staged.id, staged.name)
        .run();
  }
}

void SyncStore::Session::write_cursors(StatementCache& statements) const {
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
void SyncStore::Session::put_blob(std::string_view collection, std::string_view id, std::string_view name,
                                  std::int64_t total, const std::function<std::int64_t(char*, std::size_t)>& source) {
  check_open();
  shared_->tables->get(collection);
  if (id.empty() || !is_valid_utf8(id) || !is_valid_utf8(name))
    throw invalid_input("A blob's id and name are valid UTF-8.");
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

std::int64_t SyncStore::Session::receive_blob(std::int64_t blob,
                                              const std::function<std::int64_t(char*, std::size_t)>& source) {
  std::string chunk(kChunk, '\0');
  std::int64_t bytes = 0, n = 1;
  for (std::int64_t seq = 0; n > 0; ++seq) {
    std::size_t filled = 0;
    while (filled < kChunk && (n = source(chunk.data() + filled, kChunk - filled)) > 0)
      filled += static_cast<std::size_t>(n);
    check_open();
    if (n < 0) throw Error("BodyFetchFailed", "The source of a blob failed before its end.", true);
    bytes += static_cast<std::int64_t>(filled);
    if (bytes > kLargestBlob) throw invalid_input(fmt::format("A blob has at most {} MiB.", kLargestBlob >> 20));
    if (filled > 0) add_chunk(blob, seq, std::string_view(chunk).substr(0, filled));
  }
  return bytes;
}

std::int64_t SyncStore::Session::stage_blob() {
  const std::lock_guard guard(shared_->mutex);
  shared_->writer().get("INSERT INTO blobs DEFAULT VALUES").run();
  return sqlite3_last_insert_rowid(shared_->writer().db());
}

void SyncStore::Session::add_chunk(std::int64_t blob, std::int64_t seq, std::string_view bytes) {
  const std::lock_guard guard(shared_->mutex);
  auto& statement = shared_->writer().get("INSERT INTO blob_chunks VALUES (?1, ?2, ?3)");
  const ResetAtEnd reset(statement);
  statement.bind(1, blob);
  statement.bind(2, seq);
  statement.bind_blob(3, bytes);
  statement.run();
}

void SyncStore::Session::drop_blob(std::int64_t blob) noexcept {
  try {
    const std::lock_guard guard(shared_->mutex);
    shared_->writer().get("DELETE FROM blobs WHERE blob = ?1").bind_all(blob).run();
  } catch (const Error&) {
    // It goes when the replica is opened next.
  }
}

void SyncStore::Session::report(std::string_view part, krux_status status, std::string_view message) {
  check_open();
  const std::lock_guard guard(shared_->mutex);
  const auto name = clip(part, 1024);
  const auto known = shared_->problems.find(name);
  if (status == KRUX_OK) {
    if (known == shared_->problems.end()) return;
    shared_->writer().get("DELETE FROM problems WHERE part = ?1").bind_all(name).run();
    shared_->problems.erase(known);
    return;
  }
  const auto now = shared_->clock.wall_ms();
  const SyncProblem problem{name, clip(message, 4096), status,
                            known == shared_->problems.end() ? now : known->second.since_ms, now};
  shared_->writer()
      .get(
          "INSERT INTO problems VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (part) DO UPDATE SET status = excluded.status, "
          "message = excluded.message, seen_ms = excluded.seen_ms")
      .bind_all(problem.part, static_cast<std::int64_t>(problem.status), problem.message, problem.since_ms,
                problem.seen_ms)
      .run();
  shared_->problems[name] = problem;
}

const std::shared_ptr<ReplicaReader>& SyncStore::Session::reader() {
  check_open();
  pooled_->refresh();
  return reader_;
}

}  // namespace krux
