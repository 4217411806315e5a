// Attempts to connect an account in the browser: the address to be opened, the listener that the browser comes back to,
// and how it ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/util/clock.hpp"
#include "host/accounts/service_host.hpp"

namespace krux {

/// How an attempt stands.
struct OAuthAttemptView {
  std::string attempt_id, service, profile, flow;
  std::string state;    ///< "waiting" for the browser, "finishing", "connected", "failed"
  std::string message;  ///< of a failed one: a sentence
  std::string authorize_url, redirect_uri;
  std::string not_listening;  ///< why the browser cannot come back by itself; empty: it can
  std::int64_t expires_at_ms = 0;
  std::optional<Connected> connected;
};

/// Any thread. One attempt a service at a time; a new one ends the one before.
class OAuthAttempts {
 public:
  static constexpr std::int64_t kLifeMs = 10 * 60'000;

  /// `finish` exchanges the code and connects; it may block and throw krux::Error. Runs on the attempt's own thread.
  using Finish = std::function<Connected(const OAuthPlan&, const std::string& redirect_uri, const Secret& code,
                                         const Secret& verifier)>;
  OAuthAttempts(Clock& clock, Finish finish) : clock_(clock), finish_(std::move(finish)) {}
  ~OAuthAttempts();  ///< stop(), and waits for what is under way
  OAuthAttempts(const OAuthAttempts&) = delete;
  OAuthAttempts& operator=(const OAuthAttempts&) = delete;

  /// Throws krux::Error ConflictError where the port of a fixed redirect address is taken.
  OAuthAttemptView begin(OAuthPlan plan);
  /// Throws krux::Error NotFound, as the following do. An ended one is known until the next of its service.
  OAuthAttemptView get(const std::string& service, const std::string& attempt_id);
  /// The address that the browser ended at, as somebody pastes it. Returns at once; throws krux::Error InvalidInput for
  /// one that is not of this attempt, ConflictError when it has been answered.
  OAuthAttemptView answer(const std::string& service, const std::string& attempt_id, std::string_view address);
  OAuthAttemptView cancel(const std::string& service, const std::string& attempt_id);

  /// Ends those that wait.
  void stop();

 private:
  struct Attempt;
  std::shared_ptr<Attempt> find(const std::string& service, const std::string& attempt_id);

  Clock& clock_;
  const Finish finish_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Attempt>> by_service_;
  std::vector<std::shared_ptr<Attempt>> ended_;  ///< whose threads may still run
  bool stopped_ = false;
};

}  // namespace krux
