#include "core/policy/analysis/text_samples.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/policy/analysis/samples.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// Of what is not ASCII.
std::string utf8(std::uint32_t c) {
  const auto low = [](std::uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), low(c)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), low(c >> 6), low(c)};
  return {static_cast<char>(0xf0 | c >> 18), low(c >> 12), low(c >> 6), low(c)};
}

struct Span {
  std::int64_t least, most;
};

/// Lengths that no question tells apart.
std::vector<Span> spans_of(const TextMarks& marks) {
  std::set<std::int64_t> begins(marks.from_bytes.begin(), marks.from_bytes.end());
  begins.insert(0);
  std::vector<Span> spans;
  const auto end = std::numeric_limits<std::int64_t>::max();
  for (const auto begin : begins) {
    if (begin < 0) continue;
    if (!spans.empty()) spans.back().most = begin - 1;
    spans.push_back({begin, end});
  }
  return spans;
}

/// Between a beginning and an end: characters that no question has, so that nothing longer begins or ends there.
class Filling {
 public:
  explicit Filling(const TextMarks& marks) {
    auto all = marks.whole;
    all.insert(all.end(), marks.prefixes.begin(), marks.prefixes.end());
    all.insert(all.end(), marks.suffixes.begin(), marks.suffixes.end());
    for (std::size_t i = 0; i < 4; ++i) of_size_[i] = unused_character(i + 1, all);
  }
  /// `count` characters in so many bytes; count <= bytes <= 4 * count.
  std::string of(std::int64_t count, std::int64_t bytes) const {
    std::string text;
    for (auto more = bytes - count; more > 0; --count) {
      const auto extra = std::min<std::int64_t>(more, 3);
      text += of_size_[static_cast<std::size_t>(extra)];
      more -= extra;
    }
    return text.append(static_cast<std::size_t>(count), of_size_[0].front());
  }

 private:
  std::array<std::string, 4> of_size_;
};

/// The shortest text within span and bounds that begins so, ends so, and has something else between.
std::optional<std::string> filled(const std::string& prefix, const std::string& suffix, Span span,
                                  const TextMarks& marks, const Filling& filling) {
  const auto bytes = static_cast<std::int64_t>(prefix.size() + suffix.size());
  const auto points = static_cast<std::int64_t>(code_points(prefix) + code_points(suffix));
  const auto least = std::max<std::int64_t>(1, static_cast<std::int64_t>(marks.min_length) - points);
  const auto most = static_cast<std::int64_t>(marks.max_length) - points;
  const auto size = std::max(span.least - bytes, least);
  if (most < least || size > 4 * most || bytes + size > span.most) return std::nullopt;
  return prefix + filling.of(std::min(size, most), size) + suffix;
}

/// Those in which nothing stands between, or in which beginning and end share bytes.
void add_joined(const std::string& prefix, const std::string& suffix, const std::function<void(std::string)>& add) {
  for (std::size_t shared = 0; shared <= std::min(prefix.size(), suffix.size()); ++shared) {
    if (prefix.compare(prefix.size() - shared, shared, suffix, 0, shared) == 0) add(prefix + suffix.substr(shared));
  }
}

}  // namespace

std::string unused_character(std::size_t bytes, const std::vector<std::string>& texts) {
  static constexpr std::string_view kOfOne =
      "0123456789abcdefghijklmnopqrstuvwxyz_.-~+=!?#$%&@:;,/|^`'()<>[]{}*\\\"ABCDEFGHIJKLMNOPQRSTUVWXYZ ";
  static constexpr std::array<std::uint32_t, 4> begin{0, 0x100, 0x4e00, 0x20000},
      end{kOfOne.size(), 0x800, 0xa000, 0x2a000};
  for (auto c = begin.at(bytes - 1); c < end.at(bytes - 1); ++c) {
    auto text = bytes == 1 ? std::string(1, kOfOne[c]) : utf8(c);
    const auto has = [&](const std::string& one) { return one.find(text) != std::string::npos; };
    if (std::none_of(texts.begin(), texts.end(), has)) return text;
  }
  throw TooManyCases("the texts that are asked about have every character that could stand between them");
}

std::vector<std::string> text_samples(const TextMarks& marks) {
  std::set<std::string> samples;
  SampleBudget budget("texts that begin and end as conditions ask");
  const auto add = [&](std::string text) {
    budget.take(text.size());
    samples.insert(std::move(text));
  };
  for (const auto& whole : marks.whole) add(whole);
  auto prefixes = marks.prefixes, suffixes = marks.suffixes;
  prefixes.emplace_back();
  suffixes.emplace_back();
  const auto spans = spans_of(marks);
  const Filling filling(marks);
  for (const auto& prefix : prefixes) {
    for (const auto& suffix : suffixes) {
      add_joined(prefix, suffix, add);
      for (const auto& span : spans) {
        if (auto text = filled(prefix, suffix, span, marks, filling)) add(*std::move(text));
      }
    }
  }
  return {samples.begin(), samples.end()};
}

}  // namespace krux
