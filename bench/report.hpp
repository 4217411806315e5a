// What all benchmarks share: one form of row, a directory that goes away, and an end when an answer is wrong.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace krux::bench {

/// Says so and ends the program with 1: no figure of wrong answers is printed. Any thread.
[[noreturn]] void wrong(const std::string& what);

/// A new directory below TMPDIR, removed with everything in it when the program ends. Call it once.
std::filesystem::path scratch_directory();

double now_s();
double median(std::vector<double> values);

/// Pairs of figures measured in turn.
class Rounds {
 public:
  void add(double ours, double baseline);
  double ours() const { return median(ours_); }
  double baseline() const { return median(baseline_); }
  double ratio() const { return median(ratios_); }  ///< the median of the pairs' ratios

 private:
  std::vector<double> ours_, baseline_, ratios_;
};

// Rows: what, ours, baseline, ratio, target, and whether the target is reached.
void print_header();
/// Rates a second: ours are to reach `target` (0.9 for 90 %) of the baseline's.
void print_rates(const std::string& what, const Rounds& rounds, double target);
/// Times: ours may be at most `target` times the baseline's.
void print_times(const std::string& what, const Rounds& rounds, const std::string& unit, double target);
/// Without a baseline: at most `bound`.
void print_bound(const std::string& what, double ours, const std::string& unit, double bound);
/// Without a target.
void print_figure(const std::string& what, double ours, const std::string& unit);

}  // namespace krux::bench
