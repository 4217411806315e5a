#include "mending.hpp"

#include <algorithm>
#include <vector>

#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::string_view kType = "content-type";

std::string_view line_at(std::string_view raw, std::size_t at) {
  return raw.substr(at, std::min(raw.find('\n', at), raw.size() - 1) + 1 - at);
}

bool is_empty_line(std::string_view line) {
  return line == "\n" || line == "\r\n";
}

bool is_field(std::string_view line) {
  const auto colon = line.find_first_not_of(
      "!#$%&'*+-./0123456789;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~\"(),\\");
  return colon != std::string_view::npos && colon > 0 && line[colon] == ':';
}

bool is_type(std::string_view line) {
  return line.size() > kType.size() && line[kType.size()] == ':' && same_ascii(line.substr(0, kType.size()), kType);
}

/// The header that begins at `at`: where it ends, and the Content-Types behind the first.
std::size_t read_header(std::string_view raw, std::size_t at, std::vector<std::size_t>& doubles) {
  bool has_type = false;
  while (at < raw.size()) {
    const auto line = line_at(raw, at);
    if (is_empty_line(line) || line.starts_with("--")) break;
    if (is_type(line)) {
      if (has_type) doubles.push_back(at);
      has_type = true;
    }
    at += line.size();
  }
  return at;
}

/// Where the text begins though no empty line says so; the mail's size where one does.
std::size_t unmarked_text(std::string_view raw) {
  std::size_t from = raw.size();
  for (std::size_t at = 0; at < raw.size();) {
    const auto line = line_at(raw, at);
    if (is_empty_line(line)) break;
    const bool goes_on = line[0] == ' ' || line[0] == '\t';
    if (is_field(line)) {
      from = raw.size();
    } else if (!goes_on && from == raw.size() && at > 0 && !line.starts_with("From ") && !line.starts_with(">From ")) {
      from = at;
    }
    at += line.size();
  }
  return from;
}

}  // namespace

Mending mended(std::string_view raw) {
  std::vector<std::size_t> doubles;
  const auto text = unmarked_text(raw);
  for (auto at = std::min(read_header(raw, 0, doubles), raw.size()); at < raw.size();) {
    const auto line = line_at(raw, at);
    at += line.size();
    if (line.starts_with("--")) at = read_header(raw, at, doubles);
  }
  Mending out;
  out.had_two_types = !doubles.empty();
  out.had_no_blank_line = text < raw.size();
  if (!out.had_two_types && !out.had_no_blank_line) return out;
  out.mail = raw;
  for (const auto at : doubles) out.mail[at] = 'X';
  if (out.had_no_blank_line) out.mail.insert(text, 1, '\n');
  return out;
}

}  // namespace gmail
