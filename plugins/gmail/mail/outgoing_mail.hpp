// A mail as it goes out. Its text is held; the bytes of its attachments are read, encoded and passed on when their turn
// comes, so that a mail of 25 MB costs no more than what its texts take.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "draft.hpp"

namespace gmail {

class OutgoingMail {
 public:
  /// What the draft's attachments borrow must outlive it; nothing of an attachment's source is read yet. Throws
  /// ProxyError kInvalid (InvalidInput) for a draft that is none: see recipients.hpp, input.hpp and the limits of
  /// draft.hpp; a draft without subject, text and attachment.
  explicit OutgoingMail(const MessageDraft& draft);
  ~OutgoingMail();
  OutgoingMail(OutgoingMail&&) noexcept;
  OutgoingMail& operator=(OutgoingMail&&) noexcept;

  std::uint64_t size() const;

  /// Whether the text stands in the mail. What was encoded holds no "_".
  bool holds(std::string_view text) const;

  /// The next bytes: how many, 0 at the end. CRLF line ends; the same draft gives the same bytes. ASCII, unless a mail
  /// that goes along has other bytes. Throws what an attachment's source throws, and ProxyError kStorage where it is
  /// not as long as it should be.
  std::size_t read(char* buffer, std::size_t capacity);

 private:
  struct Pieces;
  std::unique_ptr<Pieces> pieces_;
};

}  // namespace gmail
