#include "core/replica/search.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "core/util/error.hpp"

namespace krux {
namespace {

using Kind = Condition::Kind;
constexpr std::int64_t kFewRows = 2000;  ///< so many are looked at in the time that a plan may cost
constexpr std::uint32_t kDefaultCountLimit = 1000, kLargestLimit = 10'000;
// Between two rows that the index gives it may have gone through many entries.
constexpr std::int64_t kCheckEvery = 64, kCheckIndexEvery = 8;
constexpr std::int64_t kFirstLook = 512, kFirstIndexLook = 32;  ///< rows before another plan is thought of
constexpr double kScanNs = 600;                                 ///< measured: a row of a scan
constexpr int kIndexPatience = 8;

std::chrono::nanoseconds thread_cpu() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

void bind_value(Statement& statement, int index, const Predicate& equality) {
  if (equality.is_text) {
    statement.bind(index, std::string_view(equality.text));
  } else {
    statement.bind(index, equality.number);
  }
}

}  // namespace

bool emit_row(const Statement& row, const ReplicaReader::OnRow& on_row) {
  const std::string id(row.text(0)), json(row.text(1));
  return on_row({id, json, row.integer(2), row.integer(3)});
}

Search::Search(StatementCache& statements, const CollectionTable& table, const Query& query, const SearchBudget& budget)
    : statements_(statements),
      table_(table),
      query_(query),
      budget_(budget),
      predicate_(compile(query.where, table, statements)),
      range_(table.by_time() ? keys_between(query.from_ms, query.to_ms) : KeyRange{INT64_MIN + 1, INT64_MAX}),
      need_(std::int64_t{query.offset} + query.limit),
      cap_(std::max<std::int64_t>(query.count_limit == 0 ? kDefaultCountLimit : query.count_limit, need_)),
      started_cpu_(thread_cpu()),
      started_(std::chrono::steady_clock::now()) {
  if (query.limit > kLargestLimit) throw invalid_input(fmt::format("A query's limit is at most {}.", kLargestLimit));
  page_.reserve(query.limit);
  // What everything fits needs no counting: the number of rows is kept.
  takes_all_ = predicate_.children.empty() && query.id.empty() &&
               (!table.by_time() || (query.from_ms <= -kTimeBound + 1 && query.to_ms >= kTimeBound - 1));
}

QueryResult Search::run(const ReplicaReader::OnRow& on_row) {
  if (impossible()) return {};
  auto& count = statements_.get("SELECT rows FROM collections WHERE name = ?1");
  count.bind(1, std::string_view(table_.set));
  if (count.step()) rows_ = count.integer(0);
  count.reset();
  find_equalities();
  find_texts();
  const auto end = query_.id.empty() ? find() : find_one();
  emit(on_row);
  return result(end);
}

bool Search::impossible() const {
  if (range_.low > range_.high) return true;
  return std::any_of(predicate_.children.begin(), predicate_.children.end(),
                     [](const auto& child) { return child.kind == Kind::kAnyOf && child.children.empty(); });
}

void Search::find_equalities() {
  for (const auto& child : predicate_.children) {
    if (child.kind != Kind::kField || child.op != Condition::Op::kEq) continue;
    equalities_.push_back({&child, bounded_count(child)});
    if (equalities_.back().count == 0) break;
  }
  std::sort(equalities_.begin(), equalities_.end(), [](const auto& a, const auto& b) { return a.count < b.count; });
}

std::int64_t Search::bounded_count(const Predicate& equality) {
  const auto field = static_cast<std::size_t>(equality.field);
  auto& statement = statements_.get(
      fmt::format("SELECT count(*) FROM (SELECT 1 FROM {} INDEXED BY {} WHERE f_{} = ?1 AND {} "
                  "LIMIT {})",
                  table_.rows, table_.field_index(field), table_.spec.fields[field].name, in_range(), kFewRows + 1));
  const ResetAtEnd reset(statement);
  bind_value(statement, 1, equality);
  statement.bind(2, range_.low);
  statement.bind(3, range_.high);
  return statement.step() ? statement.integer(0) : 0;
}

/// What the search index can say something about.
void Search::find_texts() {
  only_streams_ = true;
  for (const auto& child : predicate_.children) {
    if (is_indexed(child)) {
      texts_.children.push_back(child);
    } else if (child.kind != Kind::kField || child.op != Condition::Op::kEq) {
      only_streams_ = false;
    }
  }
}

Search::End Search::find() {
  if (!equalities_.empty() && equalities_[0].count <= kFewRows) {
    return consume(*rows_in_order(equalities_[0].predicate), true, Stage::kRows);
  }
  if (auto plan = query_.rare && table_.by_time() ? rare_text_plan(texts_) : std::nullopt) {
    plan_ = std::move(plan);
    return find_in(range_, 1, Stage::kStricterIndex);
  }
  const auto end = consume(*base(), true, texts_.children.empty() ? Stage::kRows : Stage::kRowsOrIndex);
  return end == End::kSwitch ? find_by_index() : end;
}

Search::End Search::find_one() {
  auto& row =
      statements_.get(fmt::format("SELECT {} FROM {} WHERE id = ?1 AND {}", row_columns(), table_.rows, in_range()));
  row.bind(1, query_.id);
  row.bind(2, range_.low);
  row.bind(3, range_.high);
  RowCandidates candidate(row);
  return consume(candidate, true, Stage::kRows);
}

KeyRange Search::rest() const {
  auto rest = range_;
  (ascending_keys() ? rest.low : rest.high) = last_key_ + (ascending_keys() ? 1 : -1);
  return rest;
}

/// Without the search index: the whole collection, the rows of one field's value, or what several have in common.
std::unique_ptr<Candidates> Search::base() {
  row_cost_ns_ = equalities_.empty() ? kScanNs : kLookupNs;
  if (equalities_.size() > 1 && table_.by_time()) return common_keys(false, range_);
  return rows_in_order(equalities_.empty() ? nullptr : equalities_[0].predicate);
}

std::unique_ptr<Candidates> Search::rows_in_order(const Predicate* equality) {
  std::string from = table_.rows, where = in_range();
  if (equality) {
    const auto field = static_cast<std::size_t>(equality->field);
    from += " INDEXED BY " + table_.field_index(field);
    where += " AND f_" + table_.spec.fields[field].name + " = ?1";
  } else if (!table_.by_time()) {
    from += " INDEXED BY " + table_.order_index();  // else SQLite would sort the whole table first
  }
  std::string order = key_order();
  if (!table_.by_time()) order = query_.descending ? "order_key DESC, key DESC" : "order_key, key";
  auto& statement =
      statements_.get(fmt::format("SELECT {} FROM {} WHERE {} ORDER BY {}", row_columns(), from, where, order));
  if (equality) bind_value(statement, 1, *equality);
  statement.bind(2, range_.low);
  statement.bind(3, range_.high);
  return std::make_unique<RowCandidates>(statement);
}

std::unique_ptr<Candidates> Search::common_keys(bool with_text, KeyRange range) {
  KeyStreams streams, texts;
  for (std::size_t i = 0; i < equalities_.size(); ++i) {
    streams.push_back(equality_stream(*equalities_[i].predicate, i, range));
  }
  if (with_text) texts = text_streams(range);
  // Those first that are likely to be fewest: they lead.
  const bool texts_first = with_text && plan_->share < base_share_;
  auto& last = texts_first ? streams : texts;
  auto& first = texts_first ? texts : streams;
  std::move(last.begin(), last.end(), std::back_inserter(first));
  return std::make_unique<CommonKeys>(std::move(first), ascending_keys(), lookup());
}

std::unique_ptr<KeyStream> Search::equality_stream(const Predicate& equality, std::size_t number, KeyRange range) {
  const auto field = static_cast<std::size_t>(equality.field);
  // Two conditions may be on the same field: the number makes two statements of them.
  auto& statement = statements_.get(
      fmt::format("SELECT key FROM {} INDEXED BY {} WHERE f_{} = ?1 AND key BETWEEN ?2 AND ?3 ORDER BY {} -- {}",
                  table_.rows, table_.field_index(field), table_.spec.fields[field].name, key_order(), number));
  bind_value(statement, 1, equality);
  return std::make_unique<IndexKeys>(statement, range, ascending_keys(), kIndexPatience);
}

Statement& Search::lookup() {
  return statements_.get(fmt::format("SELECT {} FROM {} WHERE key = ?1", row_columns(), table_.rows));
}

Search::End Search::consume(Candidates& candidates, bool verify, Stage stage) {
  const bool by_index = stage == Stage::kIndex || stage == Stage::kStricterIndex;
  std::int64_t looked_at = 0;
  const auto check_every = by_index ? kCheckIndexEvery : kCheckEvery;
  while (candidates.next()) {
    last_key_ = candidates.key();
    if (!verify || matches(predicate_, candidates.row())) hit(last_key_);
    if (stage == Stage::kIndex && looked_at < kFirstIndexLook)
      given_.add(std::string(candidates.row().text(kTextColumn)));
    if (total_ > cap_ || (takes_all_ && page_is_full())) return End::kEnough;
    if (++looked_at % check_every != 0) continue;
    const auto end = check(looked_at, stage);
    if (end != End::kExhausted) return end;
  }
  return End::kExhausted;
}

/// kExhausted: go on.
Search::End Search::check(std::int64_t looked_at, Stage stage) {
  if (is_late()) return End::kOutOfTime;
  if (!std::has_single_bit(static_cast<std::uint64_t>(looked_at))) return End::kExhausted;
  const bool other = (stage == Stage::kRowsOrIndex && looked_at >= kFirstLook && should_switch(looked_at)) ||
                     (stage == Stage::kIndex && looked_at >= kFirstIndexLook && should_exclude_more(looked_at));
  return other ? End::kSwitch : End::kExhausted;
}

/// A collection ordered by key: the search index has another order, so that all rows are needed before the first is
/// known.
Search::End Search::gather_and_sort() {
  total_ = 0;
  page_.clear();
  sorts_ = true;
  std::vector<std::pair<std::string, std::int64_t>> found;
  auto end = End::kExhausted;
  if (!gather(range_, 1)) return End::kOutOfTime;
  CommonKeys candidates(text_streams(range_), ascending_keys(), lookup());
  for (std::int64_t looked_at = 1; candidates.next(); ++looked_at) {
    const auto& row = candidates.row();
    if (matches(predicate_, row)) found.emplace_back(row.text(2), candidates.key());
    if (looked_at % kCheckIndexEvery == 0 && is_late()) {
      end = End::kOutOfTime;
      break;
    }
  }
  std::sort(found.begin(), found.end());
  if (query_.descending) std::reverse(found.begin(), found.end());
  for (const auto& [order_key, key] : found) hit(key);
  return end;
}

bool Search::is_late() const {
  const auto most = page_is_full() ? std::min(budget_.count, budget_.page) : budget_.page;
  return spent() > most || std::chrono::steady_clock::now() - started_ > 20 * budget_.page;
}

void Search::hit(std::int64_t key) {
  if (total_ >= query_.offset && !page_is_full()) page_.push_back(key);
  ++total_;
}

void Search::emit(const ReplicaReader::OnRow& on_row) {
  auto& statement = statements_.get(fmt::format(
      "SELECT c.id, c.json, c.order_ms, s.synced_at_ms FROM {} c JOIN {} s ON s.key = c.key WHERE c.key = ?1",
      table_.rows, table_.seen));
  const ResetAtEnd reset(statement);
  for (const auto key : page_) {
    statement.reset();
    statement.bind(1, key);
    if (!statement.step()) continue;
    if (!emit_row(statement, on_row)) return;
  }
}

QueryResult Search::result(End end) const {
  QueryResult result;
  const auto known = takes_all_ ? rows_ : total_;
  result.total = static_cast<std::uint64_t>(std::min(known, cap_));
  result.total_is_lower_bound = (!takes_all_ && end != End::kExhausted) || known > cap_;
  // Rows that come in the order of the result are its first ones. Of those that had to be gathered before they could
  // be sorted, the first ones may be missing.
  result.incomplete = end == End::kOutOfTime && (!page_is_full() || sorts_);
  return result;
}

std::chrono::microseconds Search::spent() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(thread_cpu() - started_cpu_);
}

}  // namespace krux
