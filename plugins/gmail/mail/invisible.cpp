#include "invisible.hpp"

#include <cstddef>

#include "utf8.hpp"

namespace gmail {
namespace {

using kruxos::kit::detail::kInvalid;
using kruxos::kit::detail::kReplacementText;
using kruxos::kit::detail::next_character;
using kruxos::kit::detail::take_printable;

/// The byte that a variation selector stands for where text is hidden in a row of them; -1 for other characters.
int selector_byte(char32_t c) {
  if (c >= 0xfe00 && c <= 0xfe0f) return static_cast<int>(c - 0xfe00);
  return c >= 0xe0100 && c <= 0xe01ef ? static_cast<int>(c - 0xe0100 + 16) : -1;
}

/// Without a width, and of no use but to break lines or mark them.
bool has_no_width(char32_t c) {
  return c == 0xad || c == 0x34f || c == 0x180e || c == 0x200b || (c >= 0x2060 && c <= 0x2065) || c == 0xfeff ||
         (c >= 0x206a && c <= 0x206f) || c == 0x115f || c == 0x1160 || c == 0x3164 || c == 0xffa0;
}

class Sorter {
 public:
  SeenText sorted(std::string_view text) {
    out_.seen.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const auto from = at;
      if (take_printable(text, at, out_.seen)) {
        end_selectors();
        continue;
      }
      const auto c = next_character(text, at);
      take(c, c == kInvalid ? kReplacementText : text.substr(from, at - from));
    }
    end_selectors();
    return std::move(out_);
  }

 private:
  void take(char32_t c, std::string_view bytes) {
    if (const int byte = selector_byte(c); byte >= 0) {
      selectors_ += static_cast<char>(byte);
      if (selectors_.size() == 1) out_.seen += bytes;
      return;
    }
    end_selectors();
    if (c > 0xe001f && c < 0xe007f) {
      out_.hidden += static_cast<char>(c - 0xe0000);
    } else if (!kruxos::kit::detail::misleads(c) && !has_no_width(c)) {
      out_.seen += bytes;
    }
  }

  /// One of them chooses a letter's form. More of them in a row choose nothing.
  void end_selectors() {
    if (selectors_.size() > 1) out_.hidden += clean_line(selectors_);
    selectors_.clear();
  }

  SeenText out_;
  std::string selectors_;
};

}  // namespace

SeenText set_apart_invisible(std::string_view text) {
  return Sorter().sorted(text);
}

}  // namespace gmail
