// Events that their client may go on with behind the last one that it has heard.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace krux {

/// The newest of a row of events that are numbered from 1. One thread at a time.
class NumberedEvents {
 public:
  /// The oldest goes where they have more than so many bytes together; the newest stays.
  explicit NumberedEvents(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Of the newest, whether or not it is still here; 0 before the first.
  std::uint64_t last() const { return last_; }
  /// As number last() + 1.
  const std::string& add(std::string text);
  /// Whether all that followed that number are here, and there was such a number.
  bool have_all_behind(std::uint64_t number) const;
  /// Those of them that are here, in their order.
  template <typename Tell>
  void each_behind(std::uint64_t number, const Tell& tell) const {
    const auto first = last_ + 1 - texts_.size();
    for (std::size_t i = number < first ? 0 : number + 1 - first; i < texts_.size(); ++i) tell(texts_[i]);
  }
  void clear();

 private:
  const std::size_t most_bytes_;
  std::deque<std::string> texts_;  ///< the last of them is the event `last_`
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
};

/// An event by its row and its number.
struct NamedEvent {
  std::string_view row;
  std::uint64_t number = 0;
};
/// Of a row whose name begins with `prefix`: "answer-ab12-7" is number 7 of "answer-ab12".
std::optional<NamedEvent> event_named(std::string_view prefix, std::string_view event_id);

}  // namespace krux
