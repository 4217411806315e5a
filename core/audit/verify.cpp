#include "core/audit/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/audit/chain.hpp"
#include "core/audit/read_row.hpp"
#include "core/audit/signing_key.hpp"
#include "core/audit/verify_known.hpp"
#include "core/audit/verify_trust.hpp"
#include "core/storage/database.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kFewProblems = 10;
/// Of rows and changes: above it nothing was ever counted, and sums of two still fit.
constexpr std::int64_t kMostNumber = std::int64_t{1} << 53;

bool is_number(std::int64_t value) {
  return value >= 0 && value <= kMostNumber;
}

class Verifier {
 public:
  Verifier(sqlite3* db, const VerifyOptions& options) : sql_(db), options_(options) {
    for (const auto& row : options.known) known_.add(row);
  }

  AuditCheck run() {
    read_log();
    if (!options_.anchor_file.empty()) known_.read(options_.anchor_file, options_.anchors_must_be, check_);
    auto& rows = sql_.get(fmt::format("SELECT {} FROM entries ORDER BY seq", kRowColumns));
    const ResetAtEnd reset(rows);
    while (rows.step()) look_at(read_chained_row(rows));
    if (check_.first == 0) problem(1, "missing", "the log has no rows, and each one has a first.");
    weigh_words();
    std::stable_sort(check_.problems.begin(), check_.problems.end(),
                     [](const AuditProblem& a, const AuditProblem& b) { return a.seq < b.seq; });
    return std::move(check_);
  }

 private:
  void read_log() {
    auto& row = sql_.get("SELECT log_id, head_seq, head_hash FROM log");
    const ResetAtEnd reset(row);
    if (!row.step()) return problem(1, "missing", "the log does not say which one it is: its table log is empty.");
    check_.log_id = row.text(0);
    prev_ = first_prev(check_.log_id);
    known_.add({row.integer(1), hash_of_blob(row.blob(2)).value_or(AuditHash{}), "the log itself"});
  }

  void problem(std::int64_t seq, const char* kind, std::string message) {
    add_problem(check_, seq, kind, std::move(message));
  }

  void look_at(const ReadRow& read) {
    const auto& row = read.row;
    ++check_.rows;
    if (row.seq < 1 || !is_number(row.seq))
      return problem(row.seq, "changed", fmt::format("row {} has a number that no row gets.", row.seq));
    const auto wanted = check_.last + 1;
    // What is not there at the beginning may have been taken out as it was meant to: a row further on says so.
    const bool begins = check_.first == 0 && row.seq > 1;
    if (begins) before_first_ = {row.seq - 1, read.prev};
    const bool gap = row.seq != wanted;
    if (gap && !begins) problem(wanted, "missing", fmt::format("{} missing.", rows_in_words(wanted, row.seq - 1)));
    const bool whole = chain_hash(read.prev, row) == read.hash;
    if (!whole) {
      say_what_changed(read);
    } else if (!gap && read.prev != prev_) {
      say_what_stands_before(read);
    }
    if (whole) look_at_source(read);
    known_.compare(row.seq, read.hash);
    if (check_.first == 0) check_.first = row.seq;
    check_.last = row.seq;
    check_.head = prev_ = read.hash;
  }

  /// A row that was moved says by `prev` where it stood.
  void say_what_changed(const ReadRow& read) {
    auto moved = read.row;
    for (const auto at : {behind(read.prev).value_or(read.row.seq), read.row.seq - 1, read.row.seq + 1}) {
      moved.seq = at;
      if (at == read.row.seq || chain_hash(read.prev, moved) != read.hash) continue;
      return problem(read.row.seq, "moved",
                     fmt::format("row {} was moved: it was written as row {}.", read.row.seq, at));
    }
    problem(read.row.seq, "changed",
            fmt::format("row {} was changed: its hash is not that of what stands there.", read.row.seq));
  }

  /// Looked for in all rows, and so for the first few alone.
  std::optional<std::int64_t> behind(const AuditHash& hash) {
    if (check_.problems.size() >= kFewProblems) return std::nullopt;
    auto& row = second_.get("SELECT seq FROM entries WHERE hash = ?1");
    row.bind_blob(1, blob_of(hash));
    const ResetAtEnd reset(row);
    return row.step() && is_number(row.integer(0)) ? std::optional(row.integer(0) + 1) : std::nullopt;
  }

  void say_what_stands_before(const ReadRow& read) {
    const auto seq = read.row.seq;
    problem(seq - 1, "replaced",
            seq == 1 ? std::string("row 1 is not the beginning of this log.")
                     : fmt::format("row {} was replaced, or rows behind it were taken out: row {} was written behind "
                                   "another one.",
                                   seq - 1, seq));
  }

  /// The ledger's numbers have no gaps but those that the log itself tells of.
  void look_at_source(const ReadRow& read) {
    const auto& row = read.row;
    if (row.seq == 1 && row.kind != "log.begun") problem(1, "replaced", "row 1 does not begin a log.");
    if (row.kind.starts_with("log.")) return look_at_body(read);
    if (row.source == 0) return;
    if (!is_number(row.source))
      return problem(row.seq, "changed", fmt::format("row {} tells of a change that no ledger counts.", row.seq));
    if (source_ && row.source != *source_ + 1)
      problem(row.seq, "missing",
              fmt::format("row {} tells of change {} of the ledger, and the one before it of change {}.", row.seq,
                          row.source, *source_));
    source_ = row.source;
  }

  /// Of a row that somebody has made, hash included, the body may be anything.
  void look_at_body(const ReadRow& read) {
    try {
      look_at_word(read, parse_json(read.row.body, "the row", {1 << 20, 8}));
    } catch (const Error&) {
      problem(read.row.seq, "changed",
              fmt::format("row {} ({}) holds what no host writes there.", read.row.seq, printable(read.row.kind)));
    }
  }

  void look_at_word(const ReadRow& read, const JsonValue& body) {
    const auto& row = read.row;
    if (!body.IsObject()) throw invalid_input("It is no object.");
    if (row.kind == "log.begun") {
      if (text_of(body, "log_id") != check_.log_id)
        problem(row.seq, "replaced", fmt::format("row {} begins another log than this one.", row.seq));
    } else if (row.kind == "log.key") {
      look_at_key(row.seq, body);
    } else if (row.kind == "log.cut") {
      look_at_cut(row.seq, body);
    } else if (row.kind == "log.restored") {
      look_at_restored(row.seq, body);
    } else if (row.kind == "log.broken") {
      problem(row.seq, "cut",
              fmt::format("row {}: when the host started, row {} that it knew of was missing or another one.", row.seq,
                          number_of(body, "had")));
    } else if (row.kind == "log.lost") {
      check_.notes.push_back(fmt::format("row {}: {} rows had no place while the log could not be written.", row.seq,
                                         number_of(body, "rows")));
    } else if (row.kind == "log.gap") {
      const auto from = number_of(body, "from");
      source_ = number_of(body, "through");
      problem(row.seq, "lost",
              fmt::format("row {}: changes {} to {} of the ledger were taken out before they stood in the log.",
                          row.seq, from, *source_));
    }
  }

  static std::string text_of(const JsonValue& body, const char* name) {
    return std::string(find_string(body, name).value_or(""));
  }
  static std::int64_t number_of(const JsonValue& body, const char* name) {
    const auto value = find_int(body, name);
    if (!value || !is_number(*value)) throw invalid_input("It is no number of rows.");
    return *value;
  }

  void look_at_key(std::int64_t seq, const JsonValue& body) {
    AuditWord word{AuditWord::Kind::kKey, seq, text_of(body, "replaces"), text_of(body, "public")};
    word.agreed = is_signed_by(word.key, signed_key(check_.log_id, word.next), text_of(body, "signature"));
    words_.push_back(std::move(word));
  }

  void look_at_cut(std::int64_t seq, const JsonValue& body) {
    AuditWord word{AuditWord::Kind::kCut, seq, text_of(body, "key")};
    word.through = number_of(body, "through");
    word.hash = hash_of_hex(text_of(body, "hash")).value_or(AuditHash{});
    word.agreed = is_signed_by(word.key, signed_cut(check_.log_id, word.through, hash_hex(word.hash)),
                               text_of(body, "signature"));
    words_.push_back(std::move(word));
  }

  /// The ledger was put back: its numbers go on from there.
  void look_at_restored(std::int64_t seq, const JsonValue& body) {
    source_ = number_of(body, "has");
    check_.notes.push_back(
        fmt::format("row {}: the ledger was put back to change {}, and {} that stand before are of one that went on.",
                    seq, *source_, number_of(body, "had") - *source_));
  }

  void weigh_words() {
    const auto trust = weigh(words_, known_.roots(options_.key, check_.first == 1));
    for (const auto& found : trust.problems) problem(found.seq, found.kind.c_str(), found.message);
    look_at_beginning(trust);
    known_.judge(trust, options_.key, check_);
    if (!options_.key.empty() && trust.key != options_.key)
      problem(check_.last, "signature",
              fmt::format("the log is signed by {}, and not by {}.",
                          trust.key.empty() ? "nobody" : printable(trust.key), printable(options_.key)));
  }

  void look_at_beginning(const AuditTrust& trust) {
    if (!before_first_) return;
    const auto& [through, hash] = *before_first_;
    if (const auto* cut = find_cut(trust.cuts, through, hash)) {
      check_.notes.push_back(
          fmt::format("rows 1 to {} were taken out for their age, as row {} says.", through, cut->seq));
      return;
    }
    auto message = rows_in_words(1, through) + " missing.";
    if (const auto* cut = find_cut(trust.unknown_cuts, through, hash))
      message += fmt::format(
          " Row {} says that they were taken out for their age, signed by {}. If that is the host's key, say so "
          "(--key), or give the file with its heads (--anchors).",
          cut->seq, printable(cut->key));
    // Before all others: it may not be what kMostProblems leaves out.
    check_.problems.insert(check_.problems.begin(), {1, "missing", std::move(message)});
    if (check_.problems.size() <= kMostProblems) return;
    check_.problems.pop_back();
    check_.more_problems = true;
  }

  StatementCache sql_;
  StatementCache second_{sql_.db()};
  const VerifyOptions& options_;
  KnownRows known_;
  AuditCheck check_;
  AuditHash prev_{};
  std::optional<std::int64_t> source_;
  std::optional<std::pair<std::int64_t, AuditHash>> before_first_;
  std::vector<AuditWord> words_;
};

}  // namespace

AuditCheck verify_audit(const std::filesystem::path& file, const VerifyOptions& options) {
  const auto db = open_reader(file, kAuditKind);
  return Verifier(db->getHandle(), options).run();
}

}  // namespace krux
