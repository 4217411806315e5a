// Gmail's messages and labels as records of the replica.
#pragma once

#include <kruxos/adapter.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json.hpp"
#include "mail/headers.hpp"
#include "message_head.hpp"

namespace gmail {

inline constexpr const char* kMessages = "messages";
inline constexpr const char* kLabels = "labels";

std::vector<kruxos::Collection> collections();

/// What a request for a message asks for, so that model has what it needs and no body comes along:
/// "gmail/v1/users/me/messages/<id>?format=full&prettyPrint=false&fields=...".
std::string message_url(std::string_view id);

/// As RFC 8601 calls them.
inline constexpr const char *kProven = "pass", *kUnproven = "fail";

struct Attachment {
  std::string part_id, filename, mime_type;
  std::int64_t size = 0;  ///< bytes, decoded
};

/// Its lists of addresses and its subject are decoded. A list has at most 16 KiB; what is beyond is left out from an
/// address on, and the field is named in `cut`. References beyond 16 KiB are left out.
struct Message : MailHead {
  std::string id, thread_id;
  std::string message_id;  ///< of its header, without angle brackets
  std::string in_reply_to, references;
  std::string snippet;              ///< without Gmail's HTML entities
  std::vector<std::string> labels;  ///< ids, sorted
  std::vector<Attachment> attachments;
  /// What Gmail says of its sender: kProven or kUnproven; empty where it says nothing, as of what the account has sent.
  std::string sender_check;
  std::int64_t date_ms = 0;  ///< when Gmail took it in
  std::int64_t size = 0;     ///< bytes, as Gmail estimates

  bool has(std::string_view label) const;
  void add(const std::string& label);
  void remove(const std::string& label);
  bool is_read() const { return !has("UNREAD"); }
};

/// From an answer to message_url(); nothing when it has no id or no date.
std::optional<Message> message_from_gmail(const Json& json);

/// From a record's own JSON.
std::optional<Message> message_from_record(std::string_view json);
kruxos::Record message_record(const Message& message);

struct Label {
  std::string id, name;
  bool is_system = false;
};
std::optional<Label> label_from_gmail(const Json& json);
std::optional<Label> label_from_record(std::string_view json);
kruxos::Record label_record(const Label& label);

/// Labels are the same to Gmail's search whatever their case and whether blanks, "/" and "-" stand in them.
std::string label_key(std::string_view name);

/// False where the member is there and is something else than an array of texts.
bool has_texts(const Json& object, std::string_view name);

}  // namespace gmail
