// When tokens are renewed, in milliseconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace krux {

inline constexpr std::int64_t kLookEveryMs = 60'000;
inline constexpr std::int64_t kRefreshAheadMs = 5 * 60'000;
/// A token that is refused at such an age was not refused for its age.
inline constexpr std::int64_t kYoungMs = 60'000;
inline constexpr std::int64_t kYoungestMs = 5'000;
inline constexpr std::int64_t kStoreAgainMs = 5'000;
inline constexpr std::int64_t kLongestPauseMs = 3'600'000;

/// For how long a token that lives so long (0: nobody knows) counts as young.
inline std::int64_t young_ms(std::int64_t life_ms) {
  return life_ms == 0 ? kYoungMs : std::clamp(life_ms / 2, kYoungestMs, kYoungMs);
}

/// After so many failures in a row.
inline std::int64_t refresh_pause_ms(int failures) {
  constexpr std::array<std::int64_t, 5> pauses{60'000, 120'000, 240'000, 480'000, 900'000};
  return pauses[static_cast<std::size_t>(std::clamp(failures, 1, static_cast<int>(pauses.size())) - 1)];
}

}  // namespace krux
