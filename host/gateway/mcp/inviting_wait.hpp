// A wait for a write's end, in a session whose client can lead its user to the operator's page meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "host/gateway/agent_gateway.hpp"
#include "host/gateway/mcp/call_channel.hpp"
#include "host/gateway/mcp/client_questions.hpp"
#include "host/gateway/mcp/invitations.hpp"
#include "host/gateway/mcp/streams.hpp"

namespace krux::mcp {

/// The wait goes on whatever the client answers, and whether or not it does. Any thread.
class InvitingWait : public std::enable_shared_from_this<InvitingWait> {
 public:
  /// That all of them share; outlives them.
  struct Parts {
    AgentApi& api;
    ClientQuestions& questions;
    Invitations& invitations;
    Streams& streams;
  };
  struct Options {
    Agent agent;
    std::string session, write_id;
    std::uint16_t page_port = 0;
    std::shared_ptr<CallChannel> channel;
  };
  InvitingWait(Parts parts, Options options) : parts_(parts), options_(std::move(options)) {}

  /// The write may wait for a person: the client is asked, if that is so and it was not asked before. Does not block.
  void look();
  /// Nobody waits any more: what is not answered is withdrawn. Before the call's answer.
  void end();

  /// Tells whoever was invited to the write that it is decided.
  static void decided(const Parts& parts, const std::string& agent_id, const std::string& write_id);

 private:
  void ask(const AskedApproval& approval);
  void withdraw(std::string_view why);

  const Parts parts_;
  const Options options_;
  std::mutex mutex_;  ///< over what follows
  bool ended_ = false;
  ClientQuestions::Number question_ = 0;
  std::string elicitation_id_;
};

}  // namespace krux::mcp
