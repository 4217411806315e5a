// Bringing the replica up to date with the workspace.
//
// Slack tells neither edits nor reactions nor deletions after the fact, so the sync looks at the same things again:
// channels and users as whole lists; of each channel that the bot is in, what is new, and from time to time everything
// of the last 72 hours; and the replies of threads that are active. What a complete look did not see is gone.
// docs/slack.md tells the plan.
#pragma once

#include <kruxos/adapter.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api_client.hpp"
#include "changes.hpp"
#include "model.hpp"
#include "sync_state.hpp"

namespace slack {

struct SyncOptions {
  std::int64_t initial_messages = 100;  ///< a channel's first sync
  std::int64_t look_back_ms = 72 * 3'600'000LL;
  std::int64_t look_back_every_ms = 60'000;      ///< at least; a third of the time at most is spent on it
  std::int64_t list_refresh_ms = 15 * 60'000LL;  ///< at least, for lists of more than one page
  int page_size = 200;
  bool private_channels = true;  ///< the token may list them, or it is not known
};

class Sync {
 public:
  /// `changes`: what the instance's writers note; must outlive it.
  Sync(const ApiClient& api, kruxos::Host host, SyncOptions options, Changes& changes)
      : api_(api), host_(host), options_(options), changes_(changes), private_channels_(options.private_channels) {}

  /// One step of a pass; both kinds of pass are the same, since all that is known stands in cursors.
  kruxos::SyncStep step(const kruxos::Call& call, kruxos::SyncStore& store);

 private:
  enum Stream { kChannelList, kHistory, kChanges, kUserList, kThreads, kCarrying, kStreams };
  struct Step;  ///< what one step() works with

  kruxos::SyncStep advance(Step& step);
  void begin_pass(Step& step);
  bool run_one(Step& step);
  bool has_work(Step& step, Stream stream);
  void run(Step& step, Stream stream);
  void commit(Step& step);

  void failed(Step& step, Stream stream, const kruxos::ProxyError& error);
  void give_up_part(Step& step, Stream stream, const kruxos::ProxyError& error);
  void give_up_list(Step& step, bool channels, const kruxos::ProxyError& error);
  void give_up_channel(Step& step, const kruxos::ProxyError& error);
  void give_up_thread(Step& step, const kruxos::ProxyError& error);
  void give_up_change(Step& step, const kruxos::ProxyError& error);

  std::int64_t until_next(Step& step);
  std::int64_t channels_through(Step& step);
  kruxos::SyncStep end_pass(Step& step);

  void list_page(Step& step, ListState& list, bool channels);
  std::optional<Answer> ask_list(Step& step, ListState& list, bool channels);
  void put_list(Step& step, const Json& items, bool channels, std::int64_t generation);
  void forget_lost_channels(Step& step);
  bool is_archived(Step& step, const std::string& channel) const;
  void forget_channel(Step& step, const std::string& channel);

  void load_channels(Step& step);
  void track_members(Step& step);
  ChannelState* next_channel(Step& step);
  void begin_look(Step& step, ChannelState& channel);
  Params history_params(const ChannelState& channel) const;
  std::optional<Answer> ask_history(Step& step, ChannelState& channel);
  void history_page(Step& step, ChannelState& channel);
  void put_message(Step& step, Message message, const ChannelState& channel);
  void end_look(Step& step, ChannelState& channel, bool whole);
  void sweep_look(Step& step, const ChannelState& channel, bool whole);
  void wake_threads(Step& step, const ChannelState& channel, std::int64_t from_ms);
  bool recent(const Step& step, std::string_view ts) const;

  void learn(Step& step, Message& message);
  void nothing_to_carry(kruxos::SyncStore& store);
  bool is_to_carry(Step& step);
  void carry_page(Step& step);

  void change_look(Step& step);
  void change_answer(Step& step, const std::optional<Message>& known, const std::optional<Message>& parent,
                     const Answer& answer);
  void change_is_gone(Step& step, std::optional<Message> known);
  static std::optional<Message> known_message(Step& step, const std::string& channel, const std::string& ts);
  static std::string thread_of(Step& step, const Change& change, const std::optional<Message>& known);

  bool next_thread(Step& step);
  void thread_page(Step& step);
  void thread_answer(Step& step, const MessageId& id, const Answer& answer);
  void settle_parent(Step& step, std::optional<Message> parent);
  void forget_thread(Step& step);
  void leave_thread(Step& step);

  Answer ask(Step& step, std::string_view method, const Params& params);

  const ApiClient& api_;
  kruxos::Host host_;
  const SyncOptions options_;
  Changes& changes_;
  // Only one step runs at a time. None of what follows needs to outlive the process.
  bool private_channels_;
  std::array<std::int64_t, kStreams> blocked_until_ms_{};
  std::int64_t skew_ms_ = 0;  ///< Slack's clock minus the host's
  std::int64_t pass_number_ = -1;
  std::set<std::string> failed_threads_;  ///< in this pass
  int failures_in_a_row_ = 0;
  std::set<std::string> authors_;        ///< put since the process began
  std::optional<bool> all_are_carried_;  ///< once it was looked up
  // What the store has, so that a step need not read a cursor of each channel: valid while the revision is the same.
  std::int64_t revision_ = -1;
  bool channels_loaded_ = false;
  std::vector<ChannelState> channels_;  ///< that the bot is in and that are not archived
};

}  // namespace slack
