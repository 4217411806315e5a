// Characters that stand in a text and that nobody sees.
#pragma once

#include <string>
#include <string_view>

namespace gmail {

/// What a person sees of a text, and what is hidden in its characters.
struct SeenText {
  std::string seen{};
  std::string hidden{};  ///< what tag characters (U+E0020 to U+E007E) and rows of variation selectors spell
};

/// What is no UTF-8 becomes U+FFFD. Marks of direction, characters without a width and what spells hidden text are not
/// among what is seen; joiners and single variation selectors, which letters and emojis need, are.
SeenText set_apart_invisible(std::string_view text);

}  // namespace gmail
