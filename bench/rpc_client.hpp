// An agent's keep-alive connection that costs as little as a client can.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krux::bench {

/// What a head says under `name`, which is in small letters; empty where it says nothing.
std::string_view header_in(std::string_view head, std::string_view name);

/// One thread. Failures are wrong().
class RpcClient {
 public:
  RpcClient(std::uint16_t port, std::string key);
  ~RpcClient();
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  /// The bytes of a call of a capability, to be sent as often as wanted.
  std::string request(std::string_view capability, std::string_view arguments_json) const;
  /// The same, `count` times in one message.
  std::string batch(std::string_view capability, std::string_view arguments_json, int count) const;
  /// A call of that tool over the Model Context Protocol, in the model of 2025-11-25.
  std::string tool_request(std::string_view tool, std::string_view arguments_json) const;
  /// A message with this body, and a request of a path, whatever they are.
  std::string post(std::string_view body) const;
  std::string get(std::string_view path) const;
  /// The answer's body, until the next call.
  std::string_view call(std::string_view request);
  /// The same; of how many bytes the answer is, its head among them.
  std::size_t call_bytes(std::string_view request);

  struct Reply {
    int status = 0;
    std::string_view head, body;  ///< until the next one
  };
  /// The same, whatever the answer is.
  Reply ask(std::string_view request);

 private:
  const std::string key_;
  int fd_;
  std::string buffer_;
};

}  // namespace krux::bench
