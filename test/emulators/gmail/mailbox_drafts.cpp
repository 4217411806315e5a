#include <fmt/format.h>

#include "emulators/gmail/mailbox.hpp"

namespace krux::test::gmail {

std::string Mailbox::next_draft_id() {
  return fmt::format("r{}", static_cast<std::int64_t>(mix(++made_)));
}

const Draft* Mailbox::draft(const std::string& id) const {
  auto found = drafts_.find(id);
  return found == drafts_.end() ? nullptr : &found->second;
}

const Draft* Mailbox::draft_of(Id message) const {
  auto found = draft_of_.find(message);
  return found == draft_of_.end() ? nullptr : draft(found->second);
}

const Draft& Mailbox::add_draft(NewMessage added) {
  added.labels = {"DRAFT"};
  const Message& message = add(std::move(added));
  const Draft draft{next_draft_id(), message.id};
  draft_of_[message.id] = draft.id;
  const std::string marker = marker_of(*message.content.raw());
  if (!marker.empty()) {
    ++markers[marker].drafts;
    ++markers[marker].drafts_live;
  }
  return drafts_[draft.id] = draft;
}

void Mailbox::replace_draft(const std::string& id, NewMessage added) {
  added.labels = {"DRAFT"};
  Draft& draft = drafts_.at(id);
  const Id before = draft.message;
  const std::string old_marker = marker_of(*find(before)->content.raw()), marker = marker_of(*added.content.raw());
  const Message& message = insert(std::move(added));
  draft.message = message.id;
  draft_of_.erase(before);
  draft_of_[message.id] = id;
  if (!old_marker.empty()) --markers[old_marker].drafts_live;
  if (!marker.empty()) ++markers[marker].drafts_live;
  if (!marker.empty() && marker != old_marker) ++markers[marker].drafts;
  Change gone = remove(before);
  record({gone, {ChangeKind::message_added, message.id, message.thread_id, {}, message.labels}});
}

void Mailbox::erase_draft(const std::string& id) {
  const Id message = drafts_.at(id).message;
  const std::string marker = marker_of(*find(message)->content.raw());
  if (!marker.empty()) --markers[marker].drafts_live;
  draft_of_.erase(message);
  drafts_.erase(id);
  record({remove(message)});
}

const Message& Mailbox::send_draft(const std::string& id, NewMessage added) {
  // The thread may have no other message: the sent one is in it before the draft's goes.
  const Message& sent = insert(std::move(added));
  const Id sent_id = sent.id;
  erase_draft(id);
  record({{ChangeKind::message_added, sent_id, sent.thread_id, {}, sent.labels}});
  return messages_.at(sent_id);
}

}  // namespace krux::test::gmail
