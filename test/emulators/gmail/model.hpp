// What a mailbox is made of. Plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulators/gmail/content.hpp"

namespace krux::test::gmail {

using Id = std::uint64_t;  // of messages and threads; 16 hex digits on the wire
using Labels = std::vector<std::string>;

inline bool contains(const Labels& labels, std::string_view id) {
  return std::find(labels.begin(), labels.end(), id) != labels.end();
}

struct Message {
  Id id = 0, thread_id = 0;
  std::uint64_t history_id = 0;  // of the last change to it
  std::int64_t date_ms = 0;      // internalDate
  Labels labels;                 // ids
  Content content;

  bool has(std::string_view label) const { return contains(labels, label); }
  bool is_draft() const { return has("DRAFT"); }
};

struct Label {
  std::string id, name;
  bool is_system = false;
  std::string message_list_visibility, label_list_visibility;  // empty: not given
};

struct Draft {
  std::string id;  // "r-123…": stays when the message is replaced
  Id message = 0;
};

enum class ChangeKind { message_added, message_deleted, labels_added, labels_removed };

struct Change {
  ChangeKind kind = ChangeKind::message_added;
  Id message = 0, thread = 0;
  Labels labels;   // of a change to labels: which
  Labels present;  // the message's labels after it; of a deletion: before it
};

struct HistoryRecord {
  std::uint64_t id = 0;
  std::vector<Change> changes;
};

}  // namespace krux::test::gmail
