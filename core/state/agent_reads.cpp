#include "core/state/agent_reads.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"

namespace krux {
namespace {

/// Below kFirstHash nothing that was read stands for itself.
constexpr std::int64_t kAnything = 0, kForgotten = 1, kFirstMark = 2, kFirstHash = 16;
constexpr std::int64_t kTidyEveryMs = 3'600'000, kTidiedAtOnce = 10'000;

/// FNV-1a: the same on every machine and in every version.
std::int64_t hash_of(const TextValue& value) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  add(static_cast<unsigned char>(value.kind));
  for (const char c : value.text) add(static_cast<unsigned char>(c));
  const auto number = static_cast<std::int64_t>(hash);
  return number >= 0 && number < kFirstHash ? number + kFirstHash : number;
}

bool is_of_text(std::int64_t hash) {
  return hash < 0 || hash >= kFirstHash;
}

std::int64_t hash_of(ReadMark mark) {
  return kFirstMark + static_cast<std::int64_t>(mark);
}

struct Note {
  std::int64_t first_ms = 0, last_ms = 0;
  std::shared_ptr<const ReadSource> source;
};

struct Row {
  std::int64_t hash = 0;
  Note note;
};

/// A tree: others choose what is hashed.
using Notes = std::map<std::int64_t, Note>;

void store_rows(sqlite3* db, const std::string& agent_id, const std::vector<Row>& rows) {
  Statement row(db,
                "INSERT INTO agent_reads (agent_id, value_hash, first_ms, last_ms, service, account_id, capability, "
                "target) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (agent_id, value_hash) DO UPDATE SET "
                "last_ms = excluded.last_ms, service = excluded.service, account_id = excluded.account_id, "
                "capability = excluded.capability, target = excluded.target");
  for (const auto& [hash, note] : rows) {
    const auto& from = *note.source;
    row.bind_all(agent_id, hash, note.first_ms, note.last_ms, from.service, from.account_id, from.capability,
                 from.target)
        .run();
  }
}

void forget_rows(sqlite3* db, std::int64_t before_ms) {
  Statement(db,
            "DELETE FROM agent_reads WHERE (agent_id, value_hash) IN (SELECT agent_id, value_hash FROM agent_reads "
            "WHERE last_ms < ?1 LIMIT ?2)")
      .bind_all(before_ms, kTidiedAtOnce)
      .run();
}

}  // namespace

struct AgentReads::State {
  State(GroupCommit& s, Clock& c, Limits l) : store(s), clock(c), limits(l) {}

  void load();
  /// Of one value of an agent; whether it is to be stored.
  bool renew(Notes& notes, std::int64_t hash, const std::shared_ptr<const ReadSource>& source, std::int64_t now);
  std::optional<Found> find(std::string_view agent_id, std::int64_t hash, std::int64_t at_ms) const;

  GroupCommit& store;
  Clock& clock;
  const Limits limits;
  mutable std::mutex mutex;  ///< over what follows
  std::map<std::string, Notes, std::less<>> agents;
  std::int64_t tidied_ms = 0;
};

void AgentReads::State::load() {
  const auto since = clock.wall_ms() - limits.keep_ms;
  agents = store.run([&](SQLite::Database& db) {
    std::map<std::string, Notes, std::less<>> all;
    Statement row(db.getHandle(),
                  "SELECT agent_id, value_hash, first_ms, last_ms, service, account_id, capability, target FROM "
                  "agent_reads WHERE last_ms >= ?1");
    row.bind_all(since);
    while (row.step()) {
      const auto text = [&](int column) { return std::string(row.text(column)); };
      const auto source = std::make_shared<const ReadSource>(ReadSource{text(4), text(5), text(6), text(7)});
      all[text(0)][row.integer(1)] = {row.integer(2), row.integer(3), source};
    }
    return all;
  });
}

bool AgentReads::State::renew(Notes& notes, std::int64_t hash, const std::shared_ptr<const ReadSource>& source,
                              std::int64_t now) {
  const auto at = notes.find(hash);
  if (at == notes.end()) {
    if (notes.size() >= limits.per_agent && is_of_text(hash)) {
      std::erase_if(notes, [&](const auto& one) { return one.second.last_ms < now - limits.keep_ms; });
      if (notes.size() >= limits.per_agent) return false;
    }
    notes[hash] = {now, now, source};
    return true;
  }
  auto& note = at->second;
  const bool over = note.last_ms < now - limits.keep_ms;
  if (over) note.first_ms = now;
  const bool elsewhere = !source->target.empty() && !(*note.source == *source);
  if (!over && !elsewhere && now - note.last_ms < limits.renewed_ms) return false;
  if (elsewhere || over || hash == kAnything) note.source = source;
  note.last_ms = now;
  return true;
}

std::optional<AgentReads::Found> AgentReads::State::find(std::string_view agent_id, std::int64_t hash,
                                                         std::int64_t at_ms) const {
  const std::lock_guard lock(mutex);
  const auto agent = agents.find(agent_id);
  if (agent == agents.end()) return std::nullopt;
  const auto at = agent->second.find(hash);
  if (at == agent->second.end()) return std::nullopt;
  const auto& note = at->second;
  const auto by = at_ms > 0 ? at_ms : clock.wall_ms();
  if (note.last_ms < by - limits.keep_ms || (at_ms > 0 && note.first_ms > at_ms)) return std::nullopt;
  return Found{*note.source, note.first_ms, note.last_ms};
}

AgentReads::AgentReads(GroupCommit& store, Clock& clock, Limits limits)
    : state_(std::make_shared<State>(store, clock, limits)) {
  state_->load();
}

AgentReads::~AgentReads() = default;

void AgentReads::note(const std::string& agent_id, ReadSource source, std::string_view result_json,
                      const std::vector<ReadMark>& marks) {
  const auto values = values_in_json(result_json, state_->limits.per_read);
  const auto from = std::make_shared<const ReadSource>(std::move(source));
  const auto now = state_->clock.wall_ms();
  std::vector<Row> rows;
  std::int64_t tidy_before_ms = 0;
  {
    const std::lock_guard lock(state_->mutex);
    auto& notes = state_->agents[agent_id];
    const auto add = [&](std::int64_t hash) {
      if (state_->renew(notes, hash, from, now)) rows.push_back({hash, notes[hash]});
    };
    add(kAnything);
    for (const auto mark : marks) add(hash_of(mark));
    for (const auto& value : values) add(hash_of(value));
    if (notes.size() >= state_->limits.per_agent || values.size() >= state_->limits.per_read) add(kForgotten);
    if (rows.empty()) return;
    if (now - state_->tidied_ms >= kTidyEveryMs) {
      state_->tidied_ms = now;
      tidy_before_ms = now - state_->limits.keep_ms;
    }
  }
  state_->store.post(
      [agent_id, rows, tidy_before_ms](SQLite::Database& db) {
        store_rows(db.getHandle(), agent_id, rows);
        if (tidy_before_ms > 0) forget_rows(db.getHandle(), tidy_before_ms);
      },
      [](const std::exception_ptr&) {}, GroupCommit::Outlasts::kProcess);
}

std::optional<AgentReads::Found> AgentReads::find(std::string_view agent_id, const TextValue& value,
                                                  std::int64_t at_ms) const {
  return state_->find(agent_id, hash_of(value), at_ms);
}

std::optional<AgentReads::Found> AgentReads::find_any(std::string_view agent_id, std::int64_t at_ms) const {
  return state_->find(agent_id, kAnything, at_ms);
}

std::optional<AgentReads::Found> AgentReads::find(std::string_view agent_id, ReadMark mark, std::int64_t at_ms) const {
  return state_->find(agent_id, hash_of(mark), at_ms);
}

bool AgentReads::has_forgotten(std::string_view agent_id, std::int64_t at_ms) const {
  return state_->find(agent_id, kForgotten, at_ms).has_value();
}

}  // namespace krux
