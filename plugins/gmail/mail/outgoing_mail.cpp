#include "outgoing_mail.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "build_mail.hpp"
#include "check_draft.hpp"
#include "gmime.hpp"
#include "input.hpp"
#include "recipients.hpp"

namespace gmail {
namespace {

// A text that grows beyond it goes on in another piece: growing one would copy it, and hold it twice meanwhile.
constexpr std::size_t kWrittenBytes = 256 * 1024;

/// The addresses of the header fields of one name, in the order of the mail.
std::vector<std::string> written_addresses(std::string_view head, std::string_view name) {
  std::vector<std::string> out;
  while (!head.empty()) {
    auto end = head.find("\r\n");
    while (end != std::string_view::npos && end + 2 < head.size() && (head[end + 2] == ' ' || head[end + 2] == '\t')) {
      end = head.find("\r\n", end + 2);
    }
    const auto field = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
    const auto colon = field.find(':');
    if (colon != name.size() || g_ascii_strncasecmp(field.data(), name.data(), colon) != 0) continue;
    for (auto& one : parse_addresses(field.substr(colon + 1))) out.push_back(std::move(one.address));
  }
  return out;
}

/// A mail to somebody else cannot be taken back: what was checked is compared with what was written.
void require_as_given(std::string_view head, const MessageDraft& draft) {
  const auto same = [&](std::string_view name, const std::vector<MailAddress>& given) {
    const auto written = written_addresses(head, name);
    return std::equal(written.begin(), written.end(), given.begin(), given.end(),
                      [](const std::string& address, const MailAddress& one) { return address == one.address; });
  };
  const auto senders = draft.from.address.empty() ? std::vector<MailAddress>() : std::vector{draft.from};
  const bool whole = same("From", senders) && same("To", draft.to) && same("Cc", draft.cc) && same("Bcc", draft.bcc) &&
                     same("Sender", {}) && same("Reply-To", {});
  if (!whole) {
    throw bad_input(
        "The addresses of the mail cannot be written so that they are read as they were given; write them "
        "without names.");
  }
}

kruxos::ProxyError too_large() {
  return bad_input("The mail is larger than 25 MB, attachments included as they are sent (a third larger).");
}

}  // namespace

struct OutgoingMail::Pieces {
  struct Piece {
    std::string text;
    EncodedBytes attachment{0, {}};  ///< behind the text
  };
  std::vector<Piece> all{1};
  std::uint64_t size = 0;
  std::size_t at = 0;     ///< piece
  std::size_t given = 0;  ///< of its text

  std::string head() const {
    std::string out;
    for (const auto& piece : all) {
      out += piece.text;
      if (const auto end = out.find("\r\n\r\n"); end != std::string::npos) return out.substr(0, end);
    }
    return out;
  }
};

OutgoingMail::OutgoingMail(const MessageDraft& draft) : pieces_(std::make_unique<Pieces>()) {
  auto settled = draft;
  settle_recipients(settled.to, settled.cc, settled.bcc);
  check_draft(settled);
  auto& pieces = *pieces_;
  const auto add_text = [&](std::string_view text) {
    pieces.size += text.size();
    if (pieces.size > kMostMessageBytes) throw too_large();
    if (pieces.all.back().text.size() + text.size() > kWrittenBytes) pieces.all.emplace_back();
    pieces.all.back().text += text;
    return true;
  };
  build_mail(settled, add_text, [&](EncodedBytes attachment) {
    pieces.size += std::min<std::uint64_t>(attachment.encoded_size(), kMostMessageBytes + 1);
    pieces.all.back().attachment = std::move(attachment);
    pieces.all.emplace_back();
  });
  if (pieces.size > kMostMessageBytes) throw too_large();
  require_as_given(pieces.head(), settled);
}

OutgoingMail::~OutgoingMail() = default;
OutgoingMail::OutgoingMail(OutgoingMail&&) noexcept = default;
OutgoingMail& OutgoingMail::operator=(OutgoingMail&&) noexcept = default;

std::uint64_t OutgoingMail::size() const {
  return pieces_->size;
}

bool OutgoingMail::holds(std::string_view text) const {
  std::string seam;
  for (const auto& piece : pieces_->all) {
    seam.append(piece.text, 0, text.size());
    if (seam.find(text) != std::string::npos || piece.text.find(text) != std::string::npos) return true;
    if (piece.text.size() >= text.size()) seam = piece.text.substr(piece.text.size() - text.size());
  }
  return false;
}

std::size_t OutgoingMail::read(char* buffer, std::size_t capacity) {
  auto& pieces = *pieces_;
  while (pieces.at < pieces.all.size()) {
    auto& piece = pieces.all[pieces.at];
    auto got = piece.text.copy(buffer, capacity, pieces.given);
    pieces.given += got;
    if (got == 0) got = piece.attachment.read(buffer, capacity);
    if (got > 0) return got;
    ++pieces.at;
    pieces.given = 0;
  }
  return 0;
}

}  // namespace gmail
