// Lists that stand for all lists, where what is asked holds as soon as it holds of one entry, and where their length
// counts.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace krux {

/// What an entry answers to each question, and one such entry.
struct SampleEntry {
  std::vector<bool> answers;
  std::string value;
};

struct ListMarks {
  std::vector<std::int64_t> from_entries;  ///< lengths at which an answer changes
  std::int64_t min_length = 0, max_length = 1 << 20;
};

/// For each list of such entries within the bounds there is one among these that answers the same. Throws TooManyCases.
std::vector<std::vector<std::string>> list_samples(const std::vector<SampleEntry>& entries, const ListMarks& marks);

}  // namespace krux
