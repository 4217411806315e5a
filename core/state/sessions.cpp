#include "core/state/sessions.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/storage/group_commit.hpp"
#include "core/storage/reader_pool.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kNotedEveryMs = 60'000, kDayMs = 86'400'000;
constexpr std::size_t kTidyEvery = 64;  ///< sessions of an agent; so many are forgotten at once
constexpr std::int64_t kForgottenAtOnce = 200;
constexpr std::array<std::pair<AgentSession::Origin, const char*>, 3> kOrigins{
    {{AgentSession::Origin::kAgent, "agent"},
     {AgentSession::Origin::kMcp, "mcp"},
     {AgentSession::Origin::kOneDay, "day"}}};

constexpr const char* kColumns =
    "SELECT session_id, agent_id, origin, name, purpose, created_at_ms, used_at_ms, ended_at_ms, after_seq FROM "
    "sessions WHERE ";

AgentSession read_session(const Statement& row) {
  AgentSession session;
  session.session_id = row.text(0);
  session.agent_id = row.text(1);
  for (const auto& [origin, name] : kOrigins) {
    if (row.text(2) == name) session.origin = origin;
  }
  session.name = row.text(3);
  session.purpose = row.text(4);
  session.created_at_ms = row.integer(5);
  session.used_at_ms = row.integer(6);
  session.ended_at_ms = row.integer(7);
  session.after_seq = row.integer(8);
  return session;
}

/// Returns the newest write before it.
std::int64_t insert_session(sqlite3* db, const AgentSession& s) {
  Statement(db,
            "INSERT INTO sessions (session_id, agent_id, origin, name, purpose, created_at_ms, used_at_ms, "
            "ended_at_ms, after_seq) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, coalesce(max(seq), 0) FROM writes")
      .bind_all(s.session_id, s.agent_id, to_string(s.origin), s.name, s.purpose, s.created_at_ms, s.used_at_ms)
      .run();
  Statement row(db, "SELECT after_seq FROM sessions WHERE session_id = ?1");
  return row.bind_all(s.session_id).step() ? row.integer(0) : 0;
}

void end_session(sqlite3* db, const std::string& session_id, std::int64_t at_ms) {
  Statement(db, "UPDATE sessions SET ended_at_ms = ?2, used_at_ms = ?2 WHERE session_id = ?1 AND ended_at_ms = 0")
      .bind_all(session_id, at_ms)
      .run();
}

/// What is too old, and of `agent_id` what is too much.
void forget_sessions(sqlite3* db, const std::string& agent_id, std::int64_t ended_before_ms, std::int64_t most) {
  Statement(db,
            "DELETE FROM sessions WHERE session_id IN (SELECT session_id FROM sessions WHERE ended_at_ms > 0 AND "
            "ended_at_ms <= ?1 ORDER BY ended_at_ms LIMIT ?2)")
      .bind_all(ended_before_ms, kForgottenAtOnce)
      .run();
  Statement(db,
            "DELETE FROM sessions WHERE session_id IN (SELECT session_id FROM sessions WHERE agent_id = ?1 AND "
            "ended_at_ms > 0 ORDER BY used_at_ms DESC LIMIT ?2 OFFSET ?3)")
      .bind_all(agent_id, kForgottenAtOnce, most)
      .run();
}

/// What is known once it is stored.
struct Stored {
  std::atomic<std::int64_t> after_seq{0};
  std::atomic<bool> failed{false};
};

struct Live {
  AgentSession session;
  std::int64_t used_boot_ms = 0, noted_ms = 0;
  std::shared_ptr<Stored> stored;

  AgentSession shown() const {
    auto copy = session;
    copy.after_seq = stored->after_seq;
    return copy;
  }
};

}  // namespace

const char* to_string(AgentSession::Origin origin) {
  for (const auto& [value, name] : kOrigins) {
    if (value == origin) return name;
  }
  return "";
}

Error session_expired() {
  return {ErrorCode::kSessionExpired,
          "There is no such session of this agent, or it has ended. Open a new one with session.create, or leave "
          "session_id out."};
}

struct SessionStore::State {
  State(GroupCommit& s, Clock& c, Limits l) : store(s), clock(c), limits(l), readers(s.file(), s.kind()) {}

  /// What is to be ended in the database with the next session: it has ended already in memory.
  struct Ended {
    std::string session_id;
    std::int64_t at_ms;
  };
  using Map = std::map<std::string, Live>;

  void load();
  Live& add(AgentSession session, std::vector<Ended>& ended);
  void drop_idle(std::vector<Ended>& ended);
  void drop_one_of(const std::string& agent_id, std::vector<Ended>& ended);
  void drop(Map::iterator at, std::vector<Ended>& ended);
  void forget(Map::iterator at);
  bool is_over(const Live& live) const;
  Map::iterator find_live(const std::string& session_id, const std::string& agent_id);
  void touch(Live& live);
  GroupCommit::Operation storing(const Live& live, std::vector<Ended> ended);

  GroupCommit& store;
  Clock& clock;
  const Limits limits;
  mutable ReaderPool readers;
  mutable std::mutex mutex;  ///< over what follows; also while a day's session is posted, so that nothing overtakes it
  Map live;
  std::map<std::string, std::pair<std::int64_t, std::string>> days;  ///< by agent: the day, its session
  std::map<std::string, std::size_t> made;                           ///< by agent, in this run
  std::function<void(const std::string&, const std::string&)> told;
};

void SessionStore::State::load() {
  const auto now = clock.wall_ms(), oldest = now - limits.idle_ms;
  const auto sessions = store.run([&](SQLite::Database& db) {
    Statement(db.getHandle(), "UPDATE sessions SET ended_at_ms = used_at_ms WHERE ended_at_ms = 0 AND used_at_ms <= ?1")
        .bind_all(oldest)
        .run();
    forget_sessions(db.getHandle(), {}, now - limits.keep_ms, limits.kept_per_agent);
    std::vector<AgentSession> all;
    Statement rows(db.getHandle(), std::string(kColumns) + "ended_at_ms = 0");
    while (rows.step()) all.push_back(read_session(rows));
    return all;
  });
  for (const auto& session : sessions) {
    // A wall clock that was set back lets it wait its time again.
    const auto idle = std::clamp<std::int64_t>(now - session.used_at_ms, 0, limits.idle_ms);
    auto stored = std::make_shared<Stored>();
    stored->after_seq = session.after_seq;
    if (session.origin == AgentSession::Origin::kOneDay)
      days[session.agent_id] = {session.created_at_ms / kDayMs, session.session_id};
    live.emplace(session.session_id, Live{session, clock.boot_ms() - idle, session.used_at_ms, std::move(stored)});
  }
}

bool SessionStore::State::is_over(const Live& one) const {
  return one.stored->failed || clock.boot_ms() - one.used_boot_ms >= limits.idle_ms;
}

void SessionStore::State::drop(Map::iterator at, std::vector<Ended>& ended) {
  ended.push_back({at->first, at->second.session.used_at_ms});
  forget(at);
}

void SessionStore::State::forget(Map::iterator at) {
  if (told) told(at->second.session.agent_id, at->first);
  live.erase(at);
}

void SessionStore::State::drop_idle(std::vector<Ended>& ended) {
  for (auto at = live.begin(); at != live.end();) {
    const auto one = at++;
    if (is_over(one->second)) drop(one, ended);
  }
}

void SessionStore::State::drop_one_of(const std::string& agent_id, std::vector<Ended>& ended) {
  std::size_t count = 0;
  auto longest_idle = live.end();
  for (auto at = live.begin(); at != live.end(); ++at) {
    const auto& one = at->second;
    if (one.session.agent_id != agent_id || one.session.origin == AgentSession::Origin::kOneDay) continue;
    ++count;
    if (longest_idle == live.end() || one.used_boot_ms < longest_idle->second.used_boot_ms) longest_idle = at;
  }
  if (count >= limits.per_agent) drop(longest_idle, ended);
}

Live& SessionStore::State::add(AgentSession session, std::vector<Ended>& ended) {
  session.created_at_ms = session.used_at_ms = clock.wall_ms();
  session.session_id = make_id("sess_", session.created_at_ms);
  drop_idle(ended);
  auto id = session.session_id;
  Live one{std::move(session), clock.boot_ms(), clock.wall_ms(), std::make_shared<Stored>()};
  return live.emplace(std::move(id), std::move(one)).first->second;
}

SessionStore::State::Map::iterator SessionStore::State::find_live(const std::string& session_id,
                                                                  const std::string& agent_id) {
  const auto at = live.find(session_id);
  return at == live.end() || at->second.session.agent_id != agent_id || is_over(at->second) ? live.end() : at;
}

void SessionStore::State::touch(Live& one) {
  const auto now = clock.wall_ms();
  one.used_boot_ms = clock.boot_ms();
  one.session.used_at_ms = now;
  // A wall clock that was set back counts as well: otherwise nothing would be noted until it has caught up.
  if (now >= one.noted_ms && now - one.noted_ms < kNotedEveryMs) return;
  one.noted_ms = now;
  store.post(
      [now, id = one.session.session_id](SQLite::Database& db) {
        Statement(db.getHandle(), "UPDATE sessions SET used_at_ms = ?1 WHERE session_id = ?2").bind_all(now, id).run();
      },
      [](std::exception_ptr) {},  // it ends earlier than it might, should the host end before the next note
      GroupCommit::Outlasts::kProcess);
}

GroupCommit::Operation SessionStore::State::storing(const Live& one, std::vector<Ended> ended) {
  const bool tidy = ++made[one.session.agent_id] % kTidyEvery == 0;
  return [session = one.session, stored = one.stored, ended = std::move(ended), tidy, most = limits.kept_per_agent,
          before = clock.wall_ms() - limits.keep_ms](SQLite::Database& db) {
    stored->after_seq = insert_session(db.getHandle(), session);
    for (const auto& other : ended) end_session(db.getHandle(), other.session_id, other.at_ms);
    if (tidy) forget_sessions(db.getHandle(), session.agent_id, before, most);
  };
}

SessionStore::SessionStore(GroupCommit& store, Clock& clock, Limits limits)
    : state_(std::make_shared<State>(store, clock, limits)) {
  state_->load();
}

SessionStore::~SessionStore() = default;

void SessionStore::create(AgentSession asked, Done<AgentSession> done) {
  GroupCommit::Operation operation;
  std::shared_ptr<Stored> stored;
  AgentSession made;
  {
    const std::lock_guard lock(state_->mutex);
    std::vector<State::Ended> ended;
    state_->drop_one_of(asked.agent_id, ended);
    const auto& one = state_->add(std::move(asked), ended);
    stored = one.stored;
    made = one.session;
    operation = state_->storing(one, std::move(ended));
  }
  state_->store.post(
      std::move(operation),
      [stored, made = std::move(made), done = std::move(done)](const std::exception_ptr& error) mutable {
        stored->failed = error != nullptr;
        if (error) return done(database_error("The session could not be stored. Try again."));
        made.after_seq = stored->after_seq;
        done(std::move(made));
      },
      GroupCommit::Outlasts::kProcess);
}

bool SessionStore::use(const std::string& session_id, const std::string& agent_id,
                       std::optional<AgentSession::Origin> origin) {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->find_live(session_id, agent_id);
  if (at == state_->live.end() || (origin && at->second.session.origin != *origin)) return false;
  state_->touch(at->second);
  return true;
}

void SessionStore::end(const std::string& session_id, const std::string& agent_id, Done<bool> done) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->find_live(session_id, agent_id) == state_->live.end()) return done(false);
  }
  state_->store.post(
      [session_id, now = state_->clock.wall_ms()](SQLite::Database& db) {
        end_session(db.getHandle(), session_id, now);
      },
      [state = state_, session_id, done = std::move(done)](const std::exception_ptr& error) {
        if (error) return done(database_error("The end of the session could not be stored; it goes on. Try again."));
        {
          const std::lock_guard lock(state->mutex);
          if (const auto at = state->live.find(session_id); at != state->live.end()) state->forget(at);
        }
        done(true);
      },
      GroupCommit::Outlasts::kProcess);
}

std::string SessionStore::of_the_day(const std::string& agent_id, const std::string& agent_name) {
  const std::lock_guard lock(state_->mutex);
  const auto now = state_->clock.wall_ms();
  auto& [day, id] = state_->days[agent_id];
  const auto at = state_->find_live(id, agent_id);
  if (at != state_->live.end() && day == now / kDayMs) {
    state_->touch(at->second);
    return id;
  }
  std::vector<State::Ended> ended;
  if (at != state_->live.end()) state_->drop(at, ended);
  AgentSession asked;
  asked.agent_id = agent_id;
  asked.origin = AgentSession::Origin::kOneDay;
  asked.name = agent_name;
  asked.purpose = fmt::format("what was done without a session on {} (UTC)", format_time(now).substr(0, 10));
  const auto& one = state_->add(std::move(asked), ended);
  day = now / kDayMs;
  id = one.session.session_id;
  state_->store.post(
      state_->storing(one, std::move(ended)),
      [stored = one.stored](const std::exception_ptr& error) {
        stored->failed = error != nullptr;
        if (error) spdlog::error("the session of an agent's day could not be stored: the next write begins another");
      },
      GroupCommit::Outlasts::kProcess);
  return id;
}

std::optional<AgentSession> SessionStore::find(const std::string& session_id) const {
  {
    const std::lock_guard lock(state_->mutex);
    const auto at = state_->live.find(session_id);
    if (at != state_->live.end() && !state_->is_over(at->second)) return at->second.shown();
  }
  static const auto by_id = std::string(kColumns) + "session_id = ?1";
  auto reader = state_->readers.lease();
  auto& rows = reader.sql().get(by_id).bind_all(session_id);
  const ResetAtEnd reset(rows);
  if (!rows.step()) return std::nullopt;
  auto session = read_session(rows);
  // Its end is stored with the next one that begins.
  if (session.ended_at_ms == 0) session.ended_at_ms = session.used_at_ms;
  return session;
}

std::optional<AgentSession> SessionStore::before(const AgentSession& session) const {
  static const auto latest =
      std::string(kColumns) +
      "agent_id = ?1 AND session_id <> ?2 AND created_at_ms <= ?3 ORDER BY used_at_ms DESC LIMIT 1";
  std::string id;
  {
    auto reader = state_->readers.lease();
    auto& rows = reader.sql().get(latest).bind_all(session.agent_id, session.session_id, session.created_at_ms);
    const ResetAtEnd reset(rows);
    if (!rows.step()) return std::nullopt;
    id = rows.text(0);
  }
  return find(id);
}

void SessionStore::when_ended(std::function<void(const std::string&, const std::string&)> told) {
  const std::lock_guard lock(state_->mutex);
  state_->told = std::move(told);
}

std::int64_t SessionStore::idle_ms() const {
  return state_->limits.idle_ms;
}

std::size_t SessionStore::live() const {
  const std::lock_guard lock(state_->mutex);
  return static_cast<std::size_t>(std::count_if(state_->live.begin(), state_->live.end(),
                                                [&](const auto& one) { return !state_->is_over(one.second); }));
}

}  // namespace krux
