#include "core/policy/analysis/lists.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "core/policy/analysis/samples.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostUnions = 4096;

using Answers = std::vector<bool>;

Answers joined(Answers a, const Answers& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}

/// Each set of answers that entries can give together, with the fewest entries that do.
std::map<Answers, std::vector<std::string>> unions_of(const std::vector<SampleEntry>& entries) {
  std::map<Answers, std::vector<std::string>> found;
  std::deque<Answers> open;
  const auto reach = [&](const Answers& answers, const std::vector<std::string>& list) {
    if (!found.try_emplace(answers, list).second) return;
    if (found.size() > kMostUnions) throw TooManyCases("conditions over the entries of one list are too many");
    open.push_back(answers);
  };
  for (const auto& entry : entries) reach(entry.answers, {entry.value});
  while (!open.empty()) {  // breadth first: what is found is found with the fewest
    const auto answers = open.front();
    open.pop_front();
    for (const auto& entry : entries) {
      auto list = found.at(answers);
      list.push_back(entry.value);
      reach(joined(answers, entry.answers), list);
    }
  }
  return found;
}

std::set<std::int64_t> lengths_of(const ListMarks& marks) {
  std::set<std::int64_t> lengths{marks.min_length};
  for (const auto from : marks.from_entries) {
    for (const auto length : {from - 1, from}) lengths.insert(length);
  }
  std::erase_if(lengths, [&](std::int64_t l) { return l < marks.min_length || l > marks.max_length; });
  return lengths;
}

/// What the list itself needs of an entry.
constexpr std::size_t kEntryBytes = sizeof(std::string);

/// With that.
std::size_t list_bytes(const std::vector<std::string>& list) {
  return std::accumulate(list.begin(), list.end(), std::size_t{0},
                         [](std::size_t sum, const std::string& entry) { return sum + kEntryBytes + entry.size(); });
}

}  // namespace

std::vector<std::vector<std::string>> list_samples(const std::vector<SampleEntry>& entries, const ListMarks& marks) {
  std::vector<std::vector<std::string>> samples;
  SampleBudget budget("lists of the lengths that conditions ask about");
  if (marks.min_length <= 0) samples.emplace_back();
  for (const auto& [answers, fewest] : unions_of(entries)) {
    auto lengths = lengths_of(marks);
    lengths.insert(static_cast<std::int64_t>(fewest.size()));
    // The shortest repeats where more are wanted.
    const auto& filling = *std::min_element(fewest.begin(), fewest.end(),
                                            [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (const auto length : lengths) {
      if (length < static_cast<std::int64_t>(fewest.size()) || length > marks.max_length) continue;
      const auto more = static_cast<std::size_t>(length) - fewest.size();
      budget.take(list_bytes(fewest) + more * list_bytes({filling}));
      auto list = fewest;
      list.resize(fewest.size() + more, filling);
      samples.push_back(std::move(list));
    }
  }
  return samples;
}

}  // namespace krux
