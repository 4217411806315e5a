// A mail that is to be sent, and how it becomes bytes. It is built by GMime, never by joining texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "read_mail.hpp"

namespace gmail {

constexpr std::size_t kMostMessageBytes = 25 * 1024 * 1024;  ///< as it goes out, attachments encoded
constexpr std::size_t kMostSubjectBytes = 4096;
constexpr std::size_t kMostSentReferences = 50;  ///< the first one and the latest
constexpr std::size_t kMostDraftAttachments = 100;

/// Borrows its content, which is read while the mail is and not copied.
struct DraftAttachment {
  std::string filename{}, mime_type{};  ///< mime_type empty: application/octet-stream
  std::string content_id{};             ///< not empty: shown where the HTML names it
  std::uint64_t size = 0;               ///< bytes of `content`, which may be empty as long as nothing is read
  ByteSource content{};
  /// Instead of `content`: a part of that mail, or, where part_id is empty, that mail as a whole.
  const ParsedMail* original = nullptr;
  std::string part_id{};
};

struct MessageDraft {
  MailAddress from{};  ///< no address: Gmail puts the account's own
  std::vector<MailAddress> to{}, cc{}, bcc{};
  std::string subject{};
  std::string text{}, html{};                            ///< html alone: its text goes along
  std::string message_id{};                              ///< without angle brackets, as message_id_for makes them
  std::vector<std::string> in_reply_to{}, references{};  ///< without angle brackets; malformed ones are left out
  std::int64_t date_ms = 0;                              ///< Unix milliseconds
  std::vector<std::pair<std::string, std::string>> extra_headers{};
  std::vector<DraftAttachment> attachments{};
};

/// `w_…` becomes `w_….kruxos@example.com`: the same each time, its domain that of the account's address.
std::string message_id_for(std::string_view write_id, std::string_view account_address);

}  // namespace gmail
