// A mail's bytes: given, or grown from a number when they are asked for, so that a mailbox of 100,000 costs little.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulators/gmail/mime.hpp"

namespace krux::test::gmail {

// What of a mail is searched and threaded by. Decoded, UTF-8.
struct Digest {
  std::string from, to, cc, bcc, subject, message_id, text;
  std::vector<std::string> references;  // with In-Reply-To, oldest first
  std::vector<std::string> filenames;   // of attachments
};

// A mail of the generator. The same seed and date give the same bytes for ever.
struct Growth {
  std::uint64_t seed = 0;
  std::int64_t date_ms = 0;
  std::uint64_t replies_to = 0;  // the seed of the mail that it answers; 0: none
  bool sent = false;             // by the mailbox's owner, not to it
  std::shared_ptr<const std::string> owner;
};

class Content {
 public:
  explicit Content(std::string raw) : raw_(std::make_shared<const std::string>(std::move(raw))) {}
  explicit Content(Growth growth) : growth_(std::make_shared<const Growth>(std::move(growth))) {}

  std::shared_ptr<const std::string> raw() const;
  Digest digest() const;
  std::string message_id() const;  // without building the rest
  std::string subject() const;
  std::vector<std::string> references() const;

 private:
  std::shared_ptr<const std::string> raw_;
  std::shared_ptr<const Growth> growth_;
};

Digest digest_of(const Part& mail);
// The text that a person sees first: of the first plain part, else the first HTML part without its tags.
std::string shown_text(const Part& mail);
// White space collapsed, cut, HTML-escaped.
std::string make_snippet(const std::string& text);
// "Re: fwd: a" and "a" are the same.
std::string bare_subject(std::string subject);

std::string grown_message_id(std::uint64_t seed);
std::string grow_raw(const Growth& growth);
Digest grow_digest(const Growth& growth);
std::uint64_t mix(std::uint64_t value);  // any number to a random-looking one

}  // namespace krux::test::gmail
