// Texts with one control character each, at every place that a JSON writer with vector instructions treats apart.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace krux::test {

/// What is wrong with `literal` as `text` written in JSON; empty: nothing. RFC 8259 by hand: a parser that shares the
/// writer's mistake would not see it.
inline std::string literal_problem(std::string_view literal, std::string_view text) {
  if (literal.size() < 2 || literal.front() != '"' || literal.back() != '"') return "it has no quotes";
  literal = literal.substr(1, literal.size() - 2);
  std::string read;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    const char c = literal[i];
    if (static_cast<unsigned char>(c) < 0x20 || c == '"') return "a character stands there raw";
    if (c != '\\') {
      read += c;
      continue;
    }
    constexpr std::string_view names = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    const char escape = ++i < literal.size() ? literal[i] : '?';
    if (const auto at = names.find(escape); at != std::string_view::npos) {
      read += meant[at];
    } else if (escape == 'u' && i + 4 < literal.size() && literal.substr(i + 1, 2) == "00") {
      read += static_cast<char>(std::stoi(std::string(literal.substr(i + 3, 2)), nullptr, 16));
      i += 4;
    } else {
      return "an escape is none";
    }
  }
  return read == text ? "" : "it says something else";
}

/// What `write(text)`, which gives a JSON string, does wrong first: with each character from 0x00 to 0x1f, a quote and
/// a backslash, in 1 to 64 letters that begin at each place within 16 bytes; empty: nothing.
template <class Write>
std::string control_problem(Write write) {
  alignas(16) std::array<char, 16 + 64> buffer{};
  std::string problem;
  const auto look = [&](std::size_t offset, std::size_t length, std::size_t at, char c) {
    buffer.fill('a');
    buffer[offset + at] = c;
    const std::string_view text(buffer.data() + offset, length);
    const auto why = literal_problem(write(text), text);
    if (why.empty() || !problem.empty()) return;
    problem = "character " + std::to_string(c) + " at " + std::to_string(at) + " of " + std::to_string(length) +
              " letters, " + std::to_string(offset) + " behind an address divided by 16: " + why;
  };
  std::string characters = "\"\\";
  for (char c = 0; c < 0x20; ++c) characters += c;
  for (const char c : characters) {
    for (std::size_t offset = 0; offset < 16; ++offset) {
      for (std::size_t length = 1; length <= 64; ++length) look(offset, length, length / 2, c);
      for (std::size_t at = 0; at < 64; ++at) look(offset, 64, at, c);
    }
  }
  return problem;
}

}  // namespace krux::test
