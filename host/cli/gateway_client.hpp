// Speaks to the agents' gateway on this machine, as an agent.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krux::cli {

using GatewayHeaders = std::vector<std::pair<std::string, std::string>>;

struct GatewayAnswer {
  int status = 0;
  std::string body, session;  ///< of Mcp-Session-Id
  bool is_stream = false;     ///< its events have been given, and there is no body
  std::string problem;        ///< a sentence; empty where there is an answer
};

/// Lets an answer that goes on be ended by another thread. One request at a time.
class GatewayCall {
 public:
  /// The request that is under way ends, and those that come. Any thread.
  void end();
  bool ended() const;

 private:
  friend class GatewayClient;
  bool begin(int fd);
  void close();

  mutable std::mutex mutex_;
  int fd_ = -1;
  bool ended_ = false;
};

/// The data of one server-sent event, and its id, which may be empty.
using OnEvent = std::function<void(std::string_view data, std::string_view id)>;

/// Each request is a connection of its own: one that the host has closed is never taken for one that it has answered.
/// Any thread.
class GatewayClient {
 public:
  /// "http://127.0.0.1:7700": loopback alone, since the key goes over it. Throws CliError.
  GatewayClient(std::string_view url, std::string key, std::string path = "/mcp");

  /// `on_event`: where the answer is a stream of events, on this thread, until it ends or `call` is ended.
  GatewayAnswer send(std::string_view method, const GatewayHeaders& headers, std::string_view body,
                     const OnEvent& on_event, GatewayCall& call) const;

 private:
  void send(std::string_view method, const GatewayHeaders& headers, std::string_view body, int fd) const;

  std::string address_;
  std::uint16_t port_ = 0;
  bool v6_ = false;
  std::string key_, path_;
};

/// `text` as a header's value, in Base64 where it could not stand there.
std::string header_value(std::string_view text);

}  // namespace krux::cli
