// The benchmarks' messages as mails: as Gmail answers them, and as the files that other indexers read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/corpus.hpp"

namespace krux::bench {

struct Mail {
  std::int64_t number = 0;  ///< 0 is the newest
  std::string id, from, to, subject, body;
  std::vector<std::string> labels;
  std::int64_t date_ms = 0;
};

class MailCorpus {
 public:
  explicit MailCorpus(std::int64_t mails) : corpus_(mails) {}

  /// To be asked for in order.
  Mail next(std::int64_t number);

 private:
  Corpus corpus_;
};

std::string mail_id(std::int64_t number);
std::int64_t mail_number(const std::string& id);

/// The answer to users.messages.get in the format "full", without bodies and blanks: some twenty
/// headers, of which a replica keeps few.
std::string gmail_answer(const Mail& mail);
/// The same mail, its text with it.
std::string mail_file(const Mail& mail);

}  // namespace krux::bench
