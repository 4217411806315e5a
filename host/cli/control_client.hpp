// Speaks to a running host over its Unix socket.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/util/json.hpp"

namespace krux::cli {

/// What the command ends with; docs/cli.md.
enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2, kNotRunning = 3, kNotFound = 4, kConflict = 5 };

/// Ends the command with that code after its sentence.
class CliError : public std::runtime_error {
 public:
  CliError(ExitCode code, const std::string& message, std::string json = {})
      : std::runtime_error(message), code_(code), json_(std::move(json)) {}
  ExitCode code() const { return code_; }
  const std::string& json() const { return json_; }  ///< the host's own words, where they are the reason

 private:
  ExitCode code_;
  std::string json_;
};

struct HostAnswer {
  std::string text;  ///< as the host sent it
  JsonDocument json;
};

/// Each call is a connection of its own. Throws CliError.
class ControlClient {
 public:
  explicit ControlClient(std::filesystem::path socket, int timeout_seconds = 120)
      : socket_(std::move(socket)), timeout_seconds_(timeout_seconds) {}
  /// For an operation that may take longer than others.
  ControlClient with_timeout(int seconds) const { return ControlClient(socket_, seconds); }

  HostAnswer get(const std::string& target) const { return call("GET", target, {}); }
  /// `body` is sent from where it stands and not copied.
  HostAnswer post(const std::string& target, std::string_view body = {}) const { return call("POST", target, body); }

 private:
  HostAnswer call(const char* method, const std::string& target, std::string_view body) const;

  const std::filesystem::path socket_;
  const int timeout_seconds_;  ///< for one answer; connecting an account asks its service
};

}  // namespace krux::cli
