#include <algorithm>
#include <string>

#include "core/oauth/authorization.hpp"
#include "fuzz.hpp"

namespace {

using krux::Callback;
using krux::fuzz::require;

bool visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

void check(const Callback& callback) {
  const bool agreed = callback.kind == Callback::Kind::kCode;
  require(agreed == !callback.code.empty(), "a code stands with what was agreed to alone");
  require(agreed == callback.message.empty(), "everything else says why");
  require(visible(callback.code.reveal()) && visible(callback.state.reveal()), "code and state are visible characters");
  require(!has_control(callback.message), "a message moves no cursor");
  require(callback.state.empty() || agreed || callback.kind == Callback::Kind::kDenied, "no state of a bad address");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  check(krux::parse_callback(text));
  check(krux::parse_callback("/oauth/callback?" + text));
  const auto target = krux::target_of_address(text);
  require(target.empty() || (target.front() == '/' && text.find(target) != std::string::npos),
          "a target is a part of the address");
  check(krux::parse_callback(target));
  return 0;
}
