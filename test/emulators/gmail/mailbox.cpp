#include "emulators/gmail/mailbox.hpp"

#include <fmt/format.h>

#include "emulators/common/text.hpp"

namespace krux::test::gmail {

Mailbox::Mailbox(std::string address, std::uint64_t first_history_id)
    : owner(std::make_shared<const std::string>(std::move(address))),
      history_id_(first_history_id),
      oldest_history_id_(first_history_id) {
  for (const Label& label : system_labels()) labels_[label.id] = label;
}

const Message* Mailbox::find(Id id) const {
  auto found = messages_.find(id);
  return found == messages_.end() ? nullptr : &found->second;
}

const Message* Mailbox::find_by_message_id(const std::string& header) const {
  const Message* newest = nullptr;
  auto [begin, end] = by_message_id_.equal_range(header);
  for (auto at = begin; at != end; ++at) {
    const Message* found = find(at->second);
    if (!newest || found->date_ms > newest->date_ms) newest = found;
  }
  return newest;
}

const std::vector<Id>* Mailbox::thread(Id id) const {
  auto found = threads_.find(id);
  return found == threads_.end() ? nullptr : &found->second;
}

std::uint64_t Mailbox::next_history_id() {
  // They grow with gaps.
  return history_id_ += 1 + mix(++made_) % 40;
}

Id Mailbox::next_id(std::int64_t arrived_ms) {
  Id id = 0;
  do {
    id = static_cast<Id>(arrived_ms) << 20 | (mix(++made_) & 0xfffff);
  } while (id == 0 || messages_.count(id) != 0 || threads_.count(id) != 0);
  return id;
}

Id Mailbox::thread_for(const NewMessage& message) const {
  const std::vector<std::string> references = message.content.references();
  for (auto reference = references.rbegin(); reference != references.rend(); ++reference) {
    const Message* parent = find_by_message_id(*reference);
    if (!parent) continue;
    if (bare_subject(parent->content.subject()) == bare_subject(message.content.subject())) return parent->thread_id;
  }
  return 0;
}

const Message& Mailbox::insert(NewMessage added) {
  Message message{0, 0, 0, added.date_ms.value_or(added.arrived_ms), std::move(added.labels), added.content};
  message.id = next_id(added.arrived_ms);
  message.thread_id = added.thread ? *added.thread : thread_for(added);
  if (message.thread_id == 0) message.thread_id = message.id;
  const Id id = message.id;
  Message& stored = messages_.emplace(id, std::move(message)).first->second;
  by_date_.emplace(std::pair(stored.date_ms, id), &stored);
  threads_[stored.thread_id].push_back(id);
  by_message_id_.emplace(stored.content.message_id(), id);
  return stored;
}

const Message& Mailbox::add(NewMessage added) {
  const Message& message = insert(std::move(added));
  record({{ChangeKind::message_added, message.id, message.thread_id, {}, message.labels}});
  return message;
}

void Mailbox::record(std::vector<Change> changes) {
  if (changes.empty()) return;
  const std::uint64_t id = next_history_id();
  for (const Change& change : changes) {
    auto found = messages_.find(change.message);
    if (found != messages_.end()) found->second.history_id = id;
  }
  history_.push_back({id, std::move(changes)});
}

void Mailbox::modify(const std::vector<Id>& messages, const Labels& add, const Labels& remove) {
  std::vector<Change> changes;
  for (const Id id : messages) {
    Message& message = messages_.at(id);
    Labels added, removed;
    for (const std::string& label : add) {
      if (message.has(label)) continue;
      message.labels.push_back(label);
      added.push_back(label);
    }
    for (const std::string& label : remove) {
      auto found = std::find(message.labels.begin(), message.labels.end(), label);
      if (found == message.labels.end()) continue;
      message.labels.erase(found);
      removed.push_back(label);
    }
    if (!added.empty()) {
      changes.push_back({ChangeKind::labels_added, id, message.thread_id, added, message.labels});
    }
    if (!removed.empty()) {
      changes.push_back({ChangeKind::labels_removed, id, message.thread_id, removed, message.labels});
    }
  }
  record(std::move(changes));
}

Change Mailbox::remove(Id id) {
  const Message& message = messages_.at(id);
  Change change{ChangeKind::message_deleted, id, message.thread_id, {}, message.labels};
  auto [begin, end] = by_message_id_.equal_range(message.content.message_id());
  for (auto at = begin; at != end; ++at) {
    if (at->second != id) continue;
    by_message_id_.erase(at);
    break;
  }
  std::vector<Id>& thread = threads_.at(message.thread_id);
  thread.erase(std::find(thread.begin(), thread.end(), id));
  if (thread.empty()) threads_.erase(message.thread_id);
  by_date_.erase({message.date_ms, id});
  auto marker = sent_markers_.find(id);
  if (marker != sent_markers_.end()) {
    --markers[marker->second].live;
    sent_markers_.erase(marker);
  }
  messages_.erase(id);
  return change;
}

void Mailbox::erase(const std::vector<Id>& messages) {
  std::vector<Change> changes;
  for (const Id id : messages) {
    if (!find(id)) continue;
    if (const Draft* draft = draft_of(id))
      erase_draft(draft->id);
    else
      changes.push_back(remove(id));
  }
  record(std::move(changes));
}

void Mailbox::count_sent(const Message& message) {
  const std::string marker = marker_of(*message.content.raw());
  if (marker.empty()) return;
  ++markers[marker].sent;
  ++markers[marker].live;
  sent_markers_[message.id] = marker;
}

const Label* Mailbox::label(const std::string& id) const {
  auto found = labels_.find(id);
  return found == labels_.end() ? nullptr : &found->second;
}

const Label* Mailbox::label_by_name(const std::string& name) const {
  const std::string wanted = emulator::lower(name);
  for (const auto& [id, label] : labels_) {
    if (emulator::lower(label.name) == wanted) return &label;
  }
  return nullptr;
}

const Label& Mailbox::add_label(Label label) {
  while (label.id.empty() || labels_.count(label.id) != 0) label.id = fmt::format("Label_{}", next_label_++);
  return labels_[label.id] = label;
}

void Mailbox::erase_label(const std::string& id) {
  std::vector<Id> carriers;
  for (const auto& [order, message] : by_date_) {
    if (message->has(id)) carriers.push_back(message->id);
  }
  modify(carriers, {}, {id});
  labels_.erase(id);
}

LabelCounts Mailbox::count(const std::string& label) const {
  LabelCounts counts;
  for (const auto& [thread, members] : threads_) {
    bool any = false, unread = false;
    for (const Id id : members) {
      const Message& message = messages_.at(id);
      if (!message.has(label)) continue;
      any = true;
      ++counts.messages;
      if (!message.has("UNREAD")) continue;
      unread = true;
      ++counts.unread;
    }
    counts.threads += any;
    counts.threads_unread += unread;
  }
  return counts;
}

void Mailbox::expire_history() {
  history_.clear();
  oldest_history_id_ = next_history_id();
}

std::string marker_of(const std::string& raw) {
  for (const Header& header : parse_headers(raw)) {
    if (same_name(header.name, "X-KruxOS-Write-Id")) return header.value;
  }
  return "";
}

const std::vector<Label>& system_labels() {
  static const std::vector<Label> labels = [] {
    std::vector<Label> made;
    for (const char* id : {"INBOX", "SENT", "DRAFT", "UNREAD", "STARRED"}) made.push_back({id, id, true, "", ""});
    for (const char* id : {"SPAM", "TRASH", "CHAT", "IMPORTANT", "CATEGORY_PERSONAL", "CATEGORY_SOCIAL",
                           "CATEGORY_PROMOTIONS", "CATEGORY_UPDATES", "CATEGORY_FORUMS"}) {
      made.push_back({id, id, true, "hide", "labelHide"});
    }
    return made;
  }();
  return labels;
}

}  // namespace krux::test::gmail
