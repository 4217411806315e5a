// kruxos/testing/store.hpp - one account's replica in memory.
#pragma once
#include <kruxos/testing/call.hpp>
#include <kruxos/testing/conditions.hpp>
#include <kruxos/testing/record_check.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kruxos::testing {

/// Takes and refuses what the host's replica takes and refuses, finds what it finds, in the same order; a query is
/// incomplete where a test says so. Text is folded in fewer letters than the host folds (see testing/text.hpp). The
/// clock must outlive it. One thread.
class FakeStore {
 public:
  FakeStore(const FakeClock& clock, std::vector<Collection> collections)
      : clock_(clock), collections_(std::move(collections)) {
    for (const auto& known : collections_) rows_[known.name];
    fill_reader();
    fetching_reader_ = reader_;
    fetching_reader_.keep = [](void* self, krux_str c, krux_str id, krux_str name, const krux_source* bytes,
                               krux_str kept_text) noexcept { return of(self).keep(c, id, name, bytes, kept_text); };
    fetching_reader_.put = [](void* self, const krux_record* record, std::int32_t* taken,
                              const krux_sink* why) noexcept { return of(self).put_fetched(*record, *taken, why); };
    fill_changes();
    fill_cursors();
  }
  FakeStore(const FakeStore&) = delete;
  FakeStore& operator=(const FakeStore&) = delete;

  using Row = FakeRow;
  using Rows = std::map<std::string, Row>;  ///< by id
  struct Report {
    krux_status status = KRUX_OK;
    std::string message;
  };

  SyncStore store() const { return SyncStore(&store_); }
  Reader reader() const { return Reader(&reader_); }
  /// For a read whose definition says `fetches`: it may keep what it fetched.
  Reader fetching_reader() const { return Reader(&fetching_reader_); }
  const krux_sync_store* abi() const { return &store_; }
  const krux_reader* reader_abi() const { return &reader_; }

  /// As the host does when a step has returned: what was not committed never happened.
  void drop_uncommitted() { staged_ = {}; }

  const Rows& rows(const std::string& collection) const { return rows_.at(collection); }
  std::map<std::string, std::string> cursors;  ///< committed ones; a test may change them
  std::map<std::string, Report> reports;       ///< parts that could not be synced
  std::vector<std::string> refusals;           ///< why something was answered with KRUX_INVALID, in sentences
  /// Records that the host would leave out and count, as it does where a service sends what the replica cannot take:
  /// "collection id: why". They leave as soon as they fit, are erased or swept.
  std::vector<std::string> left_out() const {
    std::vector<std::string> all;
    for (const auto& [key, what] : left_out_) all.push_back(key.first + " " + key.second + ": " + what.why);
    return all;
  }
  bool out_of_time = false;  ///< queries end as if their time were over: what they found is incomplete
  std::uint64_t commits = 0, cursor_reads = 0, queries = 0, largest_commit = 0;

  /// Why a record that would fit is left out, where a test says so.
  std::function<std::string(const krux_record&)> leave_out;

  /// What put() and commit() answer instead of doing it, when set and not KRUX_OK.
  std::function<krux_status(const krux_record&)> refuse_put;
  std::function<krux_status()> refuse_commit;

 private:
  struct Change {
    Row row;
    bool erased = false;
    std::string left_out{};  ///< why; empty: it is not
  };
  struct LeftOut {
    std::string scope, why;
    std::int64_t order_ms = 0, generation = 0;
  };
  struct Sweep {
    std::string collection, scope;
    std::int64_t generation, from_ms, to_ms;
  };
  /// Changes in any order, the last one of a record counting, then what is to be swept.
  struct Stretch {
    std::map<std::pair<std::string, std::string>, Change> changes;
    std::vector<Sweep> sweeps;
  };
  using BlobKey = std::tuple<std::string, std::string, std::string>;
  struct Staged {
    std::vector<Stretch> stretches;
    std::vector<std::pair<BlobKey, std::optional<std::string>>> blobs;      ///< nothing: it is erased
    std::map<std::pair<std::string, std::string>, std::string> kept_texts;  ///< by collection and id
    std::map<std::string, std::string> cursors;
    std::uint64_t count = 0;
  };

  static FakeStore& of(void* self) noexcept { return *static_cast<FakeStore*>(self); }
  static std::string text(krux_str bytes) { return std::string(from_abi(bytes)); }

  void fill_reader() {
    reader_.size = sizeof(reader_);
    reader_.self = this;
    reader_.get = [](void* self, krux_str c, krux_str id, const krux_row_sink* out) noexcept {
      return of(self).get(c, id, *out);
    };
    reader_.query = [](void* self, const krux_query* query, const krux_row_sink* out,
                       krux_query_result* result) noexcept { return of(self).query(*query, *out, *result); };
    reader_.blob = [](void* self, krux_str c, krux_str id, krux_str name,
                      const krux_sink* out) noexcept -> krux_status {
      if (!of(self).collection(c)) return of(self).refuse_collection(c);
      const auto at = of(self).blobs_.find({text(c), text(id), text(name)});
      if (at == of(self).blobs_.end()) return KRUX_NOT_FOUND;
      out->write(out->self, to_abi(at->second));
      return KRUX_OK;
    };
    reader_.keep = [](void* self, krux_str, krux_str, krux_str, const krux_source*, krux_str) noexcept -> krux_status {
      return of(self).refuse_keeping();
    };
    reader_.put = [](void* self, const krux_record*, std::int32_t*, const krux_sink*) noexcept -> krux_status {
      return of(self).refuse_keeping();
    };
  }
  krux_status refuse_keeping() {
    refusals.push_back("Only a read whose definition says `fetches` keeps something in the replica.");
    return KRUX_UNSUPPORTED;
  }

  void fill_changes() {
    store_.size = sizeof(store_);
    store_.self = this;
    store_.reader = &reader_;
    store_.put = [](void* self, const krux_record* record) noexcept {
      std::string why;
      return of(self).put(*record, why);
    };
    store_.try_put = [](void* self, const krux_record* record, std::int32_t* taken,
                        const krux_sink* sink) noexcept -> krux_status {
      std::string why;
      const auto status = of(self).put(*record, why);
      return status == KRUX_OK ? say_taken(why, *taken, sink) : status;
    };
    store_.erase_blob = [](void* self, krux_str c, krux_str id, krux_str name) noexcept -> krux_status {
      if (!of(self).collection(c)) return of(self).refuse_collection(c);
      if (!detail::text_problem(name, 64).empty())
        return of(self).refuse("A blob's name is UTF-8 of at most 64 bytes.");
      of(self).staged_.blobs.emplace_back(BlobKey{text(c), text(id), text(name)}, std::nullopt);
      ++of(self).staged_.count;
      return KRUX_OK;
    };
    store_.erase = [](void* self, krux_str c, krux_str id) noexcept -> krux_status {
      if (!of(self).collection(c)) return of(self).refuse_collection(c);
      of(self).change(text(c), text(id), {{}, true});
      return KRUX_OK;
    };
    store_.sweep = [](void* self, krux_str c, krux_str scope, std::int64_t generation, std::int64_t from_ms,
                      std::int64_t to_ms) noexcept -> krux_status {
      if (!of(self).collection(c)) return of(self).refuse_collection(c);
      auto& stretches = of(self).staged_.stretches;
      if (stretches.empty()) stretches.emplace_back();
      stretches.back().sweeps.push_back({text(c), text(scope), generation, from_ms, to_ms});
      ++of(self).staged_.count;
      return KRUX_OK;
    };
    store_.put_blob = [](void* self, krux_str c, krux_str id, krux_str name, const krux_source* bytes) noexcept {
      return of(self).put_blob(c, id, name, *bytes);
    };
    store_.keep_text = [](void* self, krux_str c, krux_str id, krux_str kept_text) noexcept -> krux_status {
      if (const auto refused = of(self).refuse_kept_text(c); refused != KRUX_OK) return refused;
      of(self).staged_.kept_texts[{text(c), text(id)}] = detail::with_odd_replaced(from_abi(kept_text));
      ++of(self).staged_.count;
      return KRUX_OK;
    };
    store_.commit = [](void* self) noexcept { return of(self).commit(); };
  }

  void fill_cursors() {
    store_.get_cursor = [](void* self, krux_str key, const krux_sink* out) noexcept -> krux_status {
      ++of(self).cursor_reads;
      const auto at = of(self).cursors.find(text(key));
      if (at == of(self).cursors.end()) return KRUX_NOT_FOUND;
      return out->write(out->self, to_abi(at->second)) == 0 ? KRUX_OK : KRUX_CANCELLED;
    };
    store_.set_cursor = [](void* self, krux_str key, krux_str value) noexcept -> krux_status {
      const bool fits =
          key.len > 0 && detail::text_problem(key, 1024).empty() && detail::text_problem(value, 64 * 1024).empty();
      if (!fits)
        return of(self).refuse("A cursor's name is UTF-8 of 1 to 1024 bytes, its value UTF-8 of at most 64 KiB.");
      of(self).staged_.cursors[text(key)] = text(value);
      ++of(self).staged_.count;
      return KRUX_OK;
    };
    store_.report = [](void* self, krux_str part, krux_status status, krux_str message) noexcept -> krux_status {
      if (status == KRUX_OK) {
        of(self).reports.erase(text(part));
      } else {
        of(self).reports[text(part)] = {status, text(message)};
      }
      return KRUX_OK;
    };
  }

  krux_status refuse(std::string why) {
    refusals.push_back(std::move(why));
    return KRUX_INVALID;
  }
  krux_status refuse_collection(krux_str name) {
    return refuse("The adapter has declared no collection \"" + text(name) + "\".");
  }

  const Collection* collection(krux_str name) const {
    const auto at =
        std::find_if(collections_.begin(), collections_.end(), [&](const auto& c) { return c.name == from_abi(name); });
    return at == collections_.end() ? nullptr : &*at;
  }

  void change(std::string c, std::string id, Change change) {
    auto& stretches = staged_.stretches;
    if (stretches.empty() || !stretches.back().sweeps.empty()) stretches.emplace_back();
    stretches.back().changes.insert_or_assign({std::move(c), std::move(id)}, std::move(change));
    ++staged_.count;
  }

  static krux_status say_taken(const std::string& why, std::int32_t& taken, const krux_sink* sink) {
    taken = why.empty() ? 1 : 0;
    if (sink && !why.empty()) sink->write(sink->self, to_abi(why));
    return KRUX_OK;
  }

  /// As the newest pass would have put it, where it is not there.
  krux_status put_fetched(const krux_record& given, std::int32_t& taken, const krux_sink* sink) {
    auto record = given;
    const auto known = rows_.find(text(record.collection));
    if (known != rows_.end() && known->second.count(text(record.id)) != 0) return say_taken("", taken, sink);
    record.generation = 0;
    if (known != rows_.end()) {
      for (const auto& [id, row] : known->second) record.generation = std::max(record.generation, row.generation);
    }
    auto others = std::exchange(staged_, {});
    std::string why;
    auto status = put(record, why);
    if (status == KRUX_OK) status = commit();
    staged_ = std::move(others);
    return status == KRUX_OK ? say_taken(why, taken, sink) : status;
  }

  krux_status put(const krux_record& record, std::string& reason) {
    const auto* spec = collection(record.collection);
    if (!spec) return refuse_collection(record.collection);
    if (auto why = detail::declared_problem(record, *spec); !why.empty()) {
      return refuse("The record \"" + text(record.id).substr(0, 100) + "\" does not fit the collection \"" +
                    spec->name + "\": " + why + ".");
    }
    if (const auto refused = refuse_put ? refuse_put(record) : KRUX_OK; refused != KRUX_OK) return refused;
    Row row;
    row.scope = text(record.scope);
    row.order_ms = record.order_ms;
    row.generation = record.generation;
    auto why = detail::unfit_reason(record, *spec, row);
    if (why.empty() && leave_out) why = leave_out(record);
    reason = why;
    change(spec->name, text(record.id), {std::move(row), !why.empty(), std::move(why)});
    return KRUX_OK;
  }

  krux_status refuse_kept_text(krux_str c) {
    const auto* spec = collection(c);
    if (!spec) return refuse_collection(c);
    if (!spec->searchable) return refuse("The collection \"" + spec->name + "\" has no text that is searched.");
    return KRUX_OK;
  }

  krux_status read_blob(krux_str c, krux_str name, const krux_source& source, std::string& bytes) {
    if (!collection(c)) return refuse_collection(c);
    if (!detail::text_problem(name, 64).empty()) return refuse("A blob's name is UTF-8 of at most 64 bytes.");
    char buffer[4096];
    std::int64_t got = 0;
    while ((got = source.read(source.self, buffer, sizeof buffer)) > 0)
      bytes.append(buffer, static_cast<std::size_t>(got));
    if (got < 0) return KRUX_INTERNAL;
    if (source.total >= 0 && static_cast<std::int64_t>(bytes.size()) != source.total) {
      return refuse("The blob \"" + text(name) + "\" is not as long as was announced.");
    }
    return KRUX_OK;
  }

  krux_status keep(krux_str c, krux_str id, krux_str name, const krux_source* source, krux_str kept_text) {
    std::string bytes;
    if (const auto refused = source ? read_blob(c, name, *source, bytes) : KRUX_OK; refused != KRUX_OK) return refused;
    const auto refused = kept_text.len > 0 ? refuse_kept_text(c) : KRUX_OK;
    if (refused != KRUX_OK) return refused;
    if (!collection(c)) return refuse_collection(c);
    const auto row = rows_[text(c)].find(text(id));
    if (row == rows_[text(c)].end()) return KRUX_NOT_FOUND;
    if (source) blobs_[{text(c), text(id), text(name)}] = std::move(bytes);
    if (kept_text.len > 0) keep_text({text(c), text(id)}, detail::with_odd_replaced(from_abi(kept_text)));
    return KRUX_OK;
  }

  krux_status put_blob(krux_str c, krux_str id, krux_str name, const krux_source& source) {
    std::string bytes;
    if (const auto refused = read_blob(c, name, source, bytes); refused != KRUX_OK) return refused;
    staged_.blobs.emplace_back(BlobKey{text(c), text(id), text(name)}, std::move(bytes));
    ++staged_.count;
    return KRUX_OK;
  }

  krux_status commit() {
    if (const auto refused = refuse_commit ? refuse_commit() : KRUX_OK; refused != KRUX_OK) return refused;
    for (auto& stretch : staged_.stretches) {
      apply(stretch);
      for (const auto& one : stretch.sweeps) sweep(one);
    }
    for (const auto& [of_record, kept] : staged_.kept_texts) keep_text(of_record, kept);
    for (auto& [key, bytes] : staged_.blobs) {
      if (!bytes) {
        blobs_.erase(key);
      } else if (rows_[std::get<0>(key)].count(std::get<1>(key)) != 0) {
        blobs_[key] = *std::move(bytes);
      }
    }
    for (const auto& [key, value] : staged_.cursors) {
      if (value.empty()) {
        cursors.erase(key);
      } else {
        cursors[key] = value;
      }
    }
    largest_commit = std::max(largest_commit, staged_.count);
    staged_ = {};
    ++commits;
    return KRUX_OK;
  }

  /// Newest first, as the host does: it decides the order of records that are otherwise equal.
  void apply(Stretch& stretch) {
    std::vector<std::pair<const std::pair<std::string, std::string>*, Change*>> order;
    for (auto& [key, change] : stretch.changes) order.emplace_back(&key, &change);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      if (a.first->first != b.first->first) return a.first->first < b.first->first;
      return a.second->row.order_ms > b.second->row.order_ms;
    });
    for (const auto& [key, change] : order) {
      left_out_.erase(*key);
      if (change->erased) {
        remove(key->first, key->second);
        const auto& row = change->row;
        if (!change->left_out.empty()) left_out_[*key] = {row.scope, change->left_out, row.order_ms, row.generation};
      } else {
        insert(*collection(to_abi(key->first)), key->second, std::move(change->row));
      }
    }
  }

  void insert(const Collection& spec, const std::string& id, Row row) {
    auto& rows = rows_[spec.name];
    const bool by_time = spec.order == Order::kTime;
    row.synced_at_ms = clock_.now_ms;
    const auto old = rows.find(id);
    const auto stays = [&](const Row& before) {
      return !by_time || (before.order_ms == row.order_ms && before.order_key == row.order_key);
    };
    if (old != rows.end() && stays(old->second)) {
      row.sequence = old->second.sequence;
    } else {
      row.sequence = ++sequences_[{spec.name, by_time ? row.order_ms : 0}];
    }
    if (old != rows.end()) row.kept_text = old->second.kept_text;
    rows.insert_or_assign(id, std::move(row));
  }

  void remove(const std::string& c, const std::string& id) {
    rows_[c].erase(id);
    for (auto at = blobs_.lower_bound({c, id, ""});
         at != blobs_.end() && std::get<0>(at->first) == c && std::get<1>(at->first) == id;) {
      at = blobs_.erase(at);
    }
  }

  void sweep(const Sweep& what) {
    std::vector<std::string> gone;
    for (const auto& [id, row] : rows_[what.collection]) {
      const bool in_scope = what.scope.empty() || row.scope == what.scope;
      if (in_scope && row.generation < what.generation && row.order_ms >= what.from_ms && row.order_ms <= what.to_ms)
        gone.push_back(id);
    }
    for (const auto& id : gone) remove(what.collection, id);
    for (auto at = left_out_.begin(); at != left_out_.end();) {
      const auto& one = at->second;
      const bool fits = at->first.first == what.collection && (what.scope.empty() || one.scope == what.scope) &&
                        one.generation < what.generation && one.order_ms >= what.from_ms && one.order_ms <= what.to_ms;
      at = fits ? left_out_.erase(at) : std::next(at);
    }
  }

  /// One that is too long is left out, and its record stays.
  void keep_text(const std::pair<std::string, std::string>& of_record, const std::string& kept) {
    const auto row = rows_[of_record.first].find(of_record.second);
    if (row == rows_[of_record.first].end()) return;
    const bool fits = kept.size() <= 1 << 20;
    row->second.kept_text = fits ? kept : "";
    if (!fits) left_out_[of_record] = {row->second.scope, "the text kept with it is longer than 1 MiB", 0, 0};
  }

  static std::int32_t give(const krux_row_sink& out, const std::string& id, const Row& row) {
    const krux_row abi{sizeof(krux_row), 0, to_abi(id), to_abi(row.json), row.order_ms, row.synced_at_ms};
    return out.row(out.self, &abi);
  }

  krux_status get(krux_str c, krux_str id, const krux_row_sink& out) {
    if (!collection(c)) return refuse_collection(c);
    const auto& rows = rows_[text(c)];
    const auto at = rows.find(text(id));
    if (at == rows.end()) return KRUX_NOT_FOUND;
    give(out, at->first, at->second);
    return KRUX_OK;
  }

  krux_status query(const krux_query& query, const krux_row_sink& out, krux_query_result& result) {
    ++queries;
    const auto* spec = collection(query.collection);
    if (!spec) return refuse_collection(query.collection);
    int left = 1000;
    const auto why = query.where ? detail::condition_problem(*query.where, *spec, 1, left) : "";
    if (!why.empty()) return refuse("The query is refused: " + why + ".");
    if (query.limit > 10'000) return refuse("A query's limit is at most 10000.");
    const auto found = find(query, *spec);
    const auto counted = std::max<std::uint64_t>(query.count_limit ? query.count_limit : 1000,
                                                 std::uint64_t{query.limit} + query.offset);
    result.total = std::min<std::uint64_t>(found.size(), counted);
    result.total_is_lower_bound = out_of_time || found.size() > counted;
    result.incomplete = out_of_time ? 1 : 0;
    for (std::size_t i = query.offset; i < found.size() && i - query.offset < query.limit; ++i) {
      if (give(out, found[i]->first, found[i]->second) != 0) break;
    }
    return KRUX_OK;
  }

  std::vector<const Rows::value_type*> find(const krux_query& query, const Collection& spec) const {
    const bool by_time = spec.order == Order::kTime, descending = query.order == KRUX_ORDER_DESCENDING;
    std::vector<const Rows::value_type*> found;
    for (const auto& entry : rows_.at(spec.name)) {
      const auto& row = entry.second;
      if (by_time && (row.order_ms < query.from_ms || row.order_ms > query.to_ms)) continue;
      if (!query.where || detail::matches(*query.where, row, spec)) found.push_back(&entry);
    }
    std::sort(found.begin(), found.end(), [&](const auto* a, const auto* b) {
      if (by_time) {  // a lower sequence is newer
        if (!descending) std::swap(a, b);
        return std::tie(b->second.order_ms, b->second.order_key, a->second.sequence) <
               std::tie(a->second.order_ms, a->second.order_key, b->second.sequence);
      }
      if (descending) std::swap(a, b);
      return std::tie(a->second.order_key, a->second.sequence) < std::tie(b->second.order_key, b->second.sequence);
    });
    return found;
  }

  const FakeClock& clock_;
  const std::vector<Collection> collections_;
  std::map<std::string, Rows> rows_;
  std::map<BlobKey, std::string> blobs_;
  std::map<std::pair<std::string, std::string>, LeftOut> left_out_;         ///< by collection and id
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> sequences_;  ///< the last one given
  Staged staged_;
  krux_reader reader_{}, fetching_reader_{};
  krux_sync_store store_{};
};

}  // namespace kruxos::testing
