#include "core/state/state_entry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

bool is_of_state_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._-/:@+").find(c) != std::string_view::npos;
}

}  // namespace

std::string why_not_state_prefix(std::string_view prefix) {
  if (prefix.size() > kLongestStateKey)
    return fmt::format("has {} bytes, at most {} are accepted", prefix.size(), kLongestStateKey);
  if (!std::all_of(prefix.begin(), prefix.end(), is_of_state_key))
    return "may hold letters and digits of ASCII and . _ - / : @ + alone";
  return {};
}

std::string why_not_state_key(std::string_view key) {
  return key.empty() ? "must not be empty" : why_not_state_prefix(key);
}

std::string bytes_in_words(std::int64_t bytes) {
  if (bytes >= kMiB && bytes % kMiB == 0) return fmt::format("{} MiB", bytes / kMiB);
  if (bytes >= kKiB && bytes % kKiB == 0) return fmt::format("{} KiB", bytes / kKiB);
  return fmt::format("{} bytes", bytes);
}

void must_fit_value(const StateLimits& limits, std::string_view value_json) {
  const auto size = static_cast<std::int64_t>(value_json.size());
  if (size > limits.value_bytes)
    throw invalid_input(
        fmt::format("The value has {} bytes as JSON, at most {} are kept under one key. Keep it in "
                    "parts, under several keys.",
                    size, bytes_in_words(limits.value_bytes)));
}

void throw_full_of_keys(std::string_view whose, std::int64_t most) {
  throw invalid_input(
      fmt::format("{} {} keys, which is the limit. Nothing was set: delete keys that are not needed.", whose, most));
}

void throw_full_of_bytes(std::string_view whose, std::int64_t most) {
  throw invalid_input(fmt::format("{} {}, which is the limit. Nothing was set: delete keys that are not needed.", whose,
                                  bytes_in_words(most)));
}

bool fits_listing(const StateListing& listing, const StateEntry& entry) {
  if (listing.since_ms > 0 && entry.updated_at_ms < listing.since_ms) return false;
  if (listing.until_ms > 0 && entry.updated_at_ms >= listing.until_ms) return false;
  return listing.contains.empty() || entry.key.find(listing.contains) != std::string::npos ||
         entry.value_json.find(listing.contains) != std::string::npos;
}

}  // namespace krux
