// Writing to Slack, looking whether it happened, and undoing it.
//
// A message carries its write's id in Slack's message metadata, by which it is found again. Reactions have no marker:
// their state is compared with that before the first attempt. What was changed is noted for the sync.
#pragma once

#include <kruxos/adapter.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api_client.hpp"
#include "changes.hpp"

namespace slack {

class Writer {
 public:
  /// `scopes`: granted ones; nothing when they are not known. `changes` must outlive it.
  Writer(const ApiClient& api, std::optional<std::vector<std::string>> scopes, Changes& changes)
      : api_(api), scopes_(std::move(scopes)), changes_(changes) {}

  std::string execute(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;

  /// Of a reaction: {"own": [names of the reactions that the token's user has there]}, or {} where that cannot be told.
  /// (Earlier versions: {"was_there": bool}.) Of anything else {}: what is undone is what the write itself added.
  std::string rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;
  static bool supports_rollback(std::string_view operation);
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const;
  kruxos::EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const;

 private:
  struct MessageRef {
    std::string channel, ts, thread_ts;  ///< thread_ts: empty where it is no reply, or not known to be one
  };
  static rapidjson::Document params_of(std::string_view json);
  static std::string str(const Json& params, std::string_view name);
  /// {"status":"ok"} of an undo; `was_gone`: there was nothing left to undo.
  static std::string undone(bool was_gone);
  /// The token is good, but lacks what the look needs.
  static bool may_not_look(const SlackError& error);
  /// One request that may change the message, which is noted.
  Answer change(const kruxos::Call& call, std::string_view method, const Params& form, const MessageRef& message) const;
  void note_change(const kruxos::Call& call, const MessageRef& message) const;
  void note_reply(const kruxos::Call& call, const Json& params, const std::string& channel, std::string_view ts) const;

  std::string post(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params) const;
  std::string react(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params, bool add) const;
  kruxos::EffectFound look(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;
  kruxos::EffectFound find_message(const kruxos::Call& call, const kruxos::BufferedWrite& write,
                                   const Json& params) const;
  kruxos::EffectFound find_reaction(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params,
                                    bool add) const;
  static Params look_from(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params,
                          std::int64_t service_ms);
  /// The names of the reactions that the token's own user has on the message; nothing when Slack does not show all.
  std::optional<std::vector<std::string>> own_reactions(const kruxos::Call& call, const Json& params) const;
  /// Nothing, too, where Slack refuses to show them.
  std::optional<std::vector<std::string>> own_reactions_or_nothing(const kruxos::Call& call, const Json& params) const;
  bool came_since(const kruxos::Call& call, const kruxos::BufferedWrite& write, const Json& params) const;
  kruxos::EffectFound find_undone_reaction(const kruxos::Call& call, const Json& params) const;
  std::string undo_reaction(const kruxos::Call& call, const kruxos::RollbackRequest& request, const Json& params,
                            const Json& result) const;
  std::string user_of_token(const kruxos::Call& call) const;
  void change_reaction(const kruxos::Call& call, const Json& params, bool add) const;
  struct Present {
    bool edited = false, answered = false;  ///< answered: there are replies to it
  };
  /// The message that a write posted as it stands at Slack now; nothing when it is not there. What it throws certainly
  /// changed nothing.
  std::optional<Present> present_message(const kruxos::Call& call, const Json& params, const Json& result) const;
  static void refuse_conflict(const Present& present);
  static std::optional<Present> present_in(const Json& messages, std::string_view ts);
  std::string delete_message(const kruxos::Call& call, const MessageRef& message) const;
  /// False where the granted scopes are not known.
  bool has_scope(std::string_view scope) const;

  const ApiClient& api_;
  const std::optional<std::vector<std::string>> scopes_;
  Changes& changes_;
  mutable std::mutex user_mutex_;
  mutable std::string user_;  ///< whose token it is; empty until it was asked for
};

}  // namespace slack
