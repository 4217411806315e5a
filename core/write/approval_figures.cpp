#include "core/write/approval_figures.hpp"

#include <algorithm>
#include <vector>

#include "core/util/durations.hpp"
#include "core/write/write.hpp"

namespace krux {
namespace {

constexpr std::int64_t kMostDecisions = 10'000;

}  // namespace

ApprovalFigures ApprovalFiguresReader::read() {
  auto reader = readers_.lease();
  const auto now = clock_.wall_ms();
  auto& rows = reader.sql().get(
      "SELECT a.outcome, a.ended_at_ms, w.created_at_ms FROM (SELECT write_seq, outcome, ended_at_ms FROM attempts "
      "WHERE write_seq >= ?1 AND kind = 'decision' AND (outcome = 'accept' OR outcome = 'reject') AND who LIKE "
      "'operator:%' ORDER BY write_seq DESC LIMIT ?2) a JOIN writes w ON w.seq = a.write_seq");
  rows.bind_all(first_seq_of(now - ApprovalFigures::kWindowMs), kMostDecisions);
  const ResetAtEnd reset(rows);
  ApprovalFigures figures;
  std::vector<std::int64_t> waits;
  while (rows.step()) {
    ++(rows.text(0) == "accept" ? figures.accepted : figures.rejected);
    waits.push_back(std::max<std::int64_t>(0, rows.integer(1) - rows.integer(2)));
    if (now - rows.integer(1) < kHour) ++figures.last_hour;
    if (waits.back() <= ApprovalFigures::kAtOnceMs) ++figures.at_once;
  }
  if (waits.empty()) return figures;
  const auto middle = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2);
  std::nth_element(waits.begin(), middle, waits.end());
  figures.median_ms = *middle;
  return figures;
}

}  // namespace krux
