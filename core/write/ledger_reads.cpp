// Reading the ledger, on connections of its own.
#include <algorithm>
#include <array>
#include <limits>

#include "core/write/acceptances.hpp"
#include "core/write/ledger.hpp"

namespace krux {
namespace {

constexpr std::int64_t kLongestPage = 500, kFewWaiting = 5000;
constexpr std::size_t kMostEditBytes = 16u << 20;

/// ?1 before which row, ?2 service, ?3 account, ?4 how many, ?5 behind which row, ?6 session; ?7 state, ?8 agent where
/// the condition names them.
std::string page_of(const std::string& condition) {
  return select_rows(condition +
                     " AND seq < ?1 AND seq > ?5 AND (?2 = '' OR service = ?2) AND (?3 = '' OR account_id = ?3) AND "
                     "(?6 = '' OR session_id = ?6) ORDER BY seq DESC LIMIT ?4");
}

class Pages {
 public:
  Pages(StatementCache& sql, const WriteFilter& filter, std::int64_t before_seq)
      : sql_(sql),
        filter_(filter),
        before_(before_seq),
        limit_(std::clamp<std::int64_t>(filter.limit, 1, kLongestPage)) {}

  void of_all() {
    static const auto all = page_of("1");
    collect(bound(all));
  }
  void of_state(WriteState state) {
    if (state == WriteState::kBuffered) return of_buffered();
    static const auto page = page_of("state = ?7 AND state <> 'buffered' AND agent_id = ?8");
    const auto agents = filter_.agent_id.empty() ? agents_with(state) : std::vector<std::string>{filter_.agent_id};
    for (const auto& agent : agents) {
      collect(bound(page, to_string(state), agent));
    }
  }
  /// An empty state is any.
  void of_person(const std::string& state) {
    static const auto waiting = page_of(
        "seq IN (SELECT seq FROM writes INDEXED BY writes_need_operator WHERE needs_operator = 1) AND (?7 = '' OR "
        "state = "
        "?7) AND (?8 = '' OR agent_id = ?8)");
    collect(bound(waiting, state, filter_.agent_id));
  }
  void of_copies() {
    static const auto copies = page_of("held_as_copy = 1 AND (?7 = '' OR agent_id = ?7)");
    collect(bound(copies, filter_.agent_id));
  }
  std::vector<WriteRecord> newest() {
    std::sort(found_.begin(), found_.end(), [](auto& a, auto& b) { return a.seq > b.seq; });
    if (found_.size() > static_cast<std::size_t>(limit_)) found_.resize(static_cast<std::size_t>(limit_));
    return std::move(found_);
  }

 private:
  /// Few are taken from the index of what is due and sorted. Many are met soon on the way from the newest write back.
  void of_buffered() {
    static const std::string mine = "state = 'buffered' AND (?7 = '' OR agent_id = ?7)";
    static const auto back = page_of(mine);
    // Those that are held as a copy need not be due.
    static const auto due = page_of(
        "seq IN (SELECT seq FROM writes INDEXED BY writes_due WHERE due_at_ms IS NOT NULL UNION SELECT seq FROM writes "
        "INDEXED BY writes_held_as_copy WHERE held_as_copy = 1) AND " +
        mine);
    collect(bound(waiting() <= kFewWaiting ? due : back, filter_.agent_id));
  }
  std::int64_t waiting() {
    auto& sum = sql_.get("SELECT sum(n) FROM counters WHERE what IN ('buffered', 'unknown', 'dead_letter')");
    const ResetAtEnd reset(sum);
    return sum.step() ? sum.integer(0) : 0;
  }
  /// Steps from one agent to the next in the index, however many writes each has.
  std::vector<std::string> agents_with(WriteState state) {
    std::vector<std::string> agents;
    auto& next =
        sql_.get("SELECT min(agent_id) FROM writes WHERE state = ?1 AND state <> 'buffered' AND agent_id > ?2");
    const ResetAtEnd reset(next);
    for (std::string last;; last = agents.back()) {
      next.bind_all(to_string(state), last);
      if (!next.step() || next.is_null(0)) return agents;
      agents.emplace_back(next.text(0));
    }
  }

  template <class... More>
  Statement& bound(const std::string& page, const More&... more) {
    return sql_.get(page).bind_all(before_, filter_.service, filter_.account_id, limit_, filter_.after_seq,
                                   filter_.session_id, more...);
  }
  void collect(Statement& rows) {
    const ResetAtEnd reset(rows);
    while (rows.step()) found_.push_back(read_row(rows).write);
  }

  StatementCache& sql_;
  const WriteFilter& filter_;
  const std::int64_t before_, limit_;
  std::vector<WriteRecord> found_;
};

std::int64_t seq_of(StatementCache& sql, const std::string& write_id) {
  if (write_id.empty()) return std::numeric_limits<std::int64_t>::max();
  auto& rows =
      sql.get("SELECT seq FROM writes WHERE seq = ?1 AND write_id = ?2").bind_all(seq_of_id(write_id), write_id);
  const ResetAtEnd reset(rows);
  if (!rows.step()) throw invalid_input("There is no write with the id that the page is to start behind.");
  return rows.integer(0);
}

std::vector<WriteState> states_of(const WriteFilter& filter) {
  if (filter.states.empty()) {
    std::vector<WriteState> all;
    for (int i = 0; i < kWriteStates; ++i) all.push_back(static_cast<WriteState>(i));
    return all;
  }
  auto states = filter.states;
  std::sort(states.begin(), states.end());
  states.erase(std::unique(states.begin(), states.end()), states.end());
  return states;
}

}  // namespace

std::optional<WriteRecord> Ledger::get(const std::string& write_id) {
  static const auto by_id = select_rows(kById);
  auto reader = readers_.lease();
  auto& rows = reader.sql().get(by_id).bind_all(seq_of_id(write_id), write_id);
  const ResetAtEnd reset(rows);
  if (!rows.step()) return std::nullopt;
  return read_row(rows).write;
}

std::vector<WriteRecord> Ledger::list(const WriteFilter& filter) {
  if (!filter.id_begins.empty()) return list_by_id(filter);
  auto reader = readers_.lease();
  Pages pages(reader.sql(), filter, seq_of(reader.sql(), filter.before_write_id));
  if (filter.held_as_copy) {
    pages.of_copies();
    return pages.newest();
  }
  if (filter.needs_operator && filter.states.empty()) {
    pages.of_person({});
    return pages.newest();
  }
  // Each state and agent is a range of the index that is read from its newest end: what is asked for is never searched
  // among rows of other states.
  if (!filter.needs_operator && filter.states.empty() && filter.agent_id.empty()) {
    pages.of_all();
    return pages.newest();
  }
  for (const auto state : states_of(filter)) {
    if (filter.needs_operator) {
      pages.of_person(to_string(state));
    } else {
      pages.of_state(state);
    }
  }
  return pages.newest();
}

std::vector<WriteRecord> Ledger::list_by_id(const WriteFilter& filter) {
  const auto range = seqs_of_beginning(filter.id_begins);
  if (!range) return {};
  auto reader = readers_.lease();
  WriteFilter within;
  within.limit = kLongestPage;
  within.after_seq = range->first - 1;
  Pages pages(reader.sql(), within, range->last + 1);
  pages.of_all();
  auto found = pages.newest();
  std::erase_if(found, [&](const WriteRecord& write) { return !write.write_id.starts_with(filter.id_begins); });
  if (found.size() > static_cast<std::size_t>(filter.limit)) found.resize(static_cast<std::size_t>(filter.limit));
  return found;
}

std::vector<AttemptRecord> Ledger::history(const std::string& write_id, std::int64_t newest) {
  auto reader = readers_.lease();
  auto& rows = reader.sql()
                   .get(
                       "SELECT kind, number, started_at_ms, ended_at_ms, outcome, wire, message, who, nth FROM "
                       "attempts WHERE write_seq = (SELECT seq FROM writes WHERE seq = ?1 AND write_id = ?2) UNION ALL "
                       "SELECT 'attempt', attempts, claimed_at_ms, NULL, NULL, NULL, NULL, 'host', 1 << 62 FROM writes "
                       "WHERE seq = ?1 AND write_id = ?2 AND state = 'executing' ORDER BY nth DESC LIMIT ?3")
                   .bind_all(seq_of_id(write_id), write_id, newest);
  const ResetAtEnd reset(rows);
  std::vector<AttemptRecord> found;
  const auto text = [&](int column) { return std::string(rows.text(column)); };
  while (rows.step()) {
    found.push_back({text(0), static_cast<std::uint32_t>(rows.integer(1)), rows.integer(2), rows.integer(3), text(4),
                     text(5), text(6), text(7)});
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<Acceptance> Ledger::acceptances(const WriteRecord& write) {
  auto reader = readers_.lease();
  return acceptances_of(reader.sql(), write);
}

std::vector<EditRecord> Ledger::edits(const std::string& write_id, std::int64_t newest) {
  auto reader = readers_.lease();
  auto& rows = reader.sql()
                   .get(
                       "SELECT edited_at_ms, who, from_hash, to_hash, from_json, to_json FROM edits WHERE write_seq = "
                       "(SELECT seq FROM writes WHERE seq = ?1 AND write_id = ?2) ORDER BY id DESC LIMIT ?3")
                   .bind_all(seq_of_id(write_id), write_id, newest);
  const ResetAtEnd reset(rows);
  std::vector<EditRecord> found;
  std::size_t bytes = 0;
  const auto text = [&](int column) { return std::string(rows.text(column)); };
  while (rows.step()) {
    bytes += rows.text(4).size() + rows.text(5).size();
    if (bytes > kMostEditBytes && !found.empty()) break;
    found.push_back({rows.integer(0), text(1), text(2), text(3), text(4), text(5)});
  }
  std::reverse(found.begin(), found.end());
  return found;
}

RecordTotals Ledger::totals(const std::string& write_id) {
  auto reader = readers_.lease();
  auto& rows = reader.sql()
                   .get(
                       "SELECT (SELECT count(*) FROM attempts WHERE write_seq = seq) + CASE WHEN state = 'executing' "
                       "THEN 1 ELSE 0 END, (SELECT count(*) FROM edits WHERE write_seq = seq) FROM writes WHERE seq = "
                       "?1 AND write_id = ?2")
                   .bind_all(seq_of_id(write_id), write_id);
  const ResetAtEnd reset(rows);
  if (!rows.step()) return {};
  return {rows.integer(0), rows.integer(1)};
}

std::optional<WriteRecord> Ledger::cleanup_of(const std::string& write_id) {
  static const auto cleaning = select_rows("cleans = ?1 AND cleans IS NOT NULL");
  auto reader = readers_.lease();
  auto& rows = reader.sql().get(cleaning).bind_all(write_id);
  const ResetAtEnd reset(rows);
  if (!rows.step()) return std::nullopt;
  return read_row(rows).write;
}

std::map<std::string, LimitUse> Ledger::limit_use(const std::string& agent_id, const Limit& limit) {
  auto reader = readers_.lease();
  auto& rows = reader.sql().get(
      "SELECT DISTINCT CASE ?4 WHEN '' THEN '' ELSE CAST(json_extract(params_json, '$.' || ?4) AS TEXT) END FROM "
      "writes WHERE agent_id = ?1 AND counted_as = ?2 AND counted_at_ms > ?3 LIMIT 1000");
  const auto begin = clock_.wall_ms() - limit.window_ms;
  std::map<std::string, LimitUse> used;
  for (const auto& operation : limit.operations) {
    rows.bind_all(agent_id, operation, begin, limit.key);
    while (rows.step()) used.try_emplace(std::string(rows.text(0)));
  }
  LimitRule one{limit, {}};
  for (auto& [value, use] : used) {
    one.key_value = value;
    use = use_of(reader.sql(), agent_id, one, begin, {clock_.wall_ms(), 0, 0});
  }
  return used;
}

WriteCounts Ledger::counts() {
  WriteCounts counts;
  const std::array<std::pair<std::string_view, std::int64_t*>, 10> wanted{
      {{"buffered", &counts.buffered},
       {"executing", &counts.executing},
       {"unknown", &counts.unknown},
       {"dead_letter", &counts.dead_letter},
       {"needs_operator", &counts.needs_operator},
       {"completed", &counts.completed},
       {"failed", &counts.failed},
       {"pending_approval", &counts.pending_approval},
       {"held", &counts.held},
       {"held_as_copy", &counts.held_as_copy}}};
  auto reader = readers_.lease();
  auto& rows = reader.sql().get("SELECT what, n FROM counters");
  const ResetAtEnd reset(rows);
  while (rows.step()) {
    for (const auto& [what, value] : wanted) {
      if (rows.text(0) == what) *value = rows.integer(1);
    }
  }
  return counts;
}

}  // namespace krux
