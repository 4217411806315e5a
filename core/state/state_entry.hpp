// What agents note under keys: one entry, its key, and how much there may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace krux {

struct StateEntry {
  std::string key;
  std::int64_t version = 0;  ///< from 1 on
  std::int64_t updated_at_ms = 0;
  std::string updated_by;  ///< the agent's id
  std::string value_json;  ///< one JSON value; in lists only with_values
  std::int64_t bytes = 0;  ///< of key and value
};

struct StateLimits {
  std::int64_t value_bytes = 64 << 10;
  std::int64_t agent_keys = 10'000, agent_bytes = 16 << 20;    ///< of one agent, versions included
  std::int64_t shared_keys = 10'000, shared_bytes = 64 << 20;  ///< of all agents together
  std::int64_t session_keys = 1'000, session_bytes = 1 << 20;  ///< of one agent's sessions together
  std::int64_t versions = 100;                                 ///< kept of a key, the present one included
};

/// Which entries: those whose keys begin with `prefix` and come after `after`, by key.
struct StateListing {
  std::string prefix, after;
  std::int64_t limit = 100;
  bool with_values = false;
  std::string contains;                     ///< with_values: in the key or in the value's JSON; empty: any
  std::int64_t since_ms = 0, until_ms = 0;  ///< with_values: when it was set; 0: whenever
};

inline constexpr std::size_t kLongestStateKey = 200;

/// Why `key` cannot be one, behind its name, without a full stop; empty: it can.
std::string why_not_state_key(std::string_view key);
/// The same of what a key begins with, which may be empty.
std::string why_not_state_prefix(std::string_view prefix);

/// Throws krux::Error InvalidInput.
void must_fit_value(const StateLimits& limits, std::string_view value_json);

/// InvalidInput: `whose` have as many keys, or bytes, as they may. "Your notes have 10,000 keys, which is the limit."
[[noreturn]] void throw_full_of_keys(std::string_view whose, std::int64_t most);
[[noreturn]] void throw_full_of_bytes(std::string_view whose, std::int64_t most);

/// "64 KiB", "16 MiB", else in bytes.
std::string bytes_in_words(std::int64_t bytes);

bool fits_listing(const StateListing& listing, const StateEntry& entry);

}  // namespace krux
