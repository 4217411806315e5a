// Clients that are asked to lead their user to the operator's page, where a write waits for a decision.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/capability/capability_handler.hpp"
#include "core/util/json_out.hpp"

namespace krux::mcp {

/// To one write as it stands. What a client answers to it decides nothing.
struct Invitation {
  AskedApproval to;
  std::string agent_name;
  std::uint16_t page_port = 0;

  /// Under which the stateless model asks, another one for other content.
  std::string key() const;
  /// "method" and "params" of the request. It shows what the host knows, and nothing that the agent has written.
  /// `elicitation_id`: of the models with sessions; empty: of the one without.
  void put_request(JsonWriter& out, std::string_view elicitation_id) const;
  /// inputRequests of the stateless model: one JSON object.
  std::string input_requests() const;
  /// Throws krux::Error InvalidInput where that is no answer to it.
  void check_answer(std::string_view result_json) const;
};

/// The notification that the write of that invitation is decided.
std::string invitation_over(std::string_view elicitation_id);

/// Who was invited to what, so that nobody is asked the same again and again. In memory. Any thread.
class Invitations {
 public:
  static constexpr std::size_t kPerAgent = 256;  ///< one more forgets the oldest

  /// The client; `session` is empty in the stateless model, where an agent's clients cannot be told apart.
  struct Whose {
    std::string agent_id, session;
    bool operator==(const Whose&) const = default;
  };
  /// Where what becomes of it is told.
  struct Way {
    std::function<bool(std::string_view message)> send;  ///< false: nobody reads there any more
    std::function<void()> withdraw;                      ///< what is not answered yet
  };
  /// An id to ask under. Nothing: the client is being asked, or has answered, about this content.
  std::optional<std::string> begin(const Whose& whose, const AskedApproval& to, Way way);
  /// Of the stateless model, whose requests are asked as often as they are looked at until one is answered.
  bool is_open(const Whose& whose, const AskedApproval& to) const;
  void answered(const Whose& whose, const AskedApproval& to);
  void answered(const std::string& agent_id, const std::string& elicitation_id);
  /// Nobody has answered, and nobody waits any more.
  void dropped(const std::string& agent_id, const std::string& elicitation_id);

  struct Told {
    std::string session, elicitation_id;
    Way way;
    bool is_answered = false;
  };
  /// The write does not wait for a person any more: who is to be told. They are forgotten.
  std::vector<Told> decided(const std::string& agent_id, const std::string& write_id);
  void session_ended(const std::string& session);

 private:
  struct Entry {
    Whose whose;
    std::string write_id, content_hash, elicitation_id;
    bool is_answered = false;
    Way way;
  };
  bool is_there(const Whose& whose, const AskedApproval& to) const;
  void add(Entry entry);

  mutable std::mutex mutex_;
  std::map<std::string, std::list<Entry>> by_agent_;  ///< the oldest first
};

}  // namespace krux::mcp
