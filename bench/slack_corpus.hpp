// The corpus as an emulated Slack workspace: channels of a thousand messages, the newest of all of them spread over
// all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "support/slack_emulator.hpp"

namespace krux::bench {

inline constexpr std::int64_t kOnly = 4'242;           ///< the message that has
inline constexpr const char* kOnlyWord = "qvxjwkzpq";  ///< this, and no other has

std::string channel_id(std::int64_t n);

struct SeededMessage {
  std::int64_t nth = 0;  ///< newest, from 0
  std::int64_t at_ms = 0;
  std::string channel_id, channel_name, user_id, user_name, text;
};

/// `seen` hears of each message.
void seed(test::SlackEmulator& slack, std::int64_t messages,
          const std::function<void(const SeededMessage&)>& seen = {});

}  // namespace krux::bench
