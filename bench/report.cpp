#include "bench/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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
  fmt::print("{:<56} {:>13} {:>13} {:>8}  {:<15} {}\n", what, ours, baseline, ratio, target, verdict);
  std::fflush(stdout);
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

void print_header() {
  print_row("", "ours", "baseline", "ratio", "target", "");
}

void print_rates(const std::string& what, const Rounds& rounds, double target) {
  print_row(what, figure(rounds.ours(), "/s"), figure(rounds.baseline(), "/s"),
            fmt::format("{:.0f} %", rounds.ratio() * 100), fmt::format("at least {:.0f} %", target * 100),
            rounds.ratio() >= target ? "ok" : "below");
}

void print_times(const std::string& what, const Rounds& rounds, const std::string& unit, double target) {
  print_row(what, figure(rounds.ours(), unit), figure(rounds.baseline(), unit), fmt::format("{:.2f} x", rounds.ratio()),
            fmt::format("at most {:.3g} x", target), rounds.ratio() <= target ? "ok" : "above");
}

void print_bound(const std::string& what, double ours, const std::string& unit, double bound) {
  print_row(what, figure(ours, unit), "", "", fmt::format("at most {:.0f} {}", bound, unit),
            ours <= bound ? "ok" : "above");
}

void print_figure(const std::string& what, double ours, const std::string& unit) {
  print_row(what, figure(ours, unit), "", "", "", "");
}

}  // namespace krux::bench
