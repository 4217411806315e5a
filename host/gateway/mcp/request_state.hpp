// What a read has asked and kept, in the client's hands until he answers: nobody else can read it, change it, or use it
// for another call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/util/clock.hpp"

namespace krux::mcp {

/// The call that it was given for.
struct CallName {
  std::string agent_id, capability, arguments_json;
};

struct RequestState {
  std::string questions_json, state, account;  ///< as in Questions
  int round = 1;                               ///< how often the call has asked
  std::int64_t until_boot_ms = 0;              ///< how long it is good, however often it is asked again; 0: from now on
};

/// With a key of this run of the host. Any thread.
class StateSeal {
 public:
  static constexpr std::int64_t kGoodForMs = 3'600'000;

  explicit StateSeal(const Clock& clock);
  ~StateSeal();
  StateSeal(const StateSeal&) = delete;
  StateSeal& operator=(const StateSeal&) = delete;

  std::string seal(const CallName& call, const RequestState& state) const;
  /// Throws krux::Error InvalidInput with a sentence that says what to do.
  RequestState open(const CallName& call, std::string_view sealed) const;

 private:
  const Clock& clock_;
  std::array<unsigned char, 32> key_{};
};

}  // namespace krux::mcp
