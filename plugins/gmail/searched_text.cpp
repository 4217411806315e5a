#include "searched_text.hpp"

#include <stdlib.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "mail/utf8.hpp"

namespace gmail {
namespace {

// The private area, U+E000 to U+F8FF: a range for each hidden text, then marks, whose first character is of another
// range than the others, so that one mark does not begin within another.
constexpr std::uint32_t kPrivateFirst = 0xE000, kPrivateLast = 0xF8FF;
constexpr std::uint32_t kHiddenRange = 0x100;
constexpr std::uint32_t kMarkFirst = 0xE800, kMarkRest = 0xEC00;

void append(std::string& out, std::uint32_t c) {
  out += static_cast<char>(0xE0 | (c >> 12));
  out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
  out += static_cast<char>(0x80 | (c & 0x3F));
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash ^ (hash >> 29);
}

bool is_private(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size()) return false;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto c = (byte(at) & 0x0Fu) << 12 | (byte(at + 1) & 0x3Fu) << 6 | (byte(at + 2) & 0x3Fu);
  return (byte(at) & 0xF0) == 0xE0 && c >= kPrivateFirst && c <= kPrivateLast;
}

std::string in_range(Hidden range, std::string_view bytes) {
  std::string out;
  out.reserve(3 * bytes.size());
  const auto base = kPrivateFirst + kHiddenRange * static_cast<std::uint32_t>(range);
  for (const char c : bytes) append(out, base + static_cast<unsigned char>(c));
  return out;
}

// Bytes that no UTF-8 has.
constexpr std::string_view kBetween = "\xff";
constexpr std::string_view kOfAddresses = "@.<>", kOfNames = "\xfe\xfd\xfc\xfb";

std::string name_key(std::string_view name) {
  auto key = folded(plain(name));
  for (char& c : key) {
    if (const auto at = kOfAddresses.find(c); at != std::string_view::npos) c = kOfNames[at];
  }
  return key;
}

/// Letters of other scripts stay as they are: what looks alike is another address.
std::string address_key(std::string_view address) {
  auto key = lower_ascii(plain(address));
  for (char& c : key) {
    if (c == '<' || c == '>') c = kOfNames[kOfAddresses.find(c)];
  }
  return key;
}

}  // namespace

std::string plain(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (is_private(text, at)) {
      at += 3;
      continue;
    }
    if (text[at] != '\x1f') out += text[at];
    ++at;
  }
  return out;
}

std::string folded(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return lower_ascii(text);
  std::string out(text);
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD);
  // Twice: folding may leave a sequence that is no longer normalized.
  for (int round = 0; round < 2; ++round) {
    utf8proc_uint8_t* result = nullptr;
    const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(out.data()),
                                static_cast<utf8proc_ssize_t>(out.size()), &result, options);
    const std::unique_ptr<utf8proc_uint8_t, decltype(&free)> owned(n >= 0 ? result : nullptr, &free);
    if (n < 0) break;
    out.assign(reinterpret_cast<const char*>(result), static_cast<std::size_t>(n));
  }
  return out;
}

std::string mark(std::string_view id) {
  const auto hash = fnv1a(id);
  std::string out;
  append(out, kMarkFirst + static_cast<std::uint32_t>(hash & 0x3FF));
  for (int shift = 10; shift <= 32; shift += 11) {
    append(out, kMarkRest + static_cast<std::uint32_t>((hash >> shift) & 0x7FF));
  }
  return out;
}

std::string lacking(std::string_view label_id) {
  const auto* const end = std::end(kMarkedAsLacking);
  return std::find(std::begin(kMarkedAsLacking), end, label_id) == end ? "" : "/not-" + std::string(label_id);
}

std::string hidden(Hidden range, std::string_view text) {
  return in_range(range, folded(plain(text)));
}

std::string hidden_people(Hidden range, const std::vector<MailAddress>& people) {
  std::string out;
  for (const auto& one : people) out += hidden_person(range, one.name, one.address) + in_range(range, kBetween);
  return out;
}

std::string hidden_name(Hidden range, std::string_view part) {
  return in_range(range, name_key(part));
}

std::string hidden_address(Hidden range, std::string_view part, Anchor anchor) {
  const auto key = address_key(part);
  return in_range(range, (anchor == Anchor::kWhole ? "<" : "") + key + (anchor == Anchor::kNone ? "" : ">"));
}

std::string hidden_person(Hidden range, std::string_view name, std::string_view address) {
  return in_range(range, name_key(name)) + hidden_address(range, address, Anchor::kWhole);
}

}  // namespace gmail
