// What a client says it can do for those that it calls, and what a call of it may tell.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace krux::mcp {

/// The error that names what a client has not declared; of the protocol's own range.
inline constexpr int kMissingCapability = -32021;

/// Of `capabilities` (one JSON object, as a client gives it): KRUX_ASK_FORM ... What cannot be read counts as nothing.
std::uint32_t abilities_of(std::string_view capabilities_json);
/// Whether they have that extension.
bool declares(std::string_view capabilities_json, std::string_view extension);
/// The capabilities that a client would need for them: one JSON object.
std::string capabilities_for(std::uint32_t abilities);

/// The least level at which it hears messages, as krux_log counts: KRUX_LOG_DEBUG ...; one more than the last: none.
std::optional<std::int32_t> log_level_of(std::string_view name);
std::string_view log_level_name(std::int32_t level);
inline constexpr std::int32_t kHearsNothing = 1000;

/// What is known of the client of a session. Not durable: who has a session from before the host's start is asked
/// nothing, until he initializes another one.
struct SessionClient {
  std::uint32_t abilities = 0;
  std::int32_t log_level = kHearsNothing;
};

/// Any thread.
class SessionClients {
 public:
  static constexpr std::size_t kPerAgent = 256;  ///< as many as an agent has sessions; one more drops the oldest

  void began(const std::string& agent_id, const std::string& session, std::uint32_t abilities);
  void set_log_level(const std::string& agent_id, const std::string& session, std::int32_t level);
  SessionClient of(const std::string& agent_id, const std::string& session) const;

 private:
  struct Entry {
    std::string session;
    SessionClient client;
  };
  Entry& entry(const std::string& agent_id, const std::string& session);

  mutable std::mutex mutex_;
  std::map<std::string, std::list<Entry>> by_agent_;  ///< the oldest first
};

}  // namespace krux::mcp
