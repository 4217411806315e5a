// application/x-www-form-urlencoded.
#pragma once

#include <string_view>

namespace krux {

/// Appends `text` to `out` (a string or SecretBytes) with everything but unreserved characters escaped.
template <class Out>
void append_escaped(Out& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out.push_back(c);
      continue;
    }
    out.push_back('%');
    out.push_back(hex[byte >> 4]);
    out.push_back(hex[byte & 15]);
  }
}

/// Appends "name=value", after an '&' where something stands there already.
template <class Out>
void append_pair(Out& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out.push_back('&');
  append_escaped(out, name);
  out.push_back('=');
  append_escaped(out, value);
}

}  // namespace krux
