// How much of everything may cross the boundary, in bytes unless the name says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace krux::limits {

inline constexpr std::size_t kLongestName = 64, kLongestId = 1024;
inline constexpr std::size_t kLongestConditionText = 64 * 1024;
inline constexpr int kDeepestCondition = 16, kMostConditions = 1000;

inline constexpr std::size_t kLargestRecord = 1 << 20, kLongestRecordText = 1 << 20, kLongestKeptText = 1 << 20,
                             kMostFields = 16;
inline constexpr std::size_t kLongestCursor = 64 * 1024, kLongestReport = 4096;

inline constexpr std::size_t kLargestResult = 8 << 20, kLargestPoint = 64 * 1024, kLargestIdentity = 64 * 1024;
inline constexpr std::size_t kLargestNote = 64 * 1024;
inline constexpr std::int64_t kLongestWaitMs = 24 * 3600 * 1000;
inline constexpr std::int64_t kLongestRetryAfterMs = std::int64_t{7} * 24 * 3600 * 1000;

inline constexpr std::size_t kLongestMethod = 16, kLongestUrl = 16 * 1024, kMostHeaders = 100;
inline constexpr std::size_t kLongestHeaderName = 256, kLongestHeader = 16 * 1024;
inline constexpr std::size_t kLargestBody = std::size_t{64} << 20;
inline constexpr std::size_t kLargestInlineBody = 1 << 20;  ///< of a frame; larger ones are pulled

inline constexpr std::size_t kMostUploadBytes = 1 << 20;  ///< of one read

inline constexpr std::size_t kLongestLogLine = 8192;
/// A failure's sentence once it was made printable, the host's own words included.
inline constexpr std::size_t kLongestFailure = 64 * 1024;

}  // namespace krux::limits
