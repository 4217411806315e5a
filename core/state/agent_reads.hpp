// What agents have read within some hours, in kruxos.db: the addresses, links and codes of what they were told, each
// with where it stood. It is the agent's and no session's, so that no new session makes it forgotten.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/state/text_values.hpp"
#include "core/util/clock.hpp"

namespace krux {

class GroupCommit;

/// A read: of which account, by which capability, about what (of the capability's `target`; may be empty).
struct ReadSource {
  std::string service, account_id, capability, target;
  bool operator==(const ReadSource&) const = default;
};

/// What is known of a read besides its texts.
enum class ReadMark : std::uint8_t {
  kUnprovenSender,  ///< the service has not proven who has sent it
  kUnsaidSender,    ///< the service does not say whether it has
};

/// Any thread. One a ledger.
class AgentReads {
 public:
  struct Limits {
    std::int64_t keep_ms = 8 * 3'600'000LL;  ///< since it was read last
    std::size_t per_agent = 20'000;          ///< values; of more it is known that there were more
    std::size_t per_read = 2'000;
    std::int64_t renewed_ms = 5 * 60'000LL;  ///< what is read again within this time is not stored anew
  };
  /// What is there from before is known again. Throws krux::Error DatabaseError.
  AgentReads(GroupCommit& store, Clock& clock) : AgentReads(store, clock, Limits()) {}
  AgentReads(GroupCommit& store, Clock& clock, Limits limits);
  ~AgentReads();

  /// The agent is told `result_json`, one valid JSON document. Known at once; durable with whatever is posted to the
  /// store after this: nobody waits for it.
  void note(const std::string& agent_id, ReadSource source, std::string_view result_json,
            const std::vector<ReadMark>& marks = {});

  struct Found {
    ReadSource source;  ///< the last place about something that it stood at, else the first
    std::int64_t first_ms = 0, last_ms = 0;
  };
  /// Whether the agent had read it by `at_ms` (0: by now) within the time that is kept.
  std::optional<Found> find(std::string_view agent_id, const TextValue& value, std::int64_t at_ms) const;
  std::optional<Found> find(std::string_view agent_id, ReadMark mark, std::int64_t at_ms) const;
  /// The same of anything at all.
  std::optional<Found> find_any(std::string_view agent_id, std::int64_t at_ms) const;
  /// It had read more by then than is kept: what is not found may have been read.
  bool has_forgotten(std::string_view agent_id, std::int64_t at_ms) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< shared with what is being stored
};

}  // namespace krux
