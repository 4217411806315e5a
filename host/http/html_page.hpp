// Pages for a person's browser: plain HTML, which loads nothing.
#pragma once

#include <string>
#include <string_view>

#include "host/http/http_types.hpp"

namespace krux {

/// `body` is HTML; so is `head`, which stands beside the title. No script, style, form or frame works in it, and nobody
/// keeps it.
ServerResponse html_page(int status, std::string_view title, std::string_view body, std::string_view head = {});

/// The browser goes there with a GET. `referrer`: the Referrer-Policy of what it does then.
ServerResponse see_other(const std::string& location, std::string_view referrer = "no-referrer");

/// One paragraph of plain text.
ServerResponse text_page(int status, std::string_view title, std::string_view text);

}  // namespace krux
