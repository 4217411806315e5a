// Mails as tests make them: whole, in one text.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "mail/outgoing_mail.hpp"

namespace gmail {

inline std::string whole(OutgoingMail mail, std::size_t piece = 4096) {
  std::string out, buffer(piece, '\0');
  while (const auto got = mail.read(buffer.data(), buffer.size())) out.append(buffer, 0, got);
  return out;
}

/// `bytes` must outlive the attachment.
inline void give(DraftAttachment& attachment, std::string_view bytes) {
  attachment.size = bytes.size();
  attachment.content = [bytes](std::uint64_t offset, char* buffer, std::size_t capacity) {
    return bytes.substr(std::min<std::size_t>(offset, bytes.size())).copy(buffer, capacity);
  };
}

}  // namespace gmail
