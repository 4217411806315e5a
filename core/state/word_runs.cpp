#include "core/state/word_runs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/util/json_texts.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15, kMask = (std::uint64_t{1} << 48) - 1;

enum class Sign { kOfWord, kWhole, kNothing, kBetween };  ///< kWhole: a word by itself

Sign sign_of(std::uint32_t c) {
  const auto within = [c](std::uint32_t low, std::uint32_t high) { return c >= low && c <= high; };
  if (c < 0x80)
    return within('a', 'z') || within('0', '9') ? Sign::kOfWord : c == '\'' ? Sign::kNothing : Sign::kBetween;
  if (c == 0x2019 || c == 0x2018 || c == 0x02bc) return Sign::kNothing;  // as typesetters write the apostrophe
  if (within(0x80, 0xbf) || c == 0xd7 || c == 0xf7 || within(0x2000, 0x2bff) || within(0x3000, 0x3020) ||
      within(0xfe10, 0xfe6f) || within(0xff00, 0xff0f))
    return Sign::kBetween;
  if (within(0x0e00, 0x0eff) || within(0x1000, 0x109f) || within(0x1780, 0x17ff) || within(0x2e80, 0x9fff) ||
      within(0xf900, 0xfaff) || within(0x20000, 0x3ffff))
    return Sign::kWhole;
  return Sign::kOfWord;
}

/// The character that begins there, of valid UTF-8, and its bytes.
std::pair<std::uint32_t, std::size_t> character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const std::uint32_t first = byte(at);
  const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  std::uint32_t c = size == 1 ? first : first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) c = c << 6 | (byte(at + i) & 0x3fU);
  return {c, size};
}

/// Takes words off the front of a folded text.
class Words {
 public:
  explicit Words(std::string_view folded) : text_(folded) {}

  /// The next one; empty: there is none.
  std::string next() {
    std::string word;
    while (at_ < text_.size()) {
      const auto [c, size] = character_at(text_, at_);
      const auto sign = sign_of(c);
      if (sign == Sign::kWhole && !word.empty()) break;
      const auto bytes = text_.substr(at_, size);
      at_ += bytes.size();
      if (sign == Sign::kWhole) return std::string(bytes);
      if (sign == Sign::kOfWord) word += bytes;
      if (sign == Sign::kBetween && !word.empty()) break;
    }
    return word;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// FNV-1a.
std::uint64_t hash_of_word(std::string_view word) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// The hash of eight words from those of the words, the first first: xor alone would not tell their order.
std::uint64_t combined(const std::array<std::uint64_t, kWordsOfRun>& ring, std::size_t first) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < kWordsOfRun; ++i) {
    hash = (hash ^ ring[(first + i) % kWordsOfRun]) * kBase;
    hash ^= hash >> 29;
  }
  return hash & kMask;
}

}  // namespace

void add_runs(WordRuns& runs, std::string_view text, std::size_t most) {
  const auto folded = fold(text);
  Words words(folded);
  std::array<std::uint64_t, kWordsOfRun> ring{};
  std::array<std::size_t, kWordsOfRun> begins{};
  std::size_t count = 0;
  for (auto word = words.next(); !word.empty(); word = words.next()) {
    if (runs.runs.size() >= most) {
      runs.cut = true;
      return;
    }
    if (!runs.words.empty()) runs.words += ' ';
    begins[count % kWordsOfRun] = runs.words.size();
    ring[count % kWordsOfRun] = hash_of_word(word);
    runs.words += word;
    ++count;
    if (count < kWordsOfRun) continue;
    const auto begin = begins[count % kWordsOfRun];
    runs.runs.push_back({combined(ring, count), static_cast<std::uint32_t>(begin),
                         static_cast<std::uint32_t>(runs.words.size() - begin)});
  }
}

void sort_runs(WordRuns& all) {
  auto& runs = all.runs;
  std::stable_sort(runs.begin(), runs.end());
  const auto same = [](const WordRun& a, const WordRun& b) { return a.hash == b.hash; };
  runs.erase(std::unique(runs.begin(), runs.end(), same), runs.end());
}

WordRuns runs_in_json(std::string_view json, std::size_t most) {
  WordRuns runs;
  each_text(json, [&](std::string_view, std::string_view text) { add_runs(runs, undisguised(text), most); });
  sort_runs(runs);
  return runs;
}

WordRuns runs_in(std::string_view text, std::size_t most) {
  WordRuns runs;
  add_runs(runs, text, most);
  sort_runs(runs);
  return runs;
}

}  // namespace krux
