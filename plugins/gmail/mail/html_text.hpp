// The text of a mail's HTML, for reading: nothing of it runs, loads or points anywhere unseen.
#pragma once

#include <string>
#include <string_view>

namespace gmail {

/// Without tags, scripts, styles, comments and images (their alternative text stays, as "[text]"). Paragraphs and rows
/// become lines, list items begin with "- ", a link's target stands in brackets behind its text where it says something
/// else. Any bytes of HTML: it need not be well formed. `html` is UTF-8; at most `most_bytes` come back.
/// Text that the sender has hidden by style sheets is part of it.
std::string html_to_text(std::string_view html, std::size_t most_bytes);

}  // namespace gmail
