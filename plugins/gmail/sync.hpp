// Bringing the replica up to date with the mailbox: all messages once, then what its history tells.
// docs/gmail.md has the plan.
#pragma once

#include <kruxos/adapter.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api_client.hpp"
#include "body.hpp"
#include "memberships.hpp"
#include "model.hpp"
#include "sync_state.hpp"

namespace gmail {

struct SyncOptions {
  int page_size = 500;                          ///< ids and history records a request, at most 500
  int side_by_side = 20;                        ///< messages a commit while fetching
  bool fetch_bodies = false;                    ///< with each message, instead of when it is read
  std::int64_t keep_ms = 0;                     ///< older messages are left out; 0: none are
  std::int64_t catch_up_every_ms = 2 * 60'000;  ///< during a full pass
  std::int64_t compare_every_ms =
      7 * 86'400'000LL;  ///< a full pass at least so often; 0: only when the history is lost
};

class Sync {
 public:
  Sync(const ApiClient& api, kruxos::Host host, SyncOptions options) : api_(api), host_(host), options_(options) {}

  /// One step of a pass; both kinds of pass are the same, since all that is known stands in cursors.
  kruxos::SyncStep step(const kruxos::Call& call, kruxos::SyncStore& store);

 private:
  struct Step;  ///< what one step() works with
  struct Listed {
    std::string page, next;
    std::vector<std::string> ids;
  };

  kruxos::SyncStep advance(Step& step);
  bool work(Step& step);
  void begin_pass(Step& step);
  void begin_full(Step& step);
  void end_full(Step& step);
  kruxos::SyncStep end_pass(Step& step);
  kruxos::SyncStep wait_for_quota(const Step& step, const kruxos::ProxyError& error);
  void commit(Step& step);

  // sync_labels.cpp
  void refresh_labels(Step& step);
  void forget_label(Step& step, const std::string& id);
  void note_labels(Step& step, const std::vector<std::string>& ids);
  void compare_page(Step& step);

  // sync_list.cpp
  void list_page(Step& step);
  std::optional<rapidjson::Document> ask_page(Step& step, std::string_view what, std::string url, std::string& page);
  bool know_page(Step& step);
  bool take_known(Step& step, Message message);
  bool list_again(Step& step);
  bool erase_unseen(Step& step);
  std::vector<std::string> unseen(Step& step);

  // sync_history.cpp
  bool history_page(Step& step);
  std::vector<std::string> take_changes(Step& step, const Json& answer);
  void history_is_lost(Step& step);

  // sync_fetch.cpp
  bool fetch(Step& step, const std::vector<std::string>& ids);
  void take_fetched(Step& step, const std::string& id, const Fetched& fetched);
  std::optional<Body> body_for(Step& step, const std::string& id);
  bool is_service_to_blame(Step& step);
  void note_unreadable(Step& step, const std::string& id, const std::string& why);
  void leave_out(Step& step, const Unreadable::Entry& entry);
  bool retry_unreadable(Step& step);
  void report_unreadable(Step& step);
  bool take_head(Step& step, Message& message);
  void put(Step& step, const Message& message);

  const ApiClient& api_;
  kruxos::Host host_;
  const SyncOptions options_;
  // Only one step runs at a time. None of what follows needs to outlive the process.
  Memberships memberships_;
  std::set<std::string, std::less<>> labels_;  ///< ids of those that the store has; empty: not loaded
  std::optional<Listed> listed_;               ///< the list's page under way: a step that ends within it asks once
  int no_answers_ = 0;                         ///< requests for messages without an answer, in a row
  bool retried_ = false;                       ///< what is unreadable, in this pass
  int quota_refusals_ = 0;                     ///< steps in a row that Gmail ended without saying how long to wait
};

}  // namespace gmail
