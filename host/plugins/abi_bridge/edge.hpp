// The edge between an adapter's code and the host: nothing that comes over it is believed, nothing that is thrown
// passes it.
#pragma once

#include <kruxos/abi/base.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/util/error.hpp"

namespace krux {

inline krux_str to_abi(std::string_view text) {
  return {text.data(), text.size()};
}

/// Bytes as an adapter passed them. Throws InvalidInput naming `what` for a null pointer with a length and for more
/// than `max`.
std::string_view bytes_of(krux_str bytes, std::string_view what, std::size_t max);
/// The same for text: also valid UTF-8 without NUL.
std::string_view text_of(krux_str text, std::string_view what, std::size_t max);

/// An id or a scope as a service may make it: one that is too long is cut, stays too long, and goes on being told from
/// others by its hash; what else is wrong with it the replica finds.
std::string id_of(krux_str id, std::string_view what);

/// A kept text as a service may make it: of one that is too long, as much as shows that it is.
std::string_view kept_text_of(krux_str text);

[[noreturn]] void refuse_missing(std::string_view what);
[[noreturn]] void refuse_truncated(std::string_view what, std::uint32_t size, std::size_t needed);

/// The record that an adapter has handed over, which begins with its `size`: it must be there and be at least as
/// large as ABI 1.0 made it: `released`, where it has grown since. Throws krux::Error InvalidInput; `what` is "The
/// request".
template <class Record>
Record& required(Record* record, std::string_view what, std::size_t released = sizeof(Record)) {
  if (!record) refuse_missing(what);
  if (record->size < released) refuse_truncated(what, record->size, released);
  return *record;
}

/// A source's bytes; more than it was asked for counts as a failure. Throws krux::Error InvalidInput for none.
/// Borrows `source`.
std::function<std::int64_t(char*, std::size_t)> pull(const krux_source* source);

/// Whether a status is one that this host knows.
bool is_known(krux_status status);

/// What a krux::Error means to an adapter.
krux_status status_of(const Error& error);

/// A sentence for a status that came without words.
std::string_view words_for(krux_status status);

/// The message, and that its reader can do no more about it than to tell the adapter's author.
std::string with_advice_on_defect(std::string message);

/// Gathers what an adapter writes, up to a limit.
class BoundedSink {
 public:
  explicit BoundedSink(std::size_t max) : max_(max) {}
  BoundedSink(const BoundedSink&) = delete;
  BoundedSink& operator=(const BoundedSink&) = delete;

  const krux_sink* table() const { return &table_; }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }
  bool overflowed() const { return overflowed_; }
  std::size_t max() const { return max_; }

 private:
  static std::int32_t write(void* self, krux_str bytes) noexcept;

  const std::size_t max_;
  std::string text_;
  bool overflowed_ = false;
  krux_sink table_{this, &write};
};

}  // namespace krux
