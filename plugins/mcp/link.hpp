// The way to one upstream server of the Model Context Protocol.
#pragma once
#include <kruxos/adapter.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

namespace mcp {

/// The server answered a request with an error of JSON-RPC: it is there, and does not do this.
class RpcError : public std::runtime_error {
 public:
  RpcError(std::int64_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
  std::int64_t code() const noexcept { return code_; }

 private:
  std::int64_t code_;
};

/// The tool was compared with what the server had before: the request was not sent. Compare once more.
class NotCompared : public std::exception {
 public:
  const char* what() const noexcept override { return "The server's tools may have changed since they were listed."; }
};

struct Request {
  std::string method;              ///< "tools/call"
  std::string params_json = "{}";  ///< one JSON object
  bool only_reads = false;         ///< nothing changes by it: its loss leaves nothing unknown
  /// By which tools_version() its tool was compared; it is sent only while that is so.
  std::optional<std::uint64_t> compared{};
};

class Link {
 public:
  virtual ~Link() = default;

  /// The member `result` of the answer, one JSON object of at most 8 MiB. Begins a session where there is none. Any
  /// thread, several at a time; waits until the call's deadline. Throws RpcError; NotCompared; ProxyError otherwise,
  /// with no_effect() only where the request certainly did not reach the server.
  virtual std::string ask(const kruxos::Call& call, const Request& request) = 0;

  /// Another one than before where a session was begun since, or the server has said that its tools have changed: what
  /// was listed before counts no more. Any thread.
  virtual std::uint64_t tools_version() const = 0;
  /// How many sessions have been begun: by how much tools_version() has grown for that reason, or less. Read behind it.
  virtual std::uint64_t sessions() const = 0;
};

}  // namespace mcp
