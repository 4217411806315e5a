// What a read and whoever waits for it say to each other while it runs.
#pragma once

#include <kruxos/abi/call.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace krux {

/// How far a read has come, in a unit of its own.
struct ReadProgress {
  double done = 0, total = 0;  ///< total 0: not known
  std::string_view message;    ///< may be empty
};

/// What a read has ended with: what it must know before it can answer. As krux_call.ask was given it.
struct AskedInput {
  std::string questions_json, state;
};

/// Does not change while the call runs. The functions may be empty, run on any thread, and must not block for long.
struct ReadDialogue {
  std::uint32_t can_ask = 0;  ///< KRUX_ASK_FORM ...
  std::string answers_json;   ///< to what the read had asked before: one JSON object; empty: it has asked nothing
  std::string state;          ///< what came with those questions
  std::string account;        ///< whose read had asked; empty: it has asked nothing
  std::function<void(const ReadProgress&)> progress;
  /// `level`: KRUX_LOG_DEBUG to KRUX_LOG_ERROR.
  std::function<void(std::int32_t level, std::string_view message)> tell;
  /// Hands the questions on instead of keeping them in the call: of an adapter's own process.
  std::function<krux_status(const AskedInput&)> hand_on;
};

}  // namespace krux
