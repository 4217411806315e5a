#include "host/plugins/abi_bridge/edge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "core/util/text.hpp"
#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {

std::string_view bytes_of(krux_str bytes, std::string_view what, std::size_t max) {
  if (bytes.len == 0) return {};
  if (!bytes.ptr) throw invalid_input(fmt::format("{} has a length and no bytes.", what));
  if (bytes.len > max)
    throw invalid_input(fmt::format("{} has {} bytes, at most {} are allowed.", what, bytes.len, max));
  return {bytes.ptr, bytes.len};
}

std::string_view text_of(krux_str text, std::string_view what, std::size_t max) {
  const auto view = bytes_of(text, what, max);
  if (!is_valid_utf8(view)) throw invalid_input(fmt::format("{} is not valid UTF-8.", what));
  if (view.find('\0') != std::string_view::npos) throw invalid_input(fmt::format("{} has a NUL in it.", what));
  return view;
}

std::string id_of(krux_str id, std::string_view what) {
  const auto view = bytes_of(id, what, std::numeric_limits<std::size_t>::max());
  if (view.size() <= limits::kLongestId) return std::string(view);
  return std::string(view.substr(0, limits::kLongestId)) + " sha256 " + sha256_hex(view);
}

std::string_view kept_text_of(krux_str text) {
  constexpr auto most = limits::kLongestKeptText + 1;
  return bytes_of({text.ptr, std::min(text.len, most)}, "The kept text", most);
}

void refuse_missing(std::string_view what) {
  throw invalid_input(fmt::format("{} is missing.", what));
}

void refuse_truncated(std::string_view what, std::uint32_t size, std::size_t needed) {
  throw invalid_input(fmt::format("{} is truncated: its size says {}, {} are needed.", what, size, needed));
}

std::function<std::int64_t(char*, std::size_t)> pull(const krux_source* source) {
  if (!source || !source->read) throw invalid_input("The bytes are missing.");
  return [source](char* buffer, std::size_t capacity) {
    const auto got = source->read(source->self, buffer, capacity);
    return got > static_cast<std::int64_t>(capacity) ? -1 : got;
  };
}

bool is_known(krux_status status) {
  return status >= KRUX_OK && status <= KRUX_CONFLICT;
}

krux_status status_of(const Error& error) {
  return error.type().facts().status;
}

std::string with_advice_on_defect(std::string message) {
  if (!message.empty() && std::string_view(".!?)").find(message.back()) == std::string_view::npos) message += '.';
  return message + " This is a defect of the adapter: tell its author, who finds it with kruxos adapter certify.";
}

std::string_view words_for(krux_status status) {
  switch (status) {
    case KRUX_AUTH:
      return "The service refuses the account's token or one of its scopes; connect the account again.";
    case KRUX_RATE_LIMITED:
      return "The service takes no more requests for now.";
    case KRUX_NETWORK:
      return "The service gave no complete answer.";
    case KRUX_REFUSED:
      return "The service refused the request.";
    case KRUX_INVALID:
      return "The adapter found the input unfit.";
    case KRUX_STORAGE:
      return "The host's storage failed.";
    case KRUX_CANCELLED:
      return "The call was cancelled.";
    case KRUX_UNSUPPORTED:
      return "The adapter does not have that ability.";
    case KRUX_TIMEOUT:
      return "The call's deadline passed.";
    case KRUX_NOT_FOUND:
      return "There is no such record.";
    case KRUX_UNAVAILABLE:
      return "The service is not available for now.";
    case KRUX_CURSOR_EXPIRED:
      return "The service no longer knows where the sync was.";
    case KRUX_CONFLICT:
      return "The service's state has changed since.";
    default:
      return "The adapter failed without saying why.";
  }
}

std::int32_t BoundedSink::write(void* self, krux_str bytes) noexcept {
  auto& me = *static_cast<BoundedSink*>(self);
  if (bytes.len == 0) return 0;
  if (me.overflowed_ || !bytes.ptr || bytes.len > me.max_ - me.text_.size()) {
    me.overflowed_ = true;
    return 1;
  }
  try {
    me.text_.append(bytes.ptr, bytes.len);
    return 0;
  } catch (const std::bad_alloc&) {
    me.overflowed_ = true;
    return 1;
  }
}

}  // namespace krux
