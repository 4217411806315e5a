#include "bench/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace krux::bench {
namespace {

std::filesystem::path& scratch() {
  static std::filesystem::path directory;
  return directory;
}

void remove_scratch() {
  std::error_code ignored;
  if (!scratch().empty()) std::filesystem::remove_all(scratch(), ignored);
}

std::string figure(double value, const std::string& unit) {
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

void print_row(const std::string& what, const std::string& ours, const std::string& baseline, const std::string& ratio,
               const std::string& target, const char* verdict) {
  fmt::print("{:<64} {:>13} {:>13}  {:<26} {:<15} {}\n", what, ours, baseline, ratio, target, verdict);
  std::fflush(stdout);
}

/// "78 % [75, 81]", and of how many pairs where these are not as many as usual.
std::string ratio_text(const Rounds& rounds, double times, int digits, const char* unit) {
  const auto [low, high] = rounds.interval();
  const auto few = rounds.pairs() == Rounds::kPairs ? std::string()
                   : rounds.pairs() == 1            ? std::string(", 1 pair")
                                                    : fmt::format(", {} pairs", rounds.pairs());
  if (rounds.pairs() == 1) return fmt::format("{:.{}f} {}{}", rounds.ratio() * times, digits, unit, few);
  return fmt::format("{:.{}f} {} [{:.{}f}, {:.{}f}]{}", rounds.ratio() * times, digits, unit, low * times, digits,
                     high * times, digits, few);
}

}  // namespace

void wrong(const std::string& what) {
  fmt::print(stderr, "wrong: {}\n", what);
  remove_scratch();
  std::_Exit(1);  // other threads may be at work: nothing is torn down below them
}

std::filesystem::path scratch_directory() {
  auto pattern = (std::filesystem::temp_directory_path() / "bench-XXXXXX").string();
  if (!mkdtemp(pattern.data())) wrong("no directory can be made in " + pattern);
  scratch() = pattern;
  std::atexit(remove_scratch);
  return scratch();
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Rounds::add(double ours, double baseline) {
  ours_.push_back(ours);
  baseline_.push_back(baseline);
  ratios_.push_back(ours / baseline);
}

std::pair<double, double> interval_of(std::vector<double> sorted) {
  if (sorted.empty()) return {0, 0};
  std::sort(sorted.begin(), sorted.end());
  // The median is below the k-th smallest, or above the k-th largest, with the chance that of n coins fewer than k fall
  // on one side. The largest k for which that is at most 5 %.
  const auto n = sorted.size();
  double ways = 1, fewer = 0;
  std::size_t k = 0;
  for (; 2 * (fewer + ways) <= 0.05 * std::pow(2, n); ways *= static_cast<double>(n - k + 1) / static_cast<double>(k)) {
    fewer += ways;
    ++k;
  }
  k = std::max<std::size_t>(k, 1);
  return {sorted[k - 1], sorted[n - k]};
}

void print_header() {
  print_row("", "ours", "baseline", "ratio", "target", "");
}

void print_rates(const std::string& what, const Rounds& rounds, double target) {
  print_row(what, figure(rounds.ours(), "/s"), figure(rounds.baseline(), "/s"), ratio_text(rounds, 100, 0, "%"),
            fmt::format("at least {:.0f} %", target * 100), rounds.ratio() >= target ? "ok" : "below");
}

void print_times(const std::string& what, const Rounds& rounds, const std::string& unit, double target) {
  print_row(what, figure(rounds.ours(), unit), figure(rounds.baseline(), unit), ratio_text(rounds, 1, 2, "x"),
            fmt::format("at most {:.3g} x", target), rounds.ratio() <= target ? "ok" : "above");
}

void print_bound(const std::string& what, double ours, const std::string& unit, double bound) {
  print_row(what, figure(ours, unit), "", "", fmt::format("at most {:.0f} {}", bound, unit),
            ours <= bound ? "ok" : "above");
}

void print_bound(const std::string& what, const std::vector<double>& ours, const std::string& unit, double bound) {
  const auto [low, high] = interval_of(ours);
  print_row(what, figure(median(ours), unit), "", fmt::format("[{:.1f}, {:.1f}]", low, high),
            fmt::format("at most {:.0f} {}", bound, unit), median(ours) <= bound ? "ok" : "above");
}

void print_figure(const std::string& what, double ours, const std::string& unit, std::optional<double> baseline) {
  print_row(what, figure(ours, unit), baseline ? figure(*baseline, unit) : "", "", "", "");
}

}  // namespace krux::bench
