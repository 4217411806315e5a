// A client that listens, for tests.
#pragma once

#include <array>
#include <string>

#include "host/gateway/gateway_fixture.hpp"

namespace gateway_test {

/// An agent's stream of events, read as it comes.
class Listening {
 public:
  Listening(std::uint16_t port, const std::string& request) : client_(port) { client_.send(request); }
  /// Reads until `text` has come, as often as that.
  bool hears(const std::string& text, int times = 1) {
    while (count(text) < times) {
      std::array<char, 4096> chunk;
      const auto got = ::recv(client_.fd(), chunk.data(), chunk.size(), 0);
      if (got <= 0) return false;
      seen_.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return true;
  }
  const std::string& seen() const { return seen_; }

 private:
  int count(const std::string& text) const {
    int found = 0;
    for (auto at = seen_.find(text); at != std::string::npos; at = seen_.find(text, at + 1)) ++found;
    return found;
  }

  RawClient client_;
  std::string seen_;
};

}  // namespace gateway_test
