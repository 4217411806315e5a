// The names that mail gives its charsets, as browsers and mail programs understand them: a label stands for the widest
// charset that is sent under it, whatever its standard says.
#pragma once

#include <string>
#include <string_view>

namespace gmail {

/// The C library's name; empty where the label is none that is known. "ISO-2022-JP" needs iso_2022_jp_as_cp932() first.
std::string iconv_name(std::string_view label);

/// With the rows that Microsoft and NEC have added, which the C library's own converter refuses. Nothing where the text
/// has what CP932 does not know: JIS X 0212 and others.
bool iso_2022_jp_as_cp932(std::string_view bytes, std::string& out);

/// The charset of a `<meta>` in HTML's first 1,024 bytes; empty where there is none.
std::string charset_in_html(std::string_view html);

}  // namespace gmail
