// What a read may ask of whoever waits for it, as definitions name it: bits of krux_call.can_ask.
#pragma once

#include <kruxos/abi/call.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace krux {

/// Of all answers to what a read has asked at a time, in bytes of JSON.
inline constexpr std::size_t kLargestAnswers = 1 << 20;

inline constexpr std::array<std::pair<std::uint32_t, std::string_view>, 4> kAsks{
    {{KRUX_ASK_FORM, "form"}, {KRUX_ASK_URL, "url"}, {KRUX_ASK_MODEL, "model"}, {KRUX_ASK_ROOTS, "roots"}}};

/// "form, model"; empty: nothing.
inline std::string asks_in_words(std::uint32_t asks) {
  std::string words;
  for (const auto& [bit, name] : kAsks) {
    if (asks & bit) words += (words.empty() ? "" : ", ") + std::string(name);
  }
  return words;
}

}  // namespace krux
