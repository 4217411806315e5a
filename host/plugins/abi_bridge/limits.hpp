// How much of everything may cross the boundary, in bytes unless the name says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/definition/asks.hpp"
#include "core/net/retry_after.hpp"
#include "core/replica/replica_limits.hpp"

namespace krux::limits {

inline constexpr std::size_t kLongestName = 64, kLongestId = replica_limits::kLongestId;
inline constexpr std::size_t kLongestUnfitId =
    1200;  ///< what stands for an id that is too long is longer than kLongestId
inline constexpr std::size_t kLongestConditionText = 64 * 1024;
inline constexpr int kDeepestCondition = replica_limits::kDeepestCondition,
                     kMostConditions = replica_limits::kMostConditions;

inline constexpr std::size_t kLargestRecord = replica_limits::kLargestJson,
                             kLongestRecordText = replica_limits::kLongestText,
                             kLongestKeptText = replica_limits::kLongestText, kMostFields = replica_limits::kMostFields,
                             kLongestField = replica_limits::kLongestField,
                             kMostNamedTexts = replica_limits::kMostNamedTexts,
                             kMostTextValues = replica_limits::kMostTextValues, kMostTags = replica_limits::kMostTags,
                             kLongestTag = replica_limits::kLongestTag;
inline constexpr std::size_t kLongestCursor = replica_limits::kLongestCursor,
                             kLongestReport = replica_limits::kLongestReport;

/// Why a look cannot tell; an adapter's bytes, of which some may become a U+FFFD of three.
inline constexpr std::size_t kLongestReason = 2000, kLongestShownReason = 3 * kLongestReason;
inline constexpr std::size_t kLargestResult = 8 << 20, kLargestPoint = 64 * 1024, kLargestIdentity = 64 * 1024;
/// Of what a function gives: see FunctionExtras::small.
constexpr std::size_t largest_object(bool small) {
  return small ? kLargestPoint : kLargestResult;
}
inline constexpr std::size_t kLargestNote = 64 * 1024;
/// Of a read: what it asks, what it keeps with that, and a sentence for whoever waits.
inline constexpr std::size_t kLargestQuestions = 64 * 1024, kLargestReadState = 16 * 1024, kLongestSentence = 4096;
using krux::kLargestAnswers;
inline constexpr std::int64_t kLongestWaitMs = replica_limits::kLongestWaitMs;
using krux::kLongestRetryAfterMs;

inline constexpr std::size_t kLongestMethod = 16, kLongestUrl = 16 * 1024, kMostHeaders = 100;
inline constexpr std::size_t kLongestHeaderName = 256, kLongestHeader = 64 * 1024;  ///< of all of a request
inline constexpr std::size_t kLargestBody = std::size_t{64} << 20;
inline constexpr std::size_t kLargestInlineBody = 1 << 20;  ///< of a frame; larger ones are pulled

inline constexpr std::size_t kMostUploadBytes = 1 << 20;  ///< of one read

inline constexpr std::size_t kLongestLogLine = 8192;
/// A failure's sentence once it was made printable, the host's own words included.
inline constexpr std::size_t kLongestFailure = 64 * 1024;

}  // namespace krux::limits
