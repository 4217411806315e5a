#include "core/state/agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "core/policy/rules/agent_name.hpp"
#include "core/state/agent_pauses.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kSeenEveryMs = 60'000;
constexpr std::size_t kKeyBytes = 32;

struct Entry {
  Agent agent;
  std::string key_hash;
  std::string old_key_hash;  ///< empty: there is none that is good
  std::int64_t old_key_until_boot_ms =
      0;  ///< by the boot clock too: a wall clock that is set back while the host runs prolongs nothing
  std::atomic<std::int64_t> last_seen_ms{0};

  bool is_old_key_good(const Clock& clock) const {
    return !old_key_hash.empty() && clock.wall_ms() < agent.old_key_until_ms && clock.boot_ms() < old_key_until_boot_ms;
  }
  Agent shown(const Clock& clock) const {
    Agent copy = agent;
    copy.last_seen_ms = last_seen_ms.load();
    if (!is_old_key_good(clock)) copy.old_key_until_ms = 0;
    return copy;
  }
};
using EntryPtr = std::shared_ptr<Entry>;

void check_name(const std::string& name) {
  if (const auto problem = agent_name_problem(name); !problem.empty()) throw invalid_input(problem);
}

void insert(SQLite::Database& db, const Entry& entry) {
  const auto& agent = entry.agent;
  Statement(db.getHandle(),
            "INSERT INTO agents (agent_id, name, key_hash, created_at_ms, key_since_ms) VALUES (?1, ?2, ?3, ?4, ?4)")
      .bind_all(agent.agent_id, agent.name, entry.key_hash, agent.created_at_ms)
      .run();
}

/// The bucket of a hash: what a look-up's duration may tell is at most these 64 bits of a hash, never of a key.
std::uint64_t bucket_of(std::string_view key_hash) {
  std::uint64_t value = 0;
  for (const char c : key_hash.substr(0, 16))
    value = value << 4 | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return value;
}

}  // namespace

struct AgentStore::State {
  State(GroupCommit& s, Clock& c) : store(s), clock(c), pauses(s, c) {}

  GroupCommit& store;
  Clock& clock;
  AgentPauses pauses;
  std::mutex changing;  ///< held by create, rotate and revoke: one at a time, database and memory together
  mutable std::shared_mutex mutex;
  std::map<std::string, EntryPtr> by_id;
  std::unordered_multimap<std::uint64_t, EntryPtr> by_key;
  std::function<void()> key_ended;

  void load();
  EntryPtr find(const std::string& name_or_id) const;
  EntryPtr require(const std::string& name_or_id) const;
  struct Made {
    EntryPtr entry;
    std::string key;
  };
  Made make(const std::string& name) const;
  void put(const EntryPtr& entry);
  void saw(const EntryPtr& entry);
};

void AgentStore::State::load() {
  const auto entries = store.run([](SQLite::Database& db) {
    std::vector<EntryPtr> all;
    Statement rows(db.getHandle(),
                   "SELECT agent_id, name, key_hash, created_at_ms, last_seen_ms, revoked_at_ms, key_since_ms, "
                   "coalesce(old_key_hash, ''), coalesce(old_key_until_ms, 0) FROM agents");
    while (rows.step()) {
      auto entry = std::make_shared<Entry>();
      entry->agent.agent_id = rows.text(0);
      entry->agent.name = rows.text(1);
      entry->key_hash = rows.text(2);
      entry->agent.created_at_ms = rows.integer(3);
      entry->last_seen_ms = rows.integer(4);
      entry->agent.revoked_at_ms = rows.integer(5);
      entry->agent.revoked = entry->agent.revoked_at_ms != 0;
      entry->agent.key_since_ms = rows.integer(6);
      entry->old_key_hash = rows.text(7);
      entry->agent.old_key_until_ms = rows.integer(8);
      all.push_back(std::move(entry));
    }
    return all;
  });
  for (const auto& entry : entries) {
    entry->old_key_until_boot_ms =
        clock.boot_ms() + std::min(entry->agent.old_key_until_ms - clock.wall_ms(), AgentStore::kLongestGrace);
    put(entry);
  }
}

EntryPtr AgentStore::State::find(const std::string& name_or_id) const {
  const std::shared_lock lock(mutex);
  const auto by = by_id.find(name_or_id);
  if (by != by_id.end()) return by->second;
  for (const auto& [id, entry] : by_id) {
    if (equal_ignoring_case(entry->agent.name, name_or_id)) return entry;
  }
  return nullptr;
}

EntryPtr AgentStore::State::require(const std::string& name_or_id) const {
  if (auto entry = find(name_or_id)) return entry;
  throw invalid_input(
      fmt::format("There is no agent \"{}\"; `kruxos agent list` shows all.", printable(name_or_id.substr(0, 80))));
}

/// Puts the entry in the place of the one with the same id; a revoked one is found by no key.
void AgentStore::State::put(const EntryPtr& entry) {
  const std::unique_lock lock(mutex);
  auto& place = by_id[entry->agent.agent_id];
  std::erase_if(by_key, [&](const auto& item) { return item.second == place; });
  place = entry;
  if (entry->agent.revoked) return;
  by_key.emplace(bucket_of(entry->key_hash), entry);
  if (entry->is_old_key_good(clock)) by_key.emplace(bucket_of(entry->old_key_hash), entry);
}

/// One that is stored nowhere yet.
AgentStore::State::Made AgentStore::State::make(const std::string& name) const {
  auto entry = std::make_shared<Entry>();
  entry->agent.name = name;
  entry->agent.created_at_ms = entry->agent.key_since_ms = clock.wall_ms();
  entry->agent.agent_id = make_id("agent_", entry->agent.created_at_ms);
  auto key = random_hex(kKeyBytes);
  entry->key_hash = sha256_hex(key);
  return {std::move(entry), std::move(key)};
}

void AgentStore::State::saw(const EntryPtr& entry) {
  const auto now = clock.wall_ms();
  auto last = entry->last_seen_ms.load();
  // A wall clock that was set back counts as well: otherwise nothing would be noted until it has caught up.
  if (now >= last && now - last < kSeenEveryMs) return;
  if (!entry->last_seen_ms.compare_exchange_strong(last, now)) return;
  store.post(
      [now, id = entry->agent.agent_id](SQLite::Database& db) {
        Statement(db.getHandle(), "UPDATE agents SET last_seen_ms = ? WHERE agent_id = ?").bind_all(now, id).run();
      },
      [](std::exception_ptr) {});  // only shown to people: a failure here must not fail the agent's call
}

AgentStore::AgentStore(GroupCommit& store, Clock& clock) : state_(std::make_unique<State>(store, clock)) {
  state_->load();
}

AgentStore::~AgentStore() = default;

AgentStore::WithKey AgentStore::create(const std::string& name) {
  check_name(name);
  const std::lock_guard changing(state_->changing);
  if (const auto same = state_->find(name))
    throw conflict(fmt::format("There is an agent \"{}\" already{}; choose another name.", same->agent.name,
                               same->agent.revoked ? " (revoked: names are not given out again)" : ""));
  auto made = state_->make(name);
  state_->store.run([&](SQLite::Database& db) { insert(db, *made.entry); });
  state_->put(made.entry);
  return {made.entry->shown(state_->clock), std::move(made.key)};
}

AgentStore::Found AgentStore::find_or_create(const std::string& name_or_id, const UseAgent& use) {
  const std::lock_guard changing(state_->changing);
  if (const auto found = state_->find(name_or_id)) {
    use(found->shown(state_->clock), [](SQLite::Database&) {});
    return {found->shown(state_->clock), false};
  }
  check_name(name_or_id);
  const auto entry = state_->make(name_or_id).entry;
  use(entry->shown(state_->clock), [&](SQLite::Database& db) { insert(db, *entry); });
  state_->put(entry);
  return {entry->shown(state_->clock), true};
}

AgentStore::WithKey AgentStore::rotate(const std::string& name_or_id, std::int64_t grace_ms) {
  if (grace_ms < 0 || grace_ms > kLongestGrace)
    throw invalid_input("The old key can be good for seven days more at most.");
  const std::lock_guard changing(state_->changing);
  const auto old = state_->require(name_or_id);
  if (old->agent.revoked)
    throw conflict(
        fmt::format("The agent \"{}\" is revoked and gets no new key; create another agent.", old->agent.name));
  auto entry = std::make_shared<Entry>();
  entry->agent = old->agent;
  entry->agent.key_since_ms = state_->clock.wall_ms();
  entry->agent.old_key_until_ms = grace_ms > 0 ? entry->agent.key_since_ms + grace_ms : 0;
  entry->old_key_hash = grace_ms > 0 ? old->key_hash : std::string();
  entry->old_key_until_boot_ms = state_->clock.boot_ms() + grace_ms;
  entry->last_seen_ms = old->last_seen_ms.load();
  auto key = random_hex(kKeyBytes);
  entry->key_hash = sha256_hex(key);
  state_->store.run([&](SQLite::Database& db) {
    Statement(db.getHandle(),
              "UPDATE agents SET key_hash = ?1, key_since_ms = ?2, old_key_hash = nullif(?3, ''), old_key_until_ms = "
              "nullif(?4, 0) WHERE agent_id = ?5")
        .bind_all(entry->key_hash, entry->agent.key_since_ms, entry->old_key_hash, entry->agent.old_key_until_ms,
                  entry->agent.agent_id)
        .run();
  });
  state_->put(entry);
  if (state_->key_ended) state_->key_ended();
  return {entry->shown(state_->clock), std::move(key)};
}

Agent AgentStore::revoke(const std::string& name_or_id) {
  const std::lock_guard changing(state_->changing);
  const auto old = state_->require(name_or_id);
  if (old->agent.revoked) return old->shown(state_->clock);
  auto entry = std::make_shared<Entry>();
  entry->agent = old->agent;
  entry->last_seen_ms = old->last_seen_ms.load();
  entry->key_hash = old->key_hash;
  entry->agent.revoked = true;
  entry->agent.revoked_at_ms = state_->clock.wall_ms();
  state_->store.run([&](SQLite::Database& db) {
    Statement(db.getHandle(), "UPDATE agents SET revoked_at_ms = ? WHERE agent_id = ?")
        .bind_all(entry->agent.revoked_at_ms, entry->agent.agent_id)
        .run();
  });
  state_->put(entry);
  if (state_->key_ended) state_->key_ended();
  return entry->shown(state_->clock);
}

AgentPauses& AgentStore::pauses() {
  return state_->pauses;
}

void AgentStore::when_key_ends(std::function<void()> told) {
  state_->key_ended = std::move(told);
}

std::optional<Agent> AgentStore::find(const std::string& name_or_id) {
  const auto entry = state_->find(name_or_id);
  return entry ? std::optional(entry->shown(state_->clock)) : std::nullopt;
}

std::vector<Agent> AgentStore::list() {
  const std::shared_lock lock(state_->mutex);
  std::vector<Agent> all;
  for (const auto& [id, entry] : state_->by_id) all.push_back(entry->shown(state_->clock));
  return all;
}

std::optional<Agent> AgentStore::authenticate(std::string_view key) {
  if (key.size() != 2 * kKeyBytes) return std::nullopt;
  const auto hash = sha256_hex(key);
  EntryPtr found;
  {
    const std::shared_lock lock(state_->mutex);
    const auto [from, to] = state_->by_key.equal_range(bucket_of(hash));
    for (auto at = from; at != to; ++at) {
      const auto& entry = at->second;
      if (equal_constant_time(entry->key_hash, hash)) found = entry;
      if (entry->is_old_key_good(state_->clock) && equal_constant_time(entry->old_key_hash, hash)) found = entry;
    }
  }
  if (!found) return std::nullopt;
  state_->saw(found);
  return found->shown(state_->clock);
}

std::optional<Agent> AgentStore::active(const std::string& agent_id) {
  EntryPtr found;
  {
    const std::shared_lock lock(state_->mutex);
    const auto at = state_->by_id.find(agent_id);
    if (at != state_->by_id.end() && !at->second->agent.revoked) found = at->second;
  }
  if (!found) return std::nullopt;
  state_->saw(found);
  return found->shown(state_->clock);
}

}  // namespace krux
