// A mail and the resource that it belongs to, as the body of one request to Gmail's upload endpoint
// (uploadType=multipart): a part of JSON, and the mail as it is. The endpoint without uploads takes mails in base64 and
// within JSON, and only up to a few megabytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mail/outgoing_mail.hpp"

namespace gmail {

class MailUpload {
 public:
  /// `mail` must outlive it. `mark` makes the boundary one that no other request has.
  MailUpload(const std::string& resource_json, OutgoingMail& mail, std::string_view mark);

  std::string content_type() const;
  std::uint64_t size() const { return before_.size() + mail_.size() + after_.size(); }
  /// The next bytes: how many, 0 at the end. Throws as OutgoingMail::read.
  std::size_t read(char* buffer, std::size_t capacity);

 private:
  OutgoingMail& mail_;
  std::string boundary_, before_, after_;
  std::size_t given_before_ = 0, given_after_ = 0;
};

}  // namespace gmail
