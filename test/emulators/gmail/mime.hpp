// Reads mails as Gmail shows them: a tree of parts, headers unfolded. Takes any bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krux::test::gmail {

struct Header {
  std::string name;   // as it was written
  std::string value;  // unfolded, UTF-8, encoded words as they stand: whoever parses it must do so before decoding
};

struct Part {
  std::string id;  // "" of the whole mail, then "0", "1", "1.0"
  std::vector<Header> headers;
  std::string mime_type = "text/plain";  // lower case
  std::string charset, filename, disposition, boundary;
  std::string body;  // transfer encoding undone, otherwise as it came; empty for multiparts
  std::vector<Part> parts;

  const std::string* header(std::string_view name) const;  // the first of that name, in any case
  bool is_multipart() const { return mime_type.rfind("multipart/", 0) == 0; }
  bool is_text() const { return mime_type.rfind("text/", 0) == 0; }
};

Part parse_mail(std::string_view raw);

// The header block alone, as written: names and unfolded but undecoded values.
std::vector<Header> parse_headers(std::string_view raw, std::string_view* body = nullptr);
bool same_name(std::string_view one, std::string_view other);
std::string decode_words(std::string_view value);
// Each encoded word as one of UTF-8 in base64, which holds nothing that separates addresses.
std::string with_plain_words(std::string_view value);

}  // namespace krux::test::gmail
