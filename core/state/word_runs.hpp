// Every eight words in a row of a text, as hashes: by them the same words are found again wherever they stand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krux {

inline constexpr std::size_t kWordsOfRun = 8;

struct WordRun {
  std::uint64_t hash = 0;          ///< 48 bits; the same on every machine and in every version
  std::uint32_t at = 0, size = 0;  ///< in the words that it was taken from
  bool operator<(const WordRun& other) const { return hash < other.hash; }
};

struct WordRuns {
  std::string words;          ///< folded, one blank between two; of several texts one after the other
  std::vector<WordRun> runs;  ///< by hash, each once; none goes over the end of a text
  bool cut = false;           ///< there were more than were taken

  std::string_view text_of(const WordRun& run) const { return std::string_view(words).substr(run.at, run.size); }
};

/// A word is what stands between blanks, punctuation and other signs, whatever its case and form, and without
/// apostrophes; of writing that has no blanks (Chinese, Japanese, Thai) each character is one. At most `most` runs.
void add_runs(WordRuns& runs, std::string_view text, std::size_t most);
/// By hash, each once: after the last text.
void sort_runs(WordRuns& runs);

/// Those of the texts of a JSON document that is known to be valid.
WordRuns runs_in_json(std::string_view json, std::size_t most);
WordRuns runs_in(std::string_view text, std::size_t most);

}  // namespace krux
