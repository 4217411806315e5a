#include "emulators/slack/paging.hpp"

#include <algorithm>

namespace krux::test::slack {
namespace {

const std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < have ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j) text += j <= have ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::optional<std::string> unbase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  unsigned group = 0;
  int bits = 0;
  for (char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    group = group << 6 | static_cast<unsigned>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(group >> bits & 255);
    }
  }
  return bytes;
}

}  // namespace

std::string make_cursor(std::string_view kind, std::string_view position) {
  return base64(std::string(kind) + ":" + std::string(position));
}

std::optional<std::string> read_cursor(const std::string& cursor, std::string_view kind) {
  const auto text = unbase64(cursor);
  const std::string prefix = std::string(kind) + ":";
  if (!text || text->rfind(prefix, 0) != 0 || text->size() == prefix.size()) return std::nullopt;
  return text->substr(prefix.size());
}

bool page_size(const MethodContext& context, int otherwise, int most, int& size) {
  const std::string text = context.call.text("limit");
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || text.size() > 9) return false;
  const int asked = text.empty() ? 0 : std::stoi(text);
  size = std::min(asked == 0 ? otherwise : asked, most);
  if (context.max_items > 0) size = std::min(size, context.max_items);
  return true;
}

void write_page_end(MethodContext& context, const std::string& next_cursor) {
  context.out.object("response_metadata").field("next_cursor", next_cursor);
  if (!context.call.warnings.empty()) {
    context.out.array("warnings");
    for (const std::string& warning : context.call.warnings) context.out.value(warning);
    context.out.end_array();
  }
  context.out.end_object();
  context.metadata_written = true;
}

}  // namespace krux::test::slack
