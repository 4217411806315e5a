// Refusing what a mail is to be made of.
#pragma once

#include <kruxos/adapter/error.hpp>

#include <string>
#include <string_view>

namespace gmail {

inline kruxos::ProxyError bad_input(const std::string& sentence) {
  kruxos::ProxyError error(kruxos::ErrorKind::kInvalid, sentence);
  error.type("InvalidInput").no_effect();
  return error;
}

/// As much of an argument as may stand in a sentence.
std::string quotable(std::string_view text);

/// Throws where `text` cannot stand in a header field: control characters, line breaks and NUL among them, invalid
/// UTF-8, more than `most_bytes`.
void require_header_text(std::string_view what, std::string_view text, std::size_t most_bytes);

}  // namespace gmail
