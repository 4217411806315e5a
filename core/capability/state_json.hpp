// Entries of state as answers have them. Internal to the room.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/state/state_entry.hpp"
#include "core/util/json_out.hpp"

namespace krux {

/// The name of the agent of an id.
using NameOf = std::function<std::string(const std::string&)>;
/// Whose entries are told, so how: `name_of` is empty where nobody else can have set them.
struct StateTeller {
  NameOf name_of{};

  void put_meta(JsonWriter& out, const StateEntry& entry) const;
  void put_whole(JsonWriter& out, const StateEntry& entry) const;
};

/// A page ends there, so that the answer fits into a message.
inline constexpr std::size_t kMostPageBytes = 256 << 10;

/// How many of `entries` a page of at most `limit` has: no more than fit, and one at least.
std::size_t page_size(const std::vector<StateEntry>& entries, std::int64_t limit);

/// {keys, entries where `details`, more, next_after}. `entries` has one more than `limit` where there are more.
std::string keys_json(const StateTeller& teller, const std::vector<StateEntry>& entries, std::int64_t limit,
                      bool details);

}  // namespace krux
