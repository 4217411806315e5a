// What has happened to an agent's work while it was away.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/state/state_entry.hpp"
#include "core/write/alerts.hpp"
#include "core/write/write.hpp"

namespace krux {

struct SyncHealth {
  std::string service, account;
  /// kLate: it is older than three of the service's intervals.
  enum class State { kCurrent, kLate, kNeverSynced, kOutOfService } state = State::kCurrent;
  std::int64_t synced_at_ms = 0;
  /// Messages of others of that time and later; nothing: this cannot be told, or the agent may read none.
  std::optional<std::int64_t> new_messages{};
  bool messages_cut = false;  ///< there are more
};

/// What other agents have set in the shared state, newest first.
struct SharedChanges {
  std::vector<StateEntry> newest;  ///< a few, without their values
  std::int64_t count = 0;
};

struct Briefing {
  std::int64_t since_ms = 0, now_ms = 0;
  /// What `since_ms` is: kSession: when the session before was used last; kLastDay: there was none, a day ago.
  enum class From { kSession, kLastDay, kAsked } from = From::kSession;
  std::string session_id;  ///< of the session before; may be empty
  // Writes that ended since, by their states:
  std::int64_t completed = 0, failed = 0, cancelled = 0, rejected = 0, discarded = 0, rolled_back = 0;
  // As they stand now, the same; what is held counts as buffered:
  std::int64_t pending_approval = 0, unknown = 0, dead_letter = 0, buffered = 0, executing = 0;
  std::int64_t approved = 0;             ///< by a person, since; those that he rejected are `rejected`
  bool cut = false;                      ///< figures are "at least"
  std::vector<WriteRecord> ended, open;  ///< a few, newest first
  std::vector<Alert> alerts;             ///< open ones
  std::vector<SyncHealth> services;
  SharedChanges shared;
};

/// A few sentences made from the figures, in plain English.
std::string summary_of(const Briefing& briefing);
/// {summary, since, ...}
/// `name_of`: an agent's name, by its id.
std::string briefing_json(const Briefing& briefing, const std::function<std::string(const std::string&)>& name_of = {});

const char* to_string(SyncHealth::State state);

}  // namespace krux
