// One account's mail and the things that can happen to it, whoever causes them: the API's methods, the control plane
// acting as a person, or the seed. Pure: no clock, no sockets, one thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "emulators/gmail/model.hpp"

namespace krux::test::gmail {

// What API calls did, as opposed to the seed and to people.
struct Effects {
  std::int64_t sends = 0, inserts = 0, modifies = 0, trashes = 0, untrashes = 0, deletes = 0;
  std::int64_t drafts_created = 0, drafts_updated = 0, drafts_sent = 0, drafts_deleted = 0;
};

// What happened to the mails of one marker (the header X-KruxOS-Write-Id). The live ones are those that exist.
struct MarkerCounts {
  std::int64_t sent = 0, live = 0;           // messages that were sent
  std::int64_t drafts = 0, drafts_live = 0;  // drafts, however often they were changed
};

struct LabelCounts {
  std::int64_t messages = 0, unread = 0, threads = 0, threads_unread = 0;
};

struct NewMessage {
  Content content;
  std::int64_t arrived_ms = 0;          // makes its id
  std::optional<std::int64_t> date_ms;  // internalDate, unless it is when it arrived
  Labels labels;
  std::optional<Id> thread;  // one that exists; else by its References and its subject
};

class Mailbox {
 public:
  using ByDate = std::map<std::pair<std::int64_t, Id>, const Message*, std::greater<>>;

  Mailbox(std::string address, std::uint64_t first_history_id);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  const std::shared_ptr<const std::string> owner;
  const std::string& address() const { return *owner; }
  Effects effects;
  std::map<std::string, MarkerCounts> markers;

  const Message* find(Id id) const;
  const Message* find_by_message_id(const std::string& header) const;  // the newest that carries it
  std::size_t size() const { return messages_.size(); }
  const ByDate& newest_first() const { return by_date_; }
  const std::unordered_map<Id, std::vector<Id>>& threads() const { return threads_; }
  const std::vector<Id>* thread(Id id) const;  // its messages, in the order they came

  const Message& add(NewMessage message);
  // Applies the same to every one; adding what is there and removing what is not are no changes. One record.
  void modify(const std::vector<Id>& messages, const Labels& add, const Labels& remove);
  void erase(const std::vector<Id>& messages);

  const std::map<std::string, Draft>& drafts() const { return drafts_; }
  const Draft* draft(const std::string& id) const;
  const Draft* draft_of(Id message) const;
  const Draft& add_draft(NewMessage message);
  void replace_draft(const std::string& id, NewMessage message);
  void erase_draft(const std::string& id);
  // The draft goes and a new message with the label SENT comes.
  const Message& send_draft(const std::string& id, NewMessage message);
  void count_sent(const Message& message);  // by its marker

  const std::map<std::string, Label>& labels() const { return labels_; }
  const Label* label(const std::string& id) const;
  const Label* label_by_name(const std::string& name) const;  // in any case of letters
  const Label& add_label(Label label);                        // its id is given unless it has one
  void change_label(const Label& label) { labels_[label.id] = label; }
  void erase_label(const std::string& id);
  LabelCounts count(const std::string& label) const;

  const std::deque<HistoryRecord>& history() const { return history_; }
  std::uint64_t history_id() const { return history_id_; }                // of the last change
  std::uint64_t oldest_history_id() const { return oldest_history_id_; }  // earlier ones are forgotten
  // Forgets every id that was given so far.
  void expire_history();

 private:
  std::uint64_t next_history_id();
  Id next_id(std::int64_t arrived_ms);
  Id thread_for(const NewMessage& message) const;
  const Message& insert(NewMessage message);
  Change remove(Id id);
  void record(std::vector<Change> changes);
  std::string next_draft_id();

  std::uint64_t history_id_, oldest_history_id_;
  std::uint64_t made_ = 0;  // messages, drafts and changes so far, which make their ids differ
  std::size_t next_label_ = 1;
  std::unordered_map<Id, Message> messages_;
  ByDate by_date_;
  std::unordered_map<Id, std::vector<Id>> threads_;
  std::unordered_multimap<std::string, Id> by_message_id_;
  std::map<std::string, Draft> drafts_;
  std::unordered_map<Id, std::string> draft_of_, sent_markers_;
  std::map<std::string, Label> labels_;
  std::deque<HistoryRecord> history_;
};

const std::vector<Label>& system_labels();
std::string marker_of(const std::string& raw);  // empty: it carries none

}  // namespace krux::test::gmail
