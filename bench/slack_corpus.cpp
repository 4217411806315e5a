#include "bench/slack_corpus.hpp"

#include <fmt/format.h>

#include "bench/corpus.hpp"
#include "core/util/clock.hpp"
#include "core/util/json.hpp"

namespace krux::bench {
namespace {

constexpr std::int64_t kPerChannel = 1000, kPeople = 500;

}  // namespace

std::string channel_id(std::int64_t n) {
  return fmt::format("C0BENCH{:04}", n);
}

void seed(test::SlackEmulator& slack, std::int64_t messages, const std::function<void(const SeededMessage&)>& seen) {
  SystemClock clock;
  const auto end_ms = clock.wall_ms() - 3'600'000;
  std::string users;
  for (std::int64_t i = 0; i < kPeople; ++i)
    users += fmt::format(R"({}{{"id":"U0BENCH{:04}","name":"person{}"}})", i == 0 ? "" : ",", i, i);
  slack.seed(fmt::format(R"({{"users":[{}]}})", users));
  Corpus corpus(messages);
  const auto channels = (messages + kPerChannel - 1) / kPerChannel;
  for (std::int64_t c = 0; c < channels; ++c) {
    std::string list;
    for (auto i = c; i < messages; i += channels) {
      const auto person = i * 7919 % 104'729 % kPeople;
      const SeededMessage message{i,
                                  end_ms - i * 60'000,
                                  channel_id(c),
                                  fmt::format("team-{}", c),
                                  fmt::format("U0BENCH{:04}", person),
                                  fmt::format("person{}", person),
                                  corpus.body(i) + (i == kOnly ? std::string(" ") + kOnlyWord : "")};
      list += fmt::format(R"({}{{"user":"{}","at_ms":{},"text":{}}})", list.empty() ? "" : ",", message.user_id,
                          message.at_ms, json_string(message.text));
      if (seen) seen(message);
    }
    slack.seed(
        fmt::format(R"({{"channels":[{{"id":"{}","name":"team-{}","messages":[{}]}}]}})", channel_id(c), c, list));
  }
}

}  // namespace krux::bench
