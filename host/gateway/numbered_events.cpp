#include "host/gateway/numbered_events.hpp"

#include <charconv>

namespace krux {

const std::string& NumberedEvents::add(std::string text) {
  ++last_;
  bytes_ += text.size();
  texts_.push_back(std::move(text));
  while (bytes_ > most_bytes_ && texts_.size() > 1) {
    bytes_ -= texts_.front().size();
    texts_.pop_front();
  }
  return texts_.back();
}

bool NumberedEvents::have_all_behind(std::uint64_t number) const {
  return number <= last_ && last_ - number <= texts_.size();
}

void NumberedEvents::clear() {
  texts_.clear();
  bytes_ = 0;
}

std::optional<NamedEvent> event_named(std::string_view prefix, std::string_view event_id) {
  const auto dash = event_id.rfind('-');
  if (!event_id.starts_with(prefix) || dash == std::string_view::npos || dash < prefix.size()) return std::nullopt;
  NamedEvent named{event_id.substr(0, dash), 0};
  const auto* const end = event_id.data() + event_id.size();
  const auto read = std::from_chars(event_id.data() + dash + 1, end, named.number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return named;
}

}  // namespace krux
