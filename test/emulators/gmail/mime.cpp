#include "emulators/gmail/mime.hpp"

#include <algorithm>
#include <map>

#include "emulators/common/text.hpp"
#include "emulators/gmail/codec.hpp"

namespace krux::test::gmail {
namespace {

using emulator::lower;

constexpr int kMaxDepth = 30;
constexpr std::size_t kMaxParts = 1000;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Takes one line off the front, without its end.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

struct Parameters {
  std::string value;
  std::map<std::string, std::string> named;
};

// `text` behind a semicolon: "name=value" or "name=\"va\\\"lue\"".
void read_parameter(std::string_view& text, Parameters& into) {
  const std::size_t equals = text.find_first_of("=;");
  const std::string name = lower(std::string(trimmed(text.substr(0, equals))));
  text.remove_prefix(std::min(text.size(), equals));
  if (text.empty() || text[0] == ';') return;
  text.remove_prefix(1);
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
  std::string value;
  if (!text.empty() && text[0] == '"') {
    std::size_t i = 1;
    for (; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      value += text[i];
    }
    text.remove_prefix(std::min(text.size(), i + 1));
    text.remove_prefix(std::min(text.size(), text.find(';')));
  } else {
    const std::size_t end = std::min(text.size(), text.find(';'));
    value = std::string(trimmed(text.substr(0, end)));
    text.remove_prefix(end);
  }
  if (!name.empty()) into.named.emplace(name, value);
}

Parameters read_parameters(std::string_view text) {
  Parameters read;
  const std::size_t end = std::min(text.size(), text.find(';'));
  read.value = lower(std::string(trimmed(text.substr(0, end))));
  text.remove_prefix(end);
  while (!text.empty()) {
    text.remove_prefix(1);
    read_parameter(text, read);
  }
  return read;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && emulator::hex_digit(text[i + 1]) >= 0 &&
        emulator::hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(emulator::hex_digit(text[i + 1]) * 16 + emulator::hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// RFC 2231: "name*=utf-8''a%20b", and values in pieces "name*0=", "name*1*=".
std::string extended(const Parameters& parameters, const std::string& name) {
  const auto& named = parameters.named;
  auto found = named.find(name);
  if (found != named.end()) return decode_words(found->second);
  std::string joined;
  bool encoded = false;
  found = named.find(name + "*");
  if (found != named.end()) {
    joined = found->second;
    encoded = true;
  }
  for (int i = 0; found == named.end() || i > 0; ++i) {
    auto plain = named.find(name + "*" + std::to_string(i)), coded = named.find(name + "*" + std::to_string(i) + "*");
    if (plain == named.end() && coded == named.end()) break;
    encoded = encoded || coded != named.end();
    joined += plain != named.end() ? plain->second : coded->second;
  }
  if (!encoded) return to_utf8(joined, "utf-8");
  const std::size_t first = joined.find('\''),
                    second = first == std::string::npos ? first : joined.find('\'', first + 1);
  if (second == std::string::npos) return to_utf8(percent_decoded(joined), "utf-8");
  return to_utf8(percent_decoded(std::string_view(joined).substr(second + 1)), joined.substr(0, first));
}

std::string decoded_body(const Part& part, std::string_view body) {
  const std::string* encoding = part.header("Content-Transfer-Encoding");
  const std::string name = encoding ? lower(std::string(trimmed(*encoding))) : "";
  if (name == "base64") return decode_base64(body);
  if (name == "quoted-printable") return decode_quoted_printable(body, false);
  return std::string(body);
}

// The bodies between "--boundary" lines. What stands before the first and after the last is nobody's.
std::vector<std::string_view> split_parts(std::string_view body, const std::string& boundary) {
  std::vector<std::string_view> parts;
  const std::string delimiter = "--" + boundary;
  std::string_view rest = body;
  const char* begin = nullptr;
  while (!rest.empty()) {
    const char* line_start = rest.data();
    const std::string_view line = take_line(rest);
    if (line.substr(0, delimiter.size()) != delimiter) continue;
    const std::string_view tail = trimmed(line.substr(delimiter.size()));
    if (!tail.empty() && tail != "--") continue;
    if (begin) {
      std::string_view part(begin, static_cast<std::size_t>(line_start - begin));
      if (!part.empty() && part.back() == '\n') part.remove_suffix(1);
      if (!part.empty() && part.back() == '\r') part.remove_suffix(1);
      parts.push_back(part);
    }
    begin = rest.data();
    if (tail == "--") return parts;
  }
  // A mail that was cut off ends its last part where it ends itself.
  if (begin) parts.emplace_back(begin, static_cast<std::size_t>(body.data() + body.size() - begin));
  return parts;
}

void read_types(Part& part) {
  if (const std::string* type = part.header("Content-Type")) {
    const Parameters read = read_parameters(*type);
    if (read.value.find('/') != std::string::npos) part.mime_type = to_utf8(read.value, "");
    part.charset = extended(read, "charset");
    part.boundary = extended(read, "boundary");
    part.filename = extended(read, "name");
  }
  if (const std::string* disposition = part.header("Content-Disposition")) {
    const Parameters read = read_parameters(*disposition);
    part.disposition = to_utf8(read.value, "");
    const std::string name = extended(read, "filename");
    if (!name.empty()) part.filename = name;
  }
}

Part parse_part(std::string_view raw, const std::string& id, int depth, std::size_t& budget) {
  Part part;
  part.id = id;
  std::string_view body;
  part.headers = parse_headers(raw, &body);
  for (Header& header : part.headers) header = {to_utf8(header.name, ""), to_utf8(header.value, "utf-8")};
  read_types(part);
  const auto child_id = [&](std::size_t i) { return id.empty() ? std::to_string(i) : id + "." + std::to_string(i); };
  if (part.is_multipart() && !part.boundary.empty() && depth < kMaxDepth) {
    for (const std::string_view child : split_parts(body, part.boundary)) {
      if (budget == 0) break;
      --budget;
      part.parts.push_back(parse_part(child, child_id(part.parts.size()), depth + 1, budget));
    }
    return part;
  }
  part.body = decoded_body(part, body);
  if (part.mime_type == "message/rfc822" && depth < kMaxDepth && budget > 0) {
    --budget;
    part.parts.push_back(parse_part(part.body, child_id(0), depth + 1, budget));
  }
  return part;
}

}  // namespace

bool same_name(std::string_view one, std::string_view other) {
  return one.size() == other.size() && std::equal(one.begin(), one.end(), other.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? a + 32 : a) == (b >= 'A' && b <= 'Z' ? b + 32 : b);
         });
}

const std::string* Part::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (same_name(header.name, name)) return &header.value;
  }
  return nullptr;
}

std::vector<Header> parse_headers(std::string_view raw, std::string_view* body) {
  std::vector<Header> headers;
  while (!raw.empty()) {
    const std::string_view before = raw;
    const std::string_view line = take_line(raw);
    if (line.empty()) break;
    if ((line[0] == ' ' || line[0] == '\t') && !headers.empty()) {
      headers.back().value += " ";
      headers.back().value += trimmed(line);
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      // No header: the body begins here, though no empty line says so.
      raw = before;
      break;
    }
    headers.push_back({std::string(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1)))});
  }
  if (body) *body = raw;
  return headers;
}

namespace {

// Hands on the text between encoded words, and what each of them says.
template <class OnText, class OnWord>
void walk_words(std::string_view value, const OnText& on_text, const OnWord& on_word) {
  bool after_word = false;
  while (!value.empty()) {
    const std::size_t start = value.find("=?");
    const std::string_view plain = value.substr(0, start);
    const std::size_t charset_end = start == std::string_view::npos ? start : value.find('?', start + 2);
    const bool fits =
        charset_end != std::string_view::npos && charset_end + 2 < value.size() && value[charset_end + 2] == '?';
    const std::size_t end = fits ? value.find("?=", charset_end + 3) : std::string_view::npos;
    if (end == std::string_view::npos) break;
    // White space between two encoded words belongs to neither.
    if (!after_word || !trimmed(plain).empty()) on_text(plain);
    const char kind = value[charset_end + 1];
    const std::string_view text = value.substr(charset_end + 3, end - charset_end - 3);
    const std::string bytes = kind == 'B' || kind == 'b' ? decode_base64(text) : decode_quoted_printable(text, true);
    on_word(to_utf8(bytes, value.substr(start + 2, charset_end - start - 2)));
    value.remove_prefix(end + 2);
    after_word = true;
  }
  on_text(value);
}

}  // namespace

std::string decode_words(std::string_view value) {
  std::string out;
  walk_words(
      value, [&](std::string_view text) { out += to_utf8(text, "utf-8"); },
      [&](const std::string& word) { out += word; });
  return out;
}

std::string with_plain_words(std::string_view value) {
  std::string out;
  walk_words(
      value, [&](std::string_view text) { out += text; },
      [&](const std::string& word) {
        std::string text = encode_base64url(word);
        for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
        out += "=?utf-8?B?" + text + "?=";
      });
  return out;
}

Part parse_mail(std::string_view raw) {
  std::size_t budget = kMaxParts;
  return parse_part(raw, "", 0, budget);
}

}  // namespace krux::test::gmail
