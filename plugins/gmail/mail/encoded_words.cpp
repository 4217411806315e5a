#include "encoded_words.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "charset.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string from_q(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '=' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : hex_value(text[i + 2]);
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '_' ? ' ' : text[i];
    }
  }
  return out;
}

struct Word {
  std::string_view charset, payload;
  bool is_base64 = false;
  std::size_t end = 0;
};

/// The word that begins at `at`, if one does.
std::optional<Word> word_at(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "=?") return std::nullopt;
  const auto first = text.find('?', at + 2);
  if (first == std::string_view::npos || first == at + 2 || first - at > 60) return std::nullopt;
  const auto second = first + 2;
  if (second >= text.size() || text[second] != '?') return std::nullopt;
  const char encoding = text[first + 1];
  const bool base64 = encoding == 'B' || encoding == 'b';
  if (!base64 && encoding != 'Q' && encoding != 'q') return std::nullopt;
  const auto end = text.find("?=", second + 1);
  if (end == std::string_view::npos) return std::nullopt;
  Word word;
  word.charset = text.substr(at + 2, first - at - 2);
  word.charset = word.charset.substr(0, word.charset.find('*'));
  word.payload = text.substr(second + 1, end - second - 1);
  word.is_base64 = base64;
  word.end = end + 2;
  return word;
}

bool same_kind(const Word& a, const Word& b) {
  return a.is_base64 == b.is_base64 && a.charset == b.charset;
}

/// Decodes the run of words that begins at `at`, which moves behind it. Words of one kind are one text: a character may
/// begin in one and end in the next.
std::string run(std::string_view text, std::size_t& at, Word word) {
  std::string out, payload(word.payload);
  const auto flush = [&] {
    bool known = true;
    out += to_utf8(word.is_base64 ? from_base64(payload) : from_q(payload), word.charset, known);
  };
  for (;;) {
    at = word.end;
    auto next = at;
    while (next < text.size() && is_blank(text[next])) ++next;
    const auto following = word_at(text, next);
    if (!following) break;
    if (!same_kind(word, *following)) {
      flush();
      payload.clear();
    }
    word = *following;
    payload += word.payload;
  }
  flush();
  return out;
}

template <class OnText, class OnRun>
void walk(std::string_view value, const OnText& on_text, const OnRun& on_run) {
  std::size_t from = 0;
  for (std::size_t at = value.find("=?"); at != std::string_view::npos; at = value.find("=?", at)) {
    const auto word = word_at(value, at);
    if (!word) {
      at += 2;
      continue;
    }
    on_text(value.substr(from, at - from));
    on_run(run(value, at, *word));
    from = at;
  }
  on_text(value.substr(from));
}

std::string plain(std::string_view text) {
  bool known = true;
  return to_utf8(text, "", known);
}

}  // namespace

std::size_t unfinished_word(std::string_view text) {
  for (std::size_t at = text.find("=?"); at != std::string_view::npos; at = text.find("=?", at)) {
    const auto word = word_at(text, at);
    if (!word && text.find("?=", at + 2) == std::string_view::npos) return at;
    at = word ? word->end : at + 2;
  }
  return text.size();
}

std::string from_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = base64_value(c);
    if (c == '=') count = 0;
    if (value < 0) continue;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU);
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8U | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (unsigned j = 0; j < 4; ++j) out += kLetters[bits >> (18 - 6 * j) & 63U];
  }
  for (auto missing = (3 - bytes.size() % 3) % 3; missing > 0; --missing) out[out.size() - missing] = '=';
  return out;
}

std::string literal_words(std::string_view text) {
  if (text.find("=?") == std::string_view::npos) return std::string(text);
  // A word has 75 characters at most, and holds whole characters.
  constexpr std::size_t kMostBytes = 45;
  std::string out;
  while (!text.empty()) {
    std::string piece(text.substr(0, kMostBytes + 1));
    cut_text(piece, kMostBytes);
    text.remove_prefix(piece.size());
    out += (out.empty() ? "=?utf-8?B?" : " =?utf-8?B?") + base64(piece) + "?=";
  }
  return out;
}

std::string decode_words(std::string_view value) {
  std::string out;
  walk(
      value, [&](std::string_view text) { out += plain(text); }, [&](const std::string& text) { out += text; });
  return out;
}

std::string normal_words(std::string_view value) {
  std::string out;
  walk(
      value, [&](std::string_view text) { out += plain(text); },
      [&](const std::string& text) { out += "=?utf-8?B?" + base64(text) + "?="; });
  return out;
}

}  // namespace gmail
