#include "core/replica/contains.hpp"

#include <string.h>

#include <cstdint>

namespace krux {
namespace {

// What is longer memmem finds as fast; a short one takes it two to four times as long.
constexpr std::size_t kShort = 9;
constexpr std::size_t kAtOnce = sizeof(std::uint64_t);

std::uint64_t eight_at(const char* text) {
  std::uint64_t eight = 0;
  ::memcpy(&eight, text, sizeof eight);
  return eight;
}

/// Eight places at a time, looking for the first and the last byte.
bool contains_short(std::string_view text, std::string_view part) {
  constexpr std::uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
  const std::uint64_t first = ones * static_cast<unsigned char>(part.front());
  const std::uint64_t last = ones * static_cast<unsigned char>(part.back());
  const auto places = text.size() - part.size() + 1;
  const auto is_at = [&](std::size_t i) { return text[i] == part[0] && text.substr(i, part.size()) == part; };
  std::size_t i = 0;
  for (; i + kAtOnce <= places; i += kAtOnce) {
    const auto differ = (eight_at(text.data() + i) ^ first) | (eight_at(text.data() + i + part.size() - 1) ^ last);
    if (((differ - ones) & ~differ & highs) == 0) continue;  // no byte of it is 0
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      if (is_at(i + k)) return true;
    }
  }
  for (; i < places; ++i) {
    if (is_at(i)) return true;
  }
  return false;
}

}  // namespace

bool contains(std::string_view text, std::string_view part) {
  if (part.empty()) return true;
  if (text.size() < part.size()) return false;
  return part.size() <= kShort ? contains_short(text, part)
                               : ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

}  // namespace krux
