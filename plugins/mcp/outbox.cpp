#include "outbox.hpp"

#include <algorithm>
#include <utility>

namespace mcp {

void Failure::raise() const {
  kruxos::ProxyError error(kind, sentence);
  error.type(type);
  if (no_effect) error.no_effect();
  throw error;
}

void Outbox::add(std::string message, AskedPtr asked) {
  message += '\n';
  const auto unasked = asked ? 0 : message.size();
  unasked_bytes_ += unasked;
  all_.push_back({std::move(message), std::move(asked), unasked});
}

void Outbox::drop(const std::deque<One>::iterator& at) {
  unasked_bytes_ -= at->unasked_bytes;
  if (at == all_.begin()) written_ = 0;
  all_.erase(at);
}

void Outbox::flush(const Put& put) {
  while (!all_.empty()) {
    auto& first = all_.front();
    written_ += put(std::string_view(first.line).substr(written_));
    // Without its line's end it is a whole text already.
    if (first.asked && written_ + 1 >= first.line.size()) first.asked->written = true;
    if (written_ < first.line.size()) return;
    drop(all_.begin());
  }
}

void Outbox::take_back(const Asked& asked) {
  const auto at = std::find_if(all_.begin(), all_.end(), [&](const One& one) { return one.asked.get() == &asked; });
  if (at == all_.end() || asked.written) return;
  if (at != all_.begin() || written_ == 0) return drop(at);
  at->line.resize(written_);
  at->line += '\n';
  at->asked = nullptr;
}

void Outbox::clear() {
  all_.clear();
  written_ = unasked_bytes_ = 0;
}

}  // namespace mcp
