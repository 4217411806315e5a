// Speaks to a running host over its Unix socket.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/net/secret.hpp"
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

/// Asks for the passphrase of the operator of that name; empty: of the only one. Throws CliError where there is nobody
/// to ask.
using AskPassphrase = std::function<SecretBytes(const std::string& name)>;

/// Each call is a connection of its own. Where the host wants to know that it is the operator who asks, it is asked for
/// the passphrase once, and what that was good for stays in this process's memory. Throws CliError.
class ControlClient {
 public:
  /// `operator_name`: who asks; empty: the only operator, or the one who is called as the user is.
  explicit ControlClient(std::filesystem::path socket, AskPassphrase ask = {}, int timeout_seconds = 120,
                         std::string operator_name = {})
      : socket_(std::move(socket)),
        granted_(std::make_shared<Granted>(Granted{std::move(ask), {}, std::move(operator_name)})),
        timeout_seconds_(timeout_seconds) {}
  /// For an operation that may take longer than others.
  ControlClient with_timeout(int seconds) const {
    auto copy = *this;
    copy.timeout_seconds_ = seconds;
    return copy;
  }

  /// Asks for the passphrase now where the host would ask for it with a decision, so that nobody is asked in between.
  void get_grant_if_needed() const;
  /// Asks for it now in any case, unless that was done before.
  void get_grant() const;
  /// By which name the host is told who asks; empty: there is one operator, or none. Throws CliError where it is not
  /// clear, or there is no such one.
  std::string which_operator() const;

  HostAnswer get(const std::string& target) const { return call("GET", target, {}); }
  /// `body` is sent from where it stands and not copied.
  HostAnswer post(const std::string& target, std::string_view body = {}) const { return call("POST", target, body); }

 private:
  struct Granted {
    AskPassphrase ask;
    SecretBytes grant;  ///< empty: none yet
    std::string name;
  };
  struct Raw {
    int status = 0;
    HostAnswer answer;
  };
  HostAnswer call(const char* method, const std::string& target, std::string_view body) const;
  Raw exchange(const char* method, const std::string& target, std::string_view body) const;
  void ask_for_grant() const;

  std::filesystem::path socket_;
  std::shared_ptr<Granted> granted_;  ///< of all copies
  int timeout_seconds_;               ///< for one answer; connecting an account asks its service
};

}  // namespace krux::cli
