#include "core/state/agent_words.hpp"

#include <sodium.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"

namespace krux {
namespace {

using Hashes = std::vector<std::uint64_t>;  ///< sorted
constexpr std::size_t kHashBytes = 6;
constexpr int kBase64 = sodium_base64_VARIANT_ORIGINAL_NO_PADDING;

/// Six bytes each, which are eight characters.
std::string text_of(const Hashes& hashes) {
  std::string bytes;
  bytes.reserve(hashes.size() * kHashBytes);
  for (const auto hash : hashes) {
    for (std::size_t i = 0; i < kHashBytes; ++i) bytes += static_cast<char>(hash >> (8 * i) & 0xff);
  }
  std::string text(sodium_base64_ENCODED_LEN(bytes.size(), kBase64), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    kBase64);
  text.pop_back();  // the NUL
  return text;
}

/// Of what is none as many as can be read.
Hashes hashes_of(std::string_view text) {
  std::string bytes(text.size(), '\0');
  std::size_t size = 0;
  sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(), text.size(), nullptr,
                    &size, nullptr, kBase64);
  Hashes hashes;
  for (std::size_t at = 0; at + kHashBytes <= size; at += kHashBytes) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < kHashBytes; ++i)
      hash |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    hashes.push_back(hash);
  }
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

struct ReadWords {
  std::int64_t number = 0, first_ms = 0, last_ms = 0;
  std::shared_ptr<const ReadSource> source;
  std::shared_ptr<const Hashes> hashes;  ///< empty: they are not kept, or not any more
};
const auto kNoHashes = std::make_shared<const Hashes>();

struct Memory {
  std::vector<ReadWords> reads;  ///< by their numbers: as they were read first
  std::size_t runs = 0;
  std::int64_t next = 0;
};

void store_read(sqlite3* db, const std::string& agent_id, const ReadWords& read) {
  const auto& from = *read.source;
  Statement(db,
            "INSERT INTO agent_words (agent_id, number, first_ms, last_ms, service, account_id, capability, target, "
            "runs) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (agent_id, number) DO UPDATE SET "
            "last_ms = excluded.last_ms, runs = excluded.runs")
      .bind_all(agent_id, read.number, read.first_ms, read.last_ms, from.service, from.account_id, from.capability,
                from.target, text_of(*read.hashes))
      .run();
}

void remove_reads(sqlite3* db, const std::string& agent_id, std::int64_t before_number) {
  Statement(db, "DELETE FROM agent_words WHERE agent_id = ?1 AND number < ?2").bind_all(agent_id, before_number).run();
}

/// From `from` on the first that is not less. Mostly near, else far: in steps that double.
template <class At, class Less>
At first_not_less(At from, At end, const Less& less) {
  std::ptrdiff_t step = 1;
  while (end - from > step && less(from[step])) {
    from += step;
    step *= 2;
  }
  return std::partition_point(from, from + std::min<std::ptrdiff_t>(end - from, step + 1), less);
}

/// Those of `asked` that were read.
std::vector<WordRun> common(const std::vector<WordRun>& asked, const Hashes& read) {
  std::vector<WordRun> all;
  auto run = asked.begin();
  auto hash = read.begin();
  while (run != asked.end() && hash != read.end()) {
    hash = first_not_less(hash, read.end(), [&](std::uint64_t one) { return one < run->hash; });
    if (hash == read.end()) break;
    if (*hash == run->hash) all.push_back(*run);
    run = *hash == run->hash ? std::next(run)
                             : first_not_less(run, asked.end(), [&](const WordRun& one) { return one.hash < *hash; });
  }
  return all;
}

}  // namespace

struct AgentWords::State {
  State(GroupCommit& s, Clock& c, Limits l) : store(s), clock(c), limits(l) {}

  void load();
  /// What has to be stored so that no more is kept than may be: reads without their runs.
  void make_room(Memory& agent, std::vector<ReadWords>& changed) const;
  /// Of the time that is kept, what was read by then.
  template <class Each>
  void each_read(std::string_view agent_id, std::int64_t at_ms, const Each& each) const;

  GroupCommit& store;
  Clock& clock;
  const Limits limits;
  mutable std::mutex mutex;  ///< over what follows
  std::map<std::string, Memory, std::less<>> agents;
};

void AgentWords::State::load() {
  agents = store.run([since = clock.wall_ms() - limits.keep_ms](SQLite::Database& db) {
    std::map<std::string, Memory, std::less<>> all;
    Statement(db.getHandle(), "DELETE FROM agent_words WHERE last_ms < ?1").bind_all(since).run();
    Statement row(db.getHandle(),
                  "SELECT agent_id, number, first_ms, last_ms, service, account_id, capability, target, runs FROM "
                  "agent_words ORDER BY agent_id, number");
    while (row.step()) {
      const auto text = [&](int column) { return std::string(row.text(column)); };
      auto& agent = all[text(0)];
      auto hashes = std::make_shared<const Hashes>(hashes_of(row.text(8)));
      agent.runs += hashes->size();
      agent.next = row.integer(1) + 1;
      const auto source = std::make_shared<const ReadSource>(ReadSource{text(4), text(5), text(6), text(7)});
      agent.reads.push_back({row.integer(1), row.integer(2), row.integer(3), source, std::move(hashes)});
    }
    return all;
  });
}

void AgentWords::State::make_room(Memory& agent, std::vector<ReadWords>& changed) const {
  const auto since = clock.wall_ms() - limits.keep_ms;
  auto& reads = agent.reads;
  const auto drop_first = [&] {
    agent.runs -= reads.front().hashes->size();
    reads.erase(reads.begin());
  };
  while (!reads.empty() && reads.front().last_ms < since) drop_first();
  for (auto at = reads.begin(); agent.runs > limits.runs && at != reads.end(); ++at) {
    if (at->hashes->empty()) continue;
    agent.runs -= at->hashes->size();
    at->hashes = kNoHashes;
    changed.push_back(*at);
  }
  std::int64_t dropped_ms = 0;
  while (reads.size() > limits.reads) {
    dropped_ms = std::max(dropped_ms, reads.front().last_ms);
    drop_first();
  }
  if (dropped_ms == 0) return;
  // The first that is left tells that there was more, as long as that would have been kept.
  auto& first = reads.front();
  agent.runs -= first.hashes->size();
  first.hashes = kNoHashes;
  first.last_ms = std::max(first.last_ms, dropped_ms);
  changed.push_back(first);
}

template <class Each>
void AgentWords::State::each_read(std::string_view agent_id, std::int64_t at_ms, const Each& each) const {
  std::vector<ReadWords> reads;
  {
    const std::lock_guard lock(mutex);
    const auto agent = agents.find(agent_id);
    if (agent == agents.end()) return;
    reads = agent->second.reads;
  }
  const auto by = at_ms > 0 ? at_ms : clock.wall_ms();
  for (auto read = reads.rbegin(); read != reads.rend(); ++read) {
    const bool kept = read->last_ms >= by - limits.keep_ms && (at_ms == 0 || read->first_ms <= at_ms);
    if (kept && !each(*read)) return;
  }
}

AgentWords::AgentWords(GroupCommit& store, Clock& clock, Limits limits) : state_(new State(store, clock, limits)) {
  state_->load();
}

AgentWords::~AgentWords() = default;

void AgentWords::note(const std::string& agent_id, const ReadSource& source, std::string_view result_json) {
  const auto found = runs_in_json(result_json, state_->limits.per_read);
  if (found.runs.empty()) return;
  Hashes hashes;
  for (const auto& run : found.runs) hashes.push_back(run.hash);
  const auto now = state_->clock.wall_ms();
  std::vector<ReadWords> changed;
  std::int64_t first_number = 0;
  {
    const std::lock_guard lock(state_->mutex);
    auto& agent = state_->agents[agent_id];
    // What it has of the same already is not kept again: answers that are asked for again and again differ by little.
    bool cut = found.cut;
    for (auto& read : agent.reads) {
      if (!(*read.source == source) || read.last_ms < now - state_->limits.keep_ms) continue;
      Hashes fresh;
      std::set_difference(hashes.begin(), hashes.end(), read.hashes->begin(), read.hashes->end(),
                          std::back_inserter(fresh));
      const bool again = fresh.size() < hashes.size() || (cut && read.hashes->empty());
      cut = cut && !read.hashes->empty();
      hashes = std::move(fresh);
      if (!again || now - read.last_ms < state_->limits.renewed_ms) continue;
      read.last_ms = now;
      changed.push_back(read);
    }
    const auto from = std::make_shared<const ReadSource>(source);
    const auto add = [&](std::shared_ptr<const Hashes> kept) {
      agent.runs += kept->size();
      agent.reads.push_back({agent.next++, now, now, from, std::move(kept)});
      changed.push_back(agent.reads.back());
    };
    if (cut) add(kNoHashes);
    if (!hashes.empty()) add(std::make_shared<const Hashes>(std::move(hashes)));
    if (changed.empty()) return;
    state_->make_room(agent, changed);
    first_number = agent.reads.front().number;
  }
  state_->store.post(
      [agent_id, changed, first_number](SQLite::Database& db) {
        for (const auto& read : changed) store_read(db.getHandle(), agent_id, read);
        remove_reads(db.getHandle(), agent_id, first_number);
      },
      [](const std::exception_ptr&) {}, GroupCommit::Outlasts::kProcess);
}

std::vector<AgentWords::Found> AgentWords::find(std::string_view agent_id, const WordRuns& runs, std::int64_t at_ms,
                                                std::size_t most) const {
  std::vector<Found> found;
  state_->each_read(agent_id, at_ms, [&](const ReadWords& read) {
    auto shared = common(runs.runs, *read.hashes);
    if (shared.empty()) return true;
    const auto same =
        std::find_if(found.begin(), found.end(), [&](const Found& one) { return one.source == *read.source; });
    if (same == found.end()) {
      if (found.size() >= most) return false;
      found.push_back({*read.source, read.first_ms, std::move(shared)});
      return true;
    }
    same->first_ms = std::min(same->first_ms, read.first_ms);
    same->runs.insert(same->runs.end(), shared.begin(), shared.end());
    return true;
  });
  return found;
}

bool AgentWords::has_forgotten(std::string_view agent_id, std::int64_t at_ms) const {
  bool forgotten = false;
  state_->each_read(agent_id, at_ms, [&](const ReadWords& read) {
    forgotten = read.hashes->empty();
    return !forgotten;
  });
  return forgotten;
}

}  // namespace krux
