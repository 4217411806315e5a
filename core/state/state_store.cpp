#include "core/state/state_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "core/state/state_rows.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/reader_pool.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kReceiptsTidiedEvery = 256;  ///< writes that leave one
constexpr std::int64_t kLookedThroughAtOnce = 200;
constexpr char kBelowKeys = '\x01', kAboveKeys = '\x7f';  ///< smaller and larger than all that keys are made of

Error state_error(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return database_error(fmt::format("The state could not be stored: {}. Try again.", error.what()));
  }
}

std::string hash_of(const StateWrite& write) {
  const auto expected = write.expected_version ? fmt::format("{}", *write.expected_version) : std::string("any");
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}", write.space.is_shared() ? "shared" : "persistent", write.key,
                                expected, write.value_json ? "=" + *write.value_json : std::string("deleted")));
}

/// Of: name, version, set_at_ms, set_by, bytes and, where it is asked for, value.
StateEntry read_entry(const Statement& row, bool with_value) {
  StateEntry entry{
      std::string(row.text(0)), row.integer(1), row.integer(2), std::string(row.text(3)), {}, row.integer(4)};
  if (with_value) entry.value_json = row.text(5);
  return entry;
}

std::vector<StateEntry> read_entries(Statement& rows, bool with_value) {
  const ResetAtEnd reset(rows);
  std::vector<StateEntry> all;
  while (rows.step()) all.push_back(read_entry(rows, with_value));
  return all;
}

std::optional<StateEntry> first_entry(Statement& rows) {
  const ResetAtEnd reset(rows);
  return rows.step() ? std::optional(read_entry(rows, true)) : std::nullopt;
}

std::optional<StateEntry> present_entry(StatementCache& sql, const StateSpace& space, const std::string& key) {
  return first_entry(
      sql.get("SELECT name, version, set_at_ms, set_by, bytes, value FROM state_entries WHERE owner = ?1 AND name = ?2")
          .bind_all(space.owner, key));
}

}  // namespace

struct StateStore::State {
  State(GroupCommit& s, Clock& c, StateLimits l) : store(s), clock(c), limits(l), readers(s.file(), s.kind()) {}

  StatementCache& statements(SQLite::Database& db) {
    if (!cache) cache.emplace(db.getHandle());
    return *cache;
  }

  GroupCommit& store;
  Clock& clock;
  const StateLimits limits;
  mutable ReaderPool readers;
  std::optional<StatementCache> cache;    ///< of whoever commits
  std::atomic<std::int64_t> receipts{0};  ///< left in this run
  std::function<void(const StateChange&)> told;
  std::uint64_t before_close = 0;
};

StateStore::StateStore(GroupCommit& store, Clock& clock, StateLimits limits)
    : state_(std::make_shared<State>(store, clock, limits)) {
  state_->before_close = store.before_close([state = state_] { state->cache.reset(); });
}

StateStore::~StateStore() {
  try {
    // On the thread that uses them, behind all that was posted before.
    state_->store.run([state = state_](SQLite::Database&) { state->cache.reset(); });
    state_->store.drop_before_close(state_->before_close);
  } catch (...) {
    // The store fails: they go when it opens its connection again or ends.
  }
}

void StateStore::write(StateWrite write, Done done) {
  const bool has_key = !write.idempotency_key.empty();
  const bool tidy = has_key && ++state_->receipts % kReceiptsTidiedEvery == 0;
  const auto request = std::make_shared<StateRequest>();
  if (has_key) request->hash = hash_of(write);
  request->write = std::move(write);
  request->now_ms = state_->clock.wall_ms();
  const auto written = std::make_shared<StateWritten>();
  state_->store.post(
      [state = state_, request, written, tidy](SQLite::Database& db) {
        auto& sql = state->statements(db);
        *written = write_state(sql, *request, state->limits);
        if (tidy) forget_receipts(sql, request->write.agent_id, request->now_ms);
        KRUX_FAULT_POINT("state.write.before_commit");
      },
      [state = state_, request, written, done = std::move(done)](const std::exception_ptr& problem) {
        if (problem) return done(state_error(problem));
        KRUX_FAULT_POINT("state.write.after_commit");
        const auto& asked = request->write;
        if (state->told && asked.space.is_shared() && !written->repeated && written->version > 0)
          state->told({asked.key, written->version, !asked.value_json, asked.agent_id, written->at_ms});
        done(*written);
      },
      GroupCommit::Outlasts::kPowerCut, GroupCommit::Thread::kCallers);
}

std::optional<StateEntry> StateStore::get(const StateSpace& space, const std::string& key, std::int64_t version) const {
  auto reader = state_->readers.lease();
  auto present = present_entry(reader.sql(), space, key);
  if (version == 0 || (present && present->version == version)) return present;
  return first_entry(reader.sql()
                         .get("SELECT name, version, set_at_ms, set_by, bytes, value FROM state_versions WHERE owner = "
                              "?1 AND name = ?2 AND version = ?3")
                         .bind_all(space.owner, key, version));
}

std::vector<StateEntry> StateStore::list(const StateSpace& space, const StateListing& listing) const {
  static const std::string where =
      " FROM state_entries WHERE owner = ?1 AND name >= ?2 AND name < ?3 ORDER BY name LIMIT ?4";
  static const std::string keys = "SELECT name, version, set_at_ms, set_by, bytes" + where;
  static const std::string values = "SELECT name, version, set_at_ms, set_by, bytes, value" + where;
  auto reader = state_->readers.lease();
  const auto page_behind = [&](const std::string& after, std::int64_t limit) {
    return read_entries(
        reader.sql()
            .get(listing.with_values ? values : keys)
            .bind_all(space.owner, std::max(listing.prefix, after + kBelowKeys), listing.prefix + kAboveKeys, limit),
        listing.with_values);
  };
  if (!listing.with_values) return page_behind(listing.after, listing.limit);
  std::vector<StateEntry> found;
  auto after = listing.after;
  while (true) {
    auto page = page_behind(after, kLookedThroughAtOnce);
    const bool is_last = static_cast<std::int64_t>(page.size()) < kLookedThroughAtOnce;
    if (!is_last) after = page.back().key;
    for (auto& entry : page) {
      if (!fits_listing(listing, entry)) continue;
      found.push_back(std::move(entry));
      if (static_cast<std::int64_t>(found.size()) == listing.limit) return found;
    }
    if (is_last) return found;
  }
}

std::vector<StateEntry> StateStore::history(const StateSpace& space, const std::string& key, std::int64_t limit,
                                            std::int64_t before) const {
  std::vector<StateEntry> found;
  auto reader = state_->readers.lease();
  auto present = present_entry(reader.sql(), space, key);
  if (!present) return found;
  const auto below = before == 0 ? present->version : std::min(before, present->version);
  if (before == 0 || before > present->version) found.push_back(*std::move(present));
  auto older = read_entries(
      reader.sql()
          .get("SELECT name, version, set_at_ms, set_by, bytes, value FROM state_versions WHERE owner = ?1 AND name = "
               "?2 AND version < ?3 ORDER BY version DESC LIMIT ?4")
          .bind_all(space.owner, key, below, limit - static_cast<std::int64_t>(found.size())),
      true);
  for (auto& entry : older) found.push_back(std::move(entry));
  return found;
}

std::vector<StateEntry> StateStore::set_by_others(const std::string& agent_id, std::int64_t since_ms,
                                                  std::int64_t limit) const {
  auto reader = state_->readers.lease();
  return read_entries(reader.sql()
                          .get("SELECT name, version, set_at_ms, set_by, bytes FROM state_entries WHERE owner = '' AND "
                               "set_at_ms >= ?1 AND set_by <> ?2 ORDER BY set_at_ms DESC, name LIMIT ?3")
                          .bind_all(since_ms, agent_id, limit),
                      false);
}

void StateStore::when_shared_changed(std::function<void(const StateChange&)> told) {
  state_->told = std::move(told);
}

const StateLimits& StateStore::limits() const {
  return state_->limits;
}

}  // namespace krux
