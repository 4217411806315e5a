// A mailbox as records of the Gmail adapter.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "bench/adapter_values.hpp"
#include "bench/corpus.hpp"
#include "core/replica/replica.hpp"
#include "model.hpp"

namespace krux::bench {

/// A mailbox of ten years: a few people write much, many little; most is read and filed.
class Mailbox {
 public:
  static constexpr std::int64_t kNow = 1'700'000'000'000, kApartMs = 315'000;  ///< the newest's time

  explicit Mailbox(std::int64_t messages) : corpus_(messages) {}

  gmail::Message next(std::int64_t number) {
    gmail::Message m;
    m.id = fmt::format("{:016x}", 0x18cf000000000000 + number);
    m.thread_id = fmt::format("{:016x}", 0x18cf000000000000 + number / 3);
    m.from = gmail::parse_addresses(person());
    m.to = {{"Agent Smith", "agent@example.com"}};
    if (pick(10) == 0) m.to.push_back(gmail::parse_addresses(person()).front());
    if (pick(6) == 0) m.cc = gmail::parse_addresses(person());
    m.subject = corpus_.text(static_cast<std::size_t>(4 + pick(7)));
    m.snippet = corpus_.text(static_cast<std::size_t>(26 + pick(14)));
    m.date_ms = kNow - number * kApartMs;
    m.size = 2'000 + pick(100'000);
    m.message_id = fmt::format("{}@mail.example.com", number);
    if (pick(100) < (number < 2'000 ? 60 : 8)) m.add("INBOX");
    if (pick(100) < 7) m.add("UNREAD");
    if (pick(100) < 15) {
      m.add("SENT");
      std::swap(m.from, m.to);
    }
    if (pick(100) < 30) m.add("IMPORTANT");
    if (pick(1'000) < 4) m.add("STARRED");
    if (pick(100) < 3) m.add("SPAM");
    if (pick(100) < 2) m.add("TRASH");
    m.add(fmt::format("Label_{}", skewed(200)));
    if (pick(100) < 12) m.attachments.push_back({"1", word() + (pick(4) ? ".pdf" : ".xlsx"), "a/b", 5'000});
    return m;
  }
  /// As somebody might search for it: seldom one of the most frequent.
  const std::string& word() { return corpus_.vocabulary(corpus_.skewed(40'000)); }
  const std::string& person() { return corpus_.person(corpus_.skewed(5'000)); }
  std::size_t skewed(std::size_t below) { return corpus_.skewed(below); }
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

 private:
  Corpus corpus_;
  std::mt19937 random_{7};
};

/// Puts that many of its mails into the replica.
inline void fill(Replica& store, std::int64_t messages, Mailbox& mailbox) {
  auto session = store.begin_session();
  for (std::int64_t n = 0; n < messages; ++n) {
    session->put(record(gmail::message_record(mailbox.next(n))));
    if (n % 200 == 199) session->commit();
  }
  session->commit();
}

}  // namespace krux::bench
