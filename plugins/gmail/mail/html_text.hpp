// The text of a mail's HTML, for reading: nothing of it runs, loads or points anywhere unseen.
#pragma once

#include <string>
#include <string_view>

#include "invisible.hpp"

namespace gmail {

constexpr std::size_t kMostHiddenBytes = 64 * 1024;

/// Without tags, scripts, style sheets, comments and images (their alternative text stays, as "[text]"). Paragraphs and
/// rows become lines, list items begin with "- ", a link's target stands in brackets behind its text where it says
/// something else. Any bytes of HTML: it need not be well formed. `html` is UTF-8; at most `most_bytes` of what is seen
/// come back, and kMostHiddenBytes of what is hidden: what attributes, style and style sheets keep from a person's eyes
/// on a computer's screen, and characters that nobody sees. What cannot be told counts as seen.
SeenText html_to_text(std::string_view html, std::size_t most_bytes);

}  // namespace gmail
