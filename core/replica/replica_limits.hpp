// How much of everything a replica takes. The boundary promises these; host/plugins/abi_bridge/limits.hpp names the
// same.
#pragma once

#include <cstddef>
#include <cstdint>

namespace krux::replica_limits {

inline constexpr std::size_t kLongestId = 1024;  ///< of ids, scopes, order keys, cursors' keys and parts, in bytes
inline constexpr std::size_t kLargestJson = 1 << 20, kLongestText = 1 << 20, kLongestField = 64 * 1024;
inline constexpr std::size_t kMostFields = 16;
inline constexpr std::size_t kMostNamedTexts = 16;                 ///< of a collection; each has characters of its own
inline constexpr std::size_t kLongestTag = 256, kMostTags = 1024;  ///< in bytes; of a record
/// Values of named texts that a record may have. Their bytes count as those of its text.
inline constexpr std::size_t kMostTextValues = 10'000;
inline constexpr std::size_t kLongestCursor = 64 * 1024, kLongestReport = 4096;
inline constexpr int kDeepestCondition = 16, kMostConditions = 1000;
inline constexpr std::int64_t kLongestWaitMs = 24 * 3'600'000;  ///< between two steps of a pass

}  // namespace krux::replica_limits
