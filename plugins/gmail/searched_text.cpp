#include "searched_text.hpp"

#include <stdlib.h>
#include <utf8proc.h>

#include <algorithm>
#include <memory>

#include "mail/utf8.hpp"

namespace gmail {
namespace {

// Control characters, which are taken out of names and addresses before.
constexpr std::string_view kOfAddresses = "@.<>", kOfNames = "\x01\x02\x03\x04";

std::string without_kept_characters(std::string_view text) {
  std::string out(text);
  std::erase_if(out, [](char c) { return kOfNames.find(c) != std::string_view::npos; });
  return out;
}

/// Letters of other scripts stay as they are: what looks alike is another address.
std::string address_key(std::string_view address) {
  auto key = lower_ascii(without_kept_characters(address));
  for (char& c : key) {
    if (c == '<' || c == '>') c = kOfNames[kOfAddresses.find(c)];
  }
  return key;
}

}  // namespace

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

std::string lacking(std::string_view label_id) {
  const auto* const end = std::end(kTaggedAsLacking);
  return std::find(std::begin(kTaggedAsLacking), end, label_id) == end ? "" : "/not-" + std::string(label_id);
}

std::string name_text(std::string_view part) {
  auto key = folded(without_kept_characters(part));
  for (char& c : key) {
    if (const auto at = kOfAddresses.find(c); at != std::string_view::npos) c = kOfNames[at];
  }
  return key;
}

std::string address_text(std::string_view part, Anchor anchor) {
  return (anchor == Anchor::kWhole ? "<" : "") + address_key(part) + (anchor == Anchor::kNone ? "" : ">");
}

std::string person_text(std::string_view name, std::string_view address) {
  return name_text(name) + address_text(address, Anchor::kWhole);
}

}  // namespace gmail
