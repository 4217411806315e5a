// What all benchmarks share: one form of row, a directory that goes away, and an end when an answer is wrong.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace krux::bench {

/// Says so and ends the program with 1: no figure of wrong answers is printed. Any thread.
[[noreturn]] void wrong(const std::string& what);

/// A new directory below TMPDIR, removed with everything in it when the program ends. Call it once.
std::filesystem::path scratch_directory();

double now_s();
double median(std::vector<double> values);
/// In which their distribution's median lies with 95 %, whatever distribution that is: of 11 values the second and the
/// tenth. Fewer than six cannot say that much; then it is the least and the largest.
std::pair<double, double> interval_of(std::vector<double> values);

/// Pairs of figures measured in turn: what disturbs one of a pair mostly disturbs the other.
class Rounds {
 public:
  /// As many as give an interval worth its name; who measures for minutes takes fewer, and the row says how many.
  static constexpr int kPairs = 11;

  void add(double ours, double baseline);
  double ours() const { return median(ours_); }
  double baseline() const { return median(baseline_); }
  double ratio() const { return median(ratios_); }  ///< the median of the pairs' ratios
  std::pair<double, double> interval() const { return interval_of(ratios_); }
  std::size_t pairs() const { return ratios_.size(); }

 private:
  std::vector<double> ours_, baseline_, ratios_;
};

// Rows: what, ours, baseline, ratio with its interval, target, and whether the ratio reaches it.
void print_header();
/// Rates a second: ours are to reach `target` (0.9 for 90 %) of the baseline's.
void print_rates(const std::string& what, const Rounds& rounds, double target);
/// Times: ours may be at most `target` times the baseline's.
void print_times(const std::string& what, const Rounds& rounds, const std::string& unit, double target);
/// Without a baseline: at most `bound`.
void print_bound(const std::string& what, double ours, const std::string& unit, double bound);
/// The median of several, with its interval, as that of a ratio.
void print_bound(const std::string& what, const std::vector<double>& ours, const std::string& unit, double bound);
/// Without a target.
void print_figure(const std::string& what, double ours, const std::string& unit,
                  std::optional<double> baseline = std::nullopt);

}  // namespace krux::bench
