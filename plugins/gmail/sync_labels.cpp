// The labels themselves, and the lists of which messages have them.
#include <set>

#include "message_text.hpp"
#include "sync.hpp"
#include "sync_step.hpp"

namespace gmail {
namespace {

std::vector<std::string> known_labels(const kruxos::SyncStore& store) {
  std::vector<std::string> ids;
  kruxos::Query query;
  query.collection = kLabels;
  query.descending = false;
  query.limit = 10'000;
  query.count_limit = 1;
  need_whole(store.reader().query(query, [&](const kruxos::Row& row) {
    ids.emplace_back(row.id);
    return true;
  }));
  return ids;
}

}  // namespace

void Sync::refresh_labels(Step& step) {
  step.budget.spend();
  const auto answer = api_.get(step.call, "labels.list", "gmail/v1/users/me/labels?fields=labels(id,name,type)");
  const auto* list = array_of(answer, "labels");
  // Every mailbox has labels, and what is not in the list is forgotten: an answer that cannot be read says nothing.
  if (!list || list->Empty()) throw malformed("labels.list");
  std::vector<Label> labels;
  for (const auto& item : list->GetArray()) {
    auto label = label_from_gmail(item);
    if (!label) throw malformed("labels.list");
    labels.push_back(std::move(*label));
  }
  std::set<std::string, std::less<>> present;
  for (const auto& label : labels) {
    present.insert(label.id);
    step.store.put(label_record(label));
    if (++step.uncommitted >= kRowsACommit) commit(step);
  }
  commit(step);
  for (const auto& id : known_labels(step.store)) {
    if (!present.contains(id)) forget_label(step, id);
  }
  labels_ = std::move(present);
}

/// A label that came up between two looks at the list gets a record, by which the next look names or forgets it.
void Sync::note_labels(Step& step, const std::vector<std::string>& ids) {
  if (labels_.empty()) {
    for (auto& id : known_labels(step.store)) labels_.insert(std::move(id));
  }
  for (const auto& id : ids) {
    if (id.empty() || id.size() > 128 || !labels_.insert(id).second) continue;
    step.store.put(label_record({id, id, !id.starts_with("Label_")}));
    ++step.uncommitted;
  }
}

/// A label that was deleted is on no message any more; the label's own record goes last, so that a kill loses nothing.
void Sync::forget_label(Step& step, const std::string& id) {
  kruxos::Query query;
  query.collection = kMessages;
  query.where = kruxos::has_tag(id);
  query.limit = kRowsACommit;
  query.count_limit = 1;
  for (;;) {
    step.call.throw_if_cancelled();
    std::vector<std::optional<Message>> messages;
    const auto result = step.store.reader().query(query, [&](const kruxos::Row& row) {
      messages.push_back(message_from_record(row.json));
      return true;
    });
    if (messages.empty()) {
      need_whole(result);
      break;
    }
    for (auto& message : messages) {
      if (message && message->has(id)) {
        message->remove(id);
        memberships_.changed(message->id, id, false);
        put(step, *message);
        continue;
      }
      ++query.offset;  // it stays as it is, and is found again
    }
    commit(step);
  }
  step.store.erase(kLabels, id);
  commit(step);
}

/// One page of one label's messages.
void Sync::compare_page(Step& step) {
  if (!memberships_.begun()) {
    refresh_labels(step);  // those that are newer than the pass, whose history was lost
    memberships_.begin(known_labels(step.store));
  }
  if (memberships_.whole()) {
    step.state.phase = Phase::kListing;
    step.state.caught_up_ms = 0;  // what has changed meanwhile comes first: it says which lists can be trusted
    return commit(step);
  }
  auto page = memberships_.page();
  std::optional<rapidjson::Document> answer;
  try {
    answer = ask_page(step, "messages.list",
                      "gmail/v1/users/me/messages?includeSpamTrash=true&fields=messages/id,nextPageToken&labelIds=" +
                          encoded(memberships_.label()),
                      page);
  } catch (const GmailError& error) {
    using enum kruxos::ErrorKind;
    if (error.kind() != kInvalid && error.kind() != kNotFound && error.kind() != kRefused) throw;
    return memberships_.skip();
  }
  if (!answer) return memberships_.clear();
  if (const auto* list = array_of(*answer, "messages")) {
    for (const auto& item : list->GetArray()) memberships_.add(std::string(text_of(item, "id")));
  }
  memberships_.turn(std::move(page));
}

}  // namespace gmail
