#include "core/state/word_runs.hpp"

#include <algorithm>
#include <array>

#include "core/util/json_texts.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15, kMask = (std::uint64_t{1} << 48) - 1;

/// Letters and digits of ASCII, and everything beyond it: signs there are taken for letters.
bool is_of_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || byte >= 0x80;
}

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
  std::array<std::uint64_t, kWordsOfRun> ring{};
  std::array<std::size_t, kWordsOfRun> begins{};
  std::size_t count = 0;
  for (std::size_t from = 0; from < folded.size() && runs.runs.size() < most;) {
    if (!is_of_word(folded[from])) {
      ++from;
      continue;
    }
    auto to = from;
    while (to < folded.size() && is_of_word(folded[to])) ++to;
    const auto word = std::string_view(folded).substr(from, to - from);
    if (!runs.words.empty()) runs.words += ' ';
    begins[count % kWordsOfRun] = runs.words.size();
    ring[count % kWordsOfRun] = hash_of_word(word);
    runs.words += word;
    ++count;
    from = to;
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
