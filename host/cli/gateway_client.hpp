// Speaks to the agents' gateway on this machine, as an agent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krux::cli {

using GatewayHeaders = std::vector<std::pair<std::string, std::string>>;

struct GatewayAnswer {
  int status = 0;
  std::string body, session;  ///< of Mcp-Session-Id
  std::string problem;        ///< a sentence; empty where there is an answer
};

/// Each request is a connection of its own: one that the host has closed is never taken for one that it has answered.
/// Any thread.
class GatewayClient {
 public:
  /// "http://127.0.0.1:7700": loopback alone, since the key goes over it. Throws CliError.
  GatewayClient(std::string_view url, std::string key);

  GatewayAnswer send(std::string_view method, const GatewayHeaders& headers, std::string_view body) const;

 private:
  std::string address_;
  std::uint16_t port_ = 0;
  bool v6_ = false;
  std::string key_;
};

/// `text` as a header's value, in Base64 where it could not stand there.
std::string header_value(std::string_view text);

}  // namespace krux::cli
