// What has changed since a history id: labels are changed in the replica, additions fetched, deletions erased.
#include <algorithm>
#include <charconv>
#include <map>

#include "message_text.hpp"
#include "sync.hpp"
#include "sync_step.hpp"

namespace gmail {
namespace {

using kruxos::ErrorKind;

constexpr int kMostLosses = 3;
// Twice as long after each loss, up to this; then a loss is met with a full pass again.
constexpr std::int64_t kFirstPatienceMs = 3'600'000, kLongestPatienceMs = 86'400'000;

/// What one page says of one message, in order.
struct Change {
  bool added = false, deleted = false;
  std::vector<std::pair<std::string, bool>> labels;
};
/// In the order in which they are first spoken of.
struct Changes {
  std::vector<std::string> ids;
  std::map<std::string, Change, std::less<>> by_id;

  Change* of(const Json& item) {
    const auto* message = member(item, "message");
    auto id = std::string(message ? text_of(*message, "id") : "");
    if (id.empty() || id.size() > 128) return nullptr;
    const auto [at, added] = by_id.try_emplace(id);
    if (added) ids.push_back(std::move(id));
    return &at->second;
  }
};

template <class Take>
void each(const Json& record, std::string_view name, Changes& changes, Take take) {
  const auto* list = member(record, name);
  if (!list || !list->IsArray()) return;
  for (const auto& item : list->GetArray()) {
    if (auto* change = changes.of(item)) take(*change, item);
  }
}

void read_record(const Json& record, Changes& changes) {
  each(record, "messagesAdded", changes, [](Change& change, const Json&) {
    change.added = true;
    change.deleted = false;
  });
  each(record, "labelsAdded", changes, [](Change& change, const Json& item) {
    for (auto& label : texts_of(item, "labelIds")) change.labels.emplace_back(std::move(label), true);
  });
  each(record, "labelsRemoved", changes, [](Change& change, const Json& item) {
    for (auto& label : texts_of(item, "labelIds")) change.labels.emplace_back(std::move(label), false);
  });
  each(record, "messagesDeleted", changes, [](Change& change, const Json&) {
    change.deleted = true;
    change.added = false;
    change.labels.clear();
  });
}

std::uint64_t number_of(const Json& record) {
  const auto id = text_of(record, "id");
  std::uint64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number);
  return number;
}

/// Oldest first, as the API promises and has been seen not to keep.
Changes changes_of(const Json& answer) {
  Changes changes;
  const auto* list = member(answer, "history");
  if (!list) return changes;  // a page may be empty, though others follow
  if (!list->IsArray()) throw malformed("history.list");
  std::vector<const Json*> records;
  for (const auto& record : list->GetArray()) records.push_back(&record);
  std::stable_sort(records.begin(), records.end(),
                   [](const Json* a, const Json* b) { return number_of(*a) < number_of(*b); });
  for (const auto* record : records) read_record(*record, changes);
  return changes;
}

}  // namespace

/// One page of the history. True when the run has come to its end.
bool Sync::history_page(Step& step) {
  auto& state = step.state;
  if (state.run_began_ms == 0) {
    state.run_began_ms = std::max<std::int64_t>(1, step.now_ms());
    state.history_page.clear();
  }
  auto page = state.history_page;
  std::optional<rapidjson::Document> answer;
  try {
    answer = ask_page(step, "history.list",
                      "gmail/v1/users/me/history?fields=" +
                          encoded("historyId,nextPageToken,history(id,messagesAdded/message/id,messagesDeleted/message/"
                                  "id,labelsAdded(labelIds,message/id),labelsRemoved(labelIds,message/id))") +
                          "&startHistoryId=" + encoded(state.history_id),
                      page);
  } catch (const GmailError& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    history_is_lost(step);
    return false;
  }
  if (!answer) {
    state.history_page.clear();
    commit(step);
    return false;
  }
  if (!fetch(step, take_changes(step, *answer))) return false;
  state.history_page = page;
  if (page.empty()) {
    const auto now_at = std::string(text_of(*answer, "historyId"));
    if (now_at.empty() || now_at.size() > 32) throw malformed("history.list");
    state.history_id = now_at;
    state.caught_up_ms = state.run_began_ms;
    state.run_began_ms = 0;
  }
  commit(step);
  return page.empty();
}

/// Returns the messages that are to be fetched.
std::vector<std::string> Sync::take_changes(Step& step, const Json& answer) {
  const bool all_are_known = step.state.phase == Phase::kSteady || step.state.phase == Phase::kClosing;
  std::vector<std::string> wanted;
  const auto changes = changes_of(answer);
  for (const auto& id : changes.ids) {
    const auto& change = changes.by_id.at(id);
    if (change.deleted) {
      step.store.erase(kMessages, id);
      step.unreadable.forget(id);
      memberships_.deleted();
      step.state.disturbed = true;
    } else {
      for (const auto& [label, has] : change.labels) memberships_.changed(id, label, has);
      const auto json = step.store.reader().get(kMessages, id);
      auto known = json ? message_from_record(*json) : std::nullopt;
      // During the lists, what is not known will be fetched with the labels that it has then.
      if (!known && (change.added || all_are_known) && !step.unreadable.has(id)) wanted.push_back(id);
      if (!known || change.labels.empty()) continue;
      for (const auto& [label, has] : change.labels) has ? known->add(label) : known->remove(label);
      put(step, *known);
    }
    if (++step.uncommitted >= kRowsACommit) commit(step);
  }
  return wanted;
}

/// Gmail keeps its history for about a week, sometimes for hours. A full pass compares then; it fetches what is missing
/// alone. A mailbox whose history is never there must not be compared again and again.
void Sync::history_is_lost(Step& step) {
  auto& state = step.state;
  if (state.phase != Phase::kSteady) {
    if (++state.losses > kMostLosses) {
      state.losses = 0;
      commit(step);
      throw kruxos::ProxyError(ErrorKind::kUnavailable,
                               "Gmail does not know the place in the mailbox's history that it has just named.")
          .type("ServiceUnavailable");
    }
    return begin_full(step);
  }
  const auto now = step.now_ms();
  const auto patience = std::min(kFirstPatienceMs << std::min<std::int64_t>(state.lost_times, 10), kLongestPatienceMs);
  if (state.lost_times > 0 && now >= state.lost_ms && now - state.lost_ms < patience) {
    throw kruxos::ProxyError(ErrorKind::kUnavailable,
                             "Gmail has lost the mailbox's history again. The whole mailbox is compared when this "
                             "goes on for longer.")
        .type("ServiceUnavailable");
  }
  const bool long_ago = now - state.lost_ms >= 2 * kLongestPatienceMs;
  state.lost_times = long_ago ? 1 : state.lost_times + 1;
  state.lost_ms = now;
  begin_full(step);
}

}  // namespace gmail
