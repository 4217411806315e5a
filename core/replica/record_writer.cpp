#include "core/replica/record_writer.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <array>

#include "core/replica/record_key.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// 128 bits of everything that a put can change but the generation. Cryptographic: what people write in a service must
/// not be able to look unchanged when it was edited.
class Digest {
 public:
  explicit Digest(const Record& record) {
    crypto_generichash_init(&state_, nullptr, 0, bytes_.size());
    for (const auto* text : {&record.json, &record.text, &record.order_key, &record.scope}) add(*text);
    add(record.order_ms);
    for (const auto& [name, value] : record.fields) {
      add(name);
      std::visit([this](const auto& v) { add(v); }, value);
    }
    // A record without them has the digest that it always had.
    if (!record.tags.empty() || !record.texts.empty()) add_tags_and_texts(record);
    crypto_generichash_final(&state_, bytes_.data(), bytes_.size());
  }
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  /// No name has the length -1.
  void add_tags_and_texts(const Record& record) {
    add(std::int64_t{-1});
    add(static_cast<std::int64_t>(record.tags.size()));
    for (const auto& tag : record.tags) add(tag);
    for (const auto& [name, value] : record.texts) {
      add(name);
      add(value);
    }
  }
  void add(const std::string& text) {
    add(static_cast<std::int64_t>(text.size()));
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  void add(std::int64_t number) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(&number), sizeof number);
  }

  crypto_generichash_state state_;
  std::array<unsigned char, 16> bytes_;
};

void bind_fields(Statement& statement, int first, const CollectionTable& table, const Record& record) {
  for (std::size_t i = 0; i < table.spec.fields.size(); ++i) {
    const int index = first + static_cast<int>(i);
    statement.bind(index, nullptr);
    for (const auto& [name, value] : record.fields) {
      if (name == table.spec.fields[i].name) std::visit([&](const auto& v) { statement.bind(index, v); }, value);
    }
  }
}

constexpr const char* kTooManyOfOneTime =
    "more than 65536 records of its collection have its order_ms, which an adapter avoids by times of their own or by "
    "an order by key";

}  // namespace

const RecordWriter::Prepared& RecordWriter::prepared(const std::string& collection) {
  if (const auto known = prepared_.find(collection); known != prepared_.end()) return known->second;
  const auto& t = tables_.get(collection);
  std::string places;
  for (std::size_t i = 0; i < t.spec.fields.size(); ++i) places += fmt::format(", ?{}", i + 9);
  const Prepared made{
      &t,
      &statements_.get(fmt::format("SELECT s.key, s.generation, s.synced_at_ms, s.digest, c.order_key FROM {} c JOIN "
                                   "{} s ON s.key = c.key WHERE "
                                   "c.id = ?1",
                                   t.rows, t.seen)),
      &statements_.get(fmt::format("SELECT key FROM {} WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT 1", t.rows)),
      &statements_.get(fmt::format(
          "INSERT INTO {} (key, id, order_ms, order_key, scope, own_bytes, text, json{}) VALUES (?1, ?2, ?3, "
          "?4, ?5, ?6, ?7, ?8{})",
          t.rows, t.field_columns, places)),
      &statements_.get(fmt::format("INSERT INTO {} VALUES (?1, ?2, ?3, ?4)", t.seen)),
      &statements_.get(
          fmt::format("UPDATE {} SET generation = ?2, synced_at_ms = ?3, digest = ?4 WHERE key = ?1", t.seen)),
      t.by_time()
          ? &statements_.get(fmt::format("SELECT key, order_key FROM {} WHERE key BETWEEN ?1 AND ?2 AND id <> ?3 "
                                         "ORDER BY key DESC LIMIT 1",
                                         t.rows))
          : nullptr,
      t.by_time() ? &statements_.get(fmt::format("SELECT key FROM {} WHERE key BETWEEN ?1 AND ?2 AND id <> ?3 AND "
                                                 "order_key < ?4 ORDER BY key LIMIT 1",
                                                 t.rows))
                  : nullptr};
  return prepared_.emplace(collection, made).first->second;
}

void RecordWriter::put(const Record& record, const std::string* kept, std::int64_t now_ms) {
  const auto& p = prepared(record.collection);
  const Digest digest(record);
  Present present{};
  const bool is_there = find(p, record, digest.view(), present);
  const bool moves = is_there && !present.same && !is_in_place(p, record, present);
  const auto key = is_there && !moves ? present.key : free_key(p, record);
  if (!key) return leave_out(record, kTooManyOfOneTime, now_ms);
  if (any_left_out_) left_out_.forget(p.table->set, record.id, LeftOutPart::kRecord);
  if (!is_there) {
    SearchedText text;
    text.set_own(own_text(*p.table, record));
    if (kept) text.set_kept(searched_text(*kept, p.table->spec));
    insert(p, *key, record, text, digest.view(), now_ms);
    ++changes_.added;
    note(record.collection, record.id);
    ++growth_[record.collection];
    return;
  }
  if (present.same) {
    ++changes_.unchanged;
    if (kept) keep_text(record.collection, record.id, *kept);
    if (present.generation == record.generation && present.synced_at_ms == now_ms) return;
    return mark_seen(p, record, present.key, digest.view(), now_ms);
  }
  ++changes_.updated;
  note(record.collection, record.id);
  if (kept && any_left_out_) left_out_.forget(p.table->set, record.id, LeftOutPart::kKeptText);
  if (moves) {
    // Where room was made for it, it has been given another key itself.
    const auto from = key_of(*p.table, record.id).value_or(present.key);
    auto text = texts_.of(*p.table, from);
    text.set_own(own_text(*p.table, record));
    if (kept) text.set_kept(searched_text(*kept, p.table->spec));
    text.leave_out_accents();  // the kept one may be of an earlier version
    remove_rows(*p.table, from);
    return insert(p, *key, record, text, digest.view(), now_ms);
  }
  update(*p.table, record, kept, present.key);
  mark_seen(p, record, present.key, digest.view(), now_ms);
}

bool RecordWriter::find(const Prepared& p, const Record& record, std::string_view digest, Present& present) {
  const ResetAtEnd reset(*p.find);
  p.find->bind(1, record.id);
  if (!p.find->step()) return false;
  present.key = p.find->integer(0);
  present.generation = p.find->integer(1);
  present.synced_at_ms = p.find->integer(2);
  present.same = p.find->blob(3) == digest;
  present.same_order_key = p.find->text(4) == record.order_key;
  present.order_ms = p.table->by_time() ? kTimeBound - (present.key >> kSequenceBits) : 0;
  return true;
}

void RecordWriter::insert(const Prepared& p, std::int64_t key, const Record& record, const SearchedText& text,
                          std::string_view digest, std::int64_t now_ms) {
  auto& row = *p.insert;
  const ResetAtEnd reset(row);
  row.bind(1, key);
  row.bind(2, record.id);
  row.bind(3, record.order_ms);
  row.bind(4, record.order_key);
  row.bind(5, record.scope);
  row.bind(6, static_cast<std::int64_t>(text.own_bytes));
  row.bind(7, text.all);
  row.bind(8, record.json);
  bind_fields(row, 9, *p.table, record);
  row.run();
  const ResetAtEnd reset_seen(*p.insert_seen);
  p.insert_seen->bind(1, key);
  p.insert_seen->bind(2, record.generation);
  p.insert_seen->bind(3, now_ms);
  p.insert_seen->bind_blob(4, digest);
  p.insert_seen->run();
  texts_.index(*p.table, key, text);
}

void RecordWriter::mark_seen(const Prepared& p, const Record& record, std::int64_t key, std::string_view digest,
                             std::int64_t now_ms) {
  const ResetAtEnd reset(*p.mark_seen);
  p.mark_seen->bind(1, key);
  p.mark_seen->bind(2, record.generation);
  p.mark_seen->bind(3, now_ms);
  p.mark_seen->bind_blob(4, digest);
  p.mark_seen->run();
}

std::string RecordWriter::own_text(const CollectionTable& table, const Record& record) {
  auto& numbers = tags_.try_emplace(table.set, statements_, table).first->second;
  return own_searched_text(record, table.spec, [&](const std::string& tag) { return numbers.give(tag); });
}

std::optional<std::int64_t> RecordWriter::key_of(const CollectionTable& table, std::string_view id) {
  auto& find = statements_.get(fmt::format("SELECT key FROM {} WHERE id = ?1", table.rows));
  const ResetAtEnd reset(find);
  find.bind(1, id);
  return find.step() ? std::optional(find.integer(0)) : std::nullopt;
}

std::int64_t RecordWriter::newest_generation(const std::string& collection) {
  auto& row = statements_.get(fmt::format("SELECT max(generation) FROM {}", tables_.get(collection).seen));
  const ResetAtEnd reset(row);
  return row.step() ? row.integer(0) : 0;
}

void RecordWriter::keep_text(const std::string& collection, std::string_view id, const std::string& kept) {
  const auto& table = tables_.get(collection);
  const auto key = key_of(table, id);
  if (!key) return;
  if (any_left_out_) left_out_.forget(table.set, id, LeftOutPart::kKeptText);
  const auto before = texts_.of(table, *key);
  auto text = before;
  text.set_kept(searched_text(kept, table.spec));
  texts_.update(table, *key, before, text);
}

void RecordWriter::leave_out(const Record& record, std::string_view why, std::int64_t now_ms) {
  const auto& table = tables_.get(record.collection);
  if (const auto key = key_of(table, record.id)) remove(table, *key, record.id);
  left_out_.note(table.set, record, LeftOutPart::kRecord, why, now_ms);
  any_left_out_ = true;
}

void RecordWriter::leave_out_kept_text(const Record& record, std::string_view why, std::int64_t now_ms) {
  const auto& table = tables_.get(record.collection);
  if (!key_of(table, record.id)) return;
  left_out_.note(table.set, record, LeftOutPart::kKeptText, why, now_ms);
  any_left_out_ = true;
}

std::optional<LeftOutCounts> RecordWriter::left_out() {
  return left_out_.changed() ? std::optional(left_out_.counts()) : std::nullopt;
}

void RecordWriter::update(const CollectionTable& table, const Record& record, const std::string* kept,
                          std::int64_t key) {
  const auto before = texts_.of(table, key);
  auto text = before;
  text.set_own(own_text(table, record));
  if (kept) text.set_kept(searched_text(*kept, table.spec));
  text.leave_out_accents();  // see put()
  texts_.update(table, key, before, text);
  std::string fields;
  for (std::size_t i = 0; i < table.spec.fields.size(); ++i) {
    fields += fmt::format(", f_{} = ?{}", table.spec.fields[i].name, i + 6);
  }
  auto& row = statements_.get(fmt::format(
      "UPDATE {} SET order_ms = ?2, order_key = ?3, scope = ?4, json = ?5{} WHERE key = ?1", table.rows, fields));
  const ResetAtEnd reset(row);
  row.bind(1, key);
  row.bind(2, record.order_ms);
  row.bind(3, record.order_key);
  row.bind(4, record.scope);
  row.bind(5, record.json);
  bind_fields(row, 6, table, record);
  row.run();
}

void RecordWriter::erase(const std::string& collection, std::string_view id) {
  const auto& table = tables_.get(collection);
  if (any_left_out_) left_out_.forget(table.set, id);
  if (const auto key = key_of(table, id)) remove(table, *key, id);
}

void RecordWriter::sweep(const Sweep& sweep) {
  const auto& table = tables_.get(sweep.collection);
  const auto range = table.by_time() ? keys_between(sweep.from_ms, sweep.to_ms) : KeyRange{INT64_MIN + 1, INT64_MAX};
  const auto from = sweep.scope.empty() ? fmt::format("{} s CROSS JOIN {} c ON c.key = s.key", table.seen, table.rows)
                                        : fmt::format("{0} c INDEXED BY {2} CROSS JOIN {1} s ON s.key = c.key",
                                                      table.rows, table.seen, table.scope_index());
  const auto* const scope = sweep.scope.empty() ? "?4 = ''" : "c.scope = ?4 AND c.scope <> ''";
  auto& find = statements_.get(fmt::format(
      "SELECT c.key, c.id FROM {} WHERE {} AND {}.key BETWEEN ?1 AND ?2 AND s.generation < ?3 AND c.order_ms "
      "BETWEEN ?5 AND ?6",
      from, scope, sweep.scope.empty() ? "s" : "c"));
  find.bind_all(range.low, range.high, sweep.generation, sweep.scope, sweep.from_ms, sweep.to_ms);
  std::vector<std::pair<std::int64_t, std::string>> found;
  while (find.step()) found.emplace_back(find.integer(0), find.text(1));
  for (const auto& [key, id] : found) remove(table, key, id);
  if (any_left_out_) left_out_.sweep(table.set, sweep);
}

void RecordWriter::remove(const CollectionTable& table, std::int64_t key, std::string_view id) {
  remove_rows(table, key);
  if (any_left_out_) left_out_.forget(table.set, id);
  auto& blobs = statements_.get("DELETE FROM blobs WHERE collection = ?1 AND id = ?2");
  const ResetAtEnd reset(blobs);
  blobs.bind_all(std::string_view(table.set), id);
  blobs.run();
  ++changes_.removed;
  note(table.spec.name, id);
  --growth_[table.spec.name];
}

void RecordWriter::remove_rows(const CollectionTable& table, std::int64_t key) {
  if (table.spec.searchable) texts_.unindex(table, key, texts_.of(table, key));
  for (const auto* name : {&table.rows, &table.seen}) {
    auto& statement = statements_.get(fmt::format("DELETE FROM {} WHERE key = ?1", *name));
    statement.bind(1, key);
    statement.run();
  }
}

}  // namespace krux
