#include "mail_upload.hpp"

namespace gmail {
namespace {

/// "=_" stands in nothing that is encoded as our mails are; a mail that goes along as it is may hold anything.
std::string boundary_for(std::string_view mark, const OutgoingMail& mail) {
  std::string boundary = "=_upload_";
  for (const char c : mark.substr(0, 50)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    boundary += plain ? c : '_';
  }
  while (mail.holds(boundary)) boundary += '_';
  return boundary;
}

}  // namespace

MailUpload::MailUpload(const std::string& resource_json, OutgoingMail& mail, std::string_view mark)
    : mail_(mail), boundary_(boundary_for(mark, mail)) {
  before_ = "--" + boundary_ + "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + resource_json + "\r\n--" +
            boundary_ + "\r\nContent-Type: message/rfc822\r\n\r\n";
  after_ = "\r\n--" + boundary_ + "--\r\n";
}

std::string MailUpload::content_type() const {
  return "multipart/related; boundary=\"" + boundary_ + "\"";
}

std::size_t MailUpload::read(char* buffer, std::size_t capacity) {
  auto got = before_.copy(buffer, capacity, given_before_);
  given_before_ += got;
  if (got == 0) got = mail_.read(buffer, capacity);
  if (got > 0) return got;
  got = after_.copy(buffer, capacity, given_after_);
  given_after_ += got;
  return got;
}

}  // namespace gmail
