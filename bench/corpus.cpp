#include "bench/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace krux::bench {
namespace {

constexpr std::string_view kCommon =
    "the to and of a in is you for that on it with this are be have we your from as at or will not can if by our all "
    "an please has but was me any my so do meeting team project update thanks know let time new more one out up email "
    "would which they get just week need also work about when report there next should some us today invoice review "
    "tomorrow like here data payment account call order change customer schedule service release version budget "
    "question following attached information support system security password deploy build plan date day month "
    "document file share link send sent received confirm request issue";

}  // namespace

Corpus::Corpus(std::int64_t messages) : messages_(messages) {
  for (std::string_view rest = kCommon; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    words_.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  while (words_.size() < 40'000) words_.push_back(made_up());
  double sum = 0;
  for (std::size_t i = 0; i < words_.size(); ++i)
    shares_.push_back(sum += 1 / std::pow(static_cast<double>(i) + 2.7, 1.07));
  for (int i = 0; i < 5000; ++i)
    people_.push_back(fmt::format("{} {}{} <{}{}@example.com>", made_up(), made_up(), i, made_up(), i));
}

Record Corpus::next(std::int64_t i) {
  Record r;
  const auto spread = 250'000'000'000 / messages_;
  r.collection = "messages";
  r.id = fmt::format("{:016x}", 0x18a0000000000000 + i * 7919);
  r.order_ms = 1'750'000'000'000 - i * spread - static_cast<std::int64_t>(random_() % 60'000);
  const auto& from = people_[skewed(people_.size())];
  const auto channel = fmt::format("C{:04}", skewed(1000));
  const auto words = body(i);
  r.text = from + "\x1f" + people_[skewed(people_.size())] + "\x1f" + text(4 + random_() % 7) + "\x1f" + words;
  r.json = fmt::format(R"({{"id":"{}","from":"{}","channel":"{}","text":"{}"}})", r.id, from, channel, words);
  r.scope = channel;
  r.generation = 1;
  r.fields = {{"channel", channel}, {"sender", from}, {"is_read", std::int64_t{random_() % 10 < 8}}};
  return r;
}

std::string Corpus::body(std::int64_t i) {
  auto words = text(26 + random_() % 14);
  if (i % 20'000 == 777) words += " zyxwquark";
  if (i % 5'000 == 77) words += " 漢字の試験";
  if (i % 50'000 == 99) words += " ж";
  return words;
}

std::string Corpus::made_up() {
  static constexpr std::array starts{"st", "tr", "b", "c",  "d",  "f",  "g",  "l",  "m",  "n",  "p",   "r",  "s",
                                     "t",  "v",  "w", "th", "sh", "ch", "pl", "gr", "re", "in", "con", "de", "pro"};
  static constexpr std::array middles{"a",  "e",  "i",  "o",  "u",  "ea", "ai", "ou",
                                      "er", "ar", "in", "on", "an", "or", "en"};
  static constexpr std::array ends{"",   "",     "n",    "t",   "r",  "s",  "ng", "nt",
                                   "st", "tion", "ment", "ing", "ed", "ly", "al"};
  std::string made;
  for (auto n = 1 + random_() % 3; n > 0; --n) {
    made += starts[random_() % starts.size()];
    made += middles[random_() % middles.size()];
  }
  return made + ends[random_() % ends.size()];
}

std::string Corpus::word() {
  const auto kind = random_() % 100;
  if (kind < 2) return fmt::format("{}-{}", random_() % 2 ? "PROJ" : "INC", random_() % 20'000);
  if (kind < 3) return std::to_string(random_() % 1'000'000);
  const auto share = std::uniform_real_distribution<double>(0, shares_.back())(random_);
  return words_[static_cast<std::size_t>(std::lower_bound(shares_.begin(), shares_.end(), share) - shares_.begin())];
}

std::string Corpus::text(std::size_t words) {
  std::string result;
  for (std::size_t i = 0; i < words; ++i) result += (i == 0 ? "" : random_() % 11 == 0 ? ", " : " ") + word();
  return result;
}

std::size_t Corpus::skewed(std::size_t n) {
  const auto share = std::uniform_real_distribution<double>(0, 1)(random_);
  return std::min(n - 1, static_cast<std::size_t>(std::pow(static_cast<double>(n), share)) - 1);
}

}  // namespace krux::bench
