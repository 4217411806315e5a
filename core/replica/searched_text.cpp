#include "core/replica/searched_text.hpp"

#include <algorithm>

#include "core/replica/replica_limits.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr char kSeparator = '\x1f';

// A range for each named text, then those of tags. A tag's first character is of another range than the three behind
// it: no tag begins within another one, and none where two stand side by side.
constexpr std::uint32_t kPrivateFirst = 0xE000, kPrivateLast = 0xF8FF;
constexpr std::uint32_t kTextRange = 0x100;
constexpr std::uint32_t kTagFirst = 0xF000, kTagRest = 0xF100;
constexpr int kFirstBits = 8, kRestBits = 11;
static_assert(kPrivateFirst + replica_limits::kMostNamedTexts * kTextRange <= kTagFirst);
static_assert(kTagFirst + (1u << kFirstBits) <= kTagRest && kTagRest + (1u << kRestBits) - 1 <= kPrivateLast);
static_assert(kFirstBits + 3 * kRestBits == kTagNumberBits);

/// A character of the private area: three bytes.
void append_private(std::string& out, std::uint32_t c) {
  out += static_cast<char>(0xE0 | (c >> 12));
  out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
  out += static_cast<char>(0x80 | (c & 0x3F));
}

/// 0xEE begins U+E000 to U+EFFF, 0xEF all from U+F000 to U+FFFF.
bool is_private(std::string_view text, std::size_t at) {
  if (text[at] == '\xEE') return true;
  return text[at] == '\xEF' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) <= 0xA3;
}

/// Of valid UTF-8.
std::string without_private(std::string_view text) {
  constexpr std::string_view begins = "\xEE\xEF";
  if (text.find(begins[0]) == std::string_view::npos && text.find(begins[1]) == std::string_view::npos)
    return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto next = std::min(text.find_first_of(begins, at), text.size());
    out += text.substr(at, next - at);
    if (next == text.size()) break;
    const auto end = std::min(next + 3, text.size());
    if (!is_private(text, next)) out += text.substr(next, end - next);
    at = end;
  }
  return out;
}

std::string in_range_of(std::size_t index, std::string_view bytes) {
  std::string out;
  out.reserve(3 * bytes.size());
  const auto base = kPrivateFirst + kTextRange * static_cast<std::uint32_t>(index);
  for (const char c : bytes) append_private(out, base + static_cast<unsigned char>(c));
  return out;
}

std::string named_text(std::string_view value, const CollectionSpec& spec, std::size_t index) {
  return in_range_of(index, spec.texts[index].exact ? std::string(value) : fold(without_private(value)));
}

/// A part of which nothing is left stands in no text, other than the empty one.
std::string or_nowhere(std::string part, bool was_empty) {
  return part.empty() && !was_empty ? tag_gram(kNoTag) : part;
}

}  // namespace

void SearchedText::leave_out_accents() {
  const auto own = without_accents(std::string_view(all).substr(0, own_bytes));
  all = own + without_accents(std::string_view(all).substr(own_bytes));
  own_bytes = own.size();
}

void SearchedText::set_own(const std::string& own) {
  all.replace(0, own_bytes, own);
  own_bytes = own.size();
}

void SearchedText::set_kept(const std::string& kept) {
  all.resize(own_bytes);
  if (!kept.empty()) all += kSeparator + kept;
}

std::string own_searched_text(const Record& record, const CollectionSpec& spec,
                              const std::function<std::int64_t(const std::string&)>& number_of) {
  auto text = searched_text(record.text, spec);
  for (const auto& tag : record.tags) text += kSeparator + tag_gram(number_of(tag));
  for (std::size_t i = 0; i < spec.texts.size(); ++i) {
    for (const auto& [name, value] : record.texts) {
      if (name == spec.texts[i].name) text += kSeparator + named_text(value, spec, i);
    }
  }
  return text;
}

std::string searched_text(std::string_view text, const CollectionSpec& spec) {
  return without_accents(spec.has_tags_or_texts() ? fold(without_private(text), true) : fold(text, true));
}

std::string searched_part(std::string_view part, const CollectionSpec& spec) {
  return or_nowhere(without_accents(accented_part(part, spec)), part.empty() || !spec.has_tags_or_texts());
}

std::string accented_part(std::string_view part, const CollectionSpec& spec) {
  return spec.has_tags_or_texts() ? or_nowhere(fold(without_private(part)), part.empty()) : fold(part);
}

std::string tag_gram(std::int64_t number) {
  auto left = static_cast<std::uint64_t>(number);
  std::string out;
  append_private(out, kTagFirst + static_cast<std::uint32_t>(left & ((1u << kFirstBits) - 1)));
  left >>= kFirstBits;
  for (int i = 0; i < 3; ++i, left >>= kRestBits)
    append_private(out, kTagRest + static_cast<std::uint32_t>(left & ((1u << kRestBits) - 1)));
  return out;
}

std::string named_text_part(std::string_view part, const CollectionSpec& spec, std::size_t index) {
  return or_nowhere(named_text(part, spec, index), part.empty());
}

}  // namespace krux
