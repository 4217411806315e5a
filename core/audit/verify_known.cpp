#include "core/audit/verify_known.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {

void add_problem(AuditCheck& check, std::int64_t seq, const char* kind, std::string message) {
  if (check.problems.size() == kMostProblems) {
    check.more_problems = true;
    return;
  }
  check.problems.push_back({seq, kind, std::move(message)});
}

std::string rows_in_words(std::int64_t from, std::int64_t through) {
  return from == through ? fmt::format("row {} is", from) : fmt::format("rows {} to {} are", from, through);
}

void KnownRows::add(KnownRow row) {
  const auto seq = row.seq;
  known_.emplace(seq, Known{std::move(row)});
}

void KnownRows::read(const std::filesystem::path& file, bool must_be, AuditCheck& check) {
  where_ = printable(file.string());
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    if (must_be) throw invalid_input(fmt::format("There is no file {} with signed heads.", where_));
    check.notes.push_back(fmt::format(
        "{} is not there: no signed head was compared. A host that can write it makes it at its start.", where_));
    return;
  }
  std::int64_t unreadable = 0;
  for (auto& anchor : read_anchors(file, {}, unreadable)) {
    const auto seq = anchor.head.seq;
    if (anchor.log_id != check.log_id) {
      others_.push_back(std::move(anchor));
      continue;
    }
    if (!is_signed(anchor)) {
      add_problem(check, seq, "signature",
                  fmt::format("the head of row {} in {} is not what its key has signed.", seq, where_));
      continue;
    }
    if (first_key_.empty()) first_key_ = anchor.key;
    KnownRow row{seq, anchor.head.hash, fmt::format("the head of {} in {}", format_time(anchor.at_ms), where_)};
    known_.emplace(seq, Known{std::move(row), std::move(anchor)});
  }
  if (unreadable > 0) check.notes.push_back(fmt::format("{}: {} lines are no heads.", where_, unreadable));
}

void KnownRows::compare(std::int64_t seq, const AuditHash& hash) {
  const auto [from, to] = known_.equal_range(seq);
  for (auto at = from; at != to; ++at) (at->second.row.hash == hash ? at->second.same : at->second.differs) = true;
}

AuditRoots KnownRows::roots(const std::string& key, bool from_first_row) const {
  AuditRoots roots{from_first_row, {}, 0};
  // Whoever can append to the file can add heads of a key of his own, but none before the first.
  if (const auto& root = key.empty() ? first_key_ : key; !root.empty()) roots.keys.insert(root);
  for (const auto& [seq, known] : known_)
    if (known.head && known.same && roots.keys.contains(known.head->key)) roots.vouched = seq;
  return roots;
}

/// Of rows that are gone the signed removals alone know something.
void KnownRows::judge_gone(const Known& known, const AuditTrust& trust, AuditCheck& check) const {
  const auto [from, to] = trust.cuts.equal_range(known.row.seq);
  if (from == to || find_cut(trust.cuts, known.row.seq, known.row.hash)) return;
  add_problem(check, known.row.seq, "replaced",
              fmt::format("row {}, which row {} took out, is not the one that {} knows.", known.row.seq,
                          from->second.seq, known.row.known_by));
}

void KnownRows::judge(const AuditTrust& trust, const std::string& key, AuditCheck& check) const {
  const Known* behind = nullptr;
  const auto vouched = roots(key, false).keys;
  std::map<std::string, std::int64_t> unnamed;
  for (const auto& [seq, known] : known_) {
    // Anybody who can append to the file can sign by a key of his own.
    if (known.head && !trust.keys.contains(known.head->key) && !vouched.contains(known.head->key)) {
      unnamed[known.head->key] = seq;
      continue;
    }
    if (known.head && (known.same || known.differs)) {
      ++check.heads;
      check.newest_head = seq;
      check.newest_head_ms = known.head->at_ms;
    }
    if (known.differs)
      add_problem(check, seq, "replaced", fmt::format("row {} is not the one that {} knows.", seq, known.row.known_by));
    if (seq < check.first) judge_gone(known, trust, check);
    if (seq > check.last) behind = &known;
  }
  if (behind)
    add_problem(check, check.last + 1, "cut",
                fmt::format("the log was cut off: {} missing, as {} knows.",
                            rows_in_words(check.last + 1, behind->row.seq), behind->row.known_by));
  for (const auto& [signer, seq] : unnamed)
    check.notes.push_back(fmt::format(
        "heads up to row {} are signed by {}, which this log does not name: they were not compared.", seq, signer));
  judge_others(trust, key, check);
}

/// A history that was written anew under another id leaves the heads of the true one behind.
void KnownRows::judge_others(const AuditTrust& trust, const std::string& key, AuditCheck& check) const {
  const Anchor* newest = nullptr;
  std::int64_t count = 0;
  for (const auto& head : others_) {
    if (!(head.key == key || trust.keys.contains(head.key)) || !is_signed(head)) continue;
    ++count;
    newest = &head;
  }
  if (newest)
    add_problem(check, 1, "replaced",
                fmt::format("{} heads in {} are signed by a key of this log for another one, {}, the newest at row {} "
                            "of {}: this log stands in its place.",
                            count, where_, printable(newest->log_id), newest->head.seq, format_time(newest->at_ms)));
  if (check.heads == 0 && !others_.empty())
    check.notes.push_back(fmt::format("{} has heads of other logs, and none was compared with this one.", where_));
}

}  // namespace krux
