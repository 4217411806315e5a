// Headers that GMime reads otherwise than mail programs do.
#pragma once

#include <string>
#include <string_view>

namespace gmail {

struct Mending {
  std::string mail{};  ///< in place of the one that was given; empty where that is in order
  bool had_two_types = false, had_no_blank_line = false;
};

/// Of two Content-Types of a part the first counts; GMime takes the last. A header that ends without an empty line ends
/// where no field follows; GMime takes the text up to the next empty line for a part of it.
Mending mended(std::string_view raw);

}  // namespace gmail
