#include <algorithm>

#include "support/fake_host.hpp"

namespace support {
namespace {

constexpr std::size_t kLargestJson = 1 << 20;

std::string text_of(krux_str text) {
  return std::string(kruxos::from_abi(text));
}

FakeStore& of(void* self) {
  return *static_cast<FakeStore*>(self);
}

std::string folded(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

/// A match does not span the joint of two fields.
bool contains(const std::string& text, const std::string& part) {
  return part.find('\x1f') == std::string::npos && folded(text).find(folded(part)) != std::string::npos;
}

template <class T>
bool compares(const T& a, std::int32_t op, const T& b) {
  switch (op) {
    case KRUX_EQ:
      return a == b;
    case KRUX_NE:
      return a != b;
    case KRUX_LT:
      return a < b;
    case KRUX_LE:
      return a <= b;
    case KRUX_GT:
      return a > b;
    case KRUX_GE:
      return a >= b;
    default:
      return false;
  }
}

bool field_matches(const krux_condition& condition, const FakeStore::Row& row) {
  const auto at = row.fields.find(kruxos::from_abi(condition.field));
  if (at == row.fields.end()) return condition.op == KRUX_NE;
  if (const auto* number = std::get_if<std::int64_t>(&at->second)) {
    return compares(*number, condition.op, condition.number);
  }
  const auto& text = std::get<std::string>(at->second);
  if (condition.op == KRUX_CONTAINS) return contains(text, text_of(condition.text));
  return compares(text, condition.op, text_of(condition.text));
}

bool matches(const krux_condition& condition, const FakeStore::Row& row) {
  if (condition.kind == KRUX_TEXT) return contains(row.text, text_of(condition.text));
  if (condition.kind == KRUX_FIELD) return field_matches(condition, row);
  const auto* begin = condition.children;
  const auto* end = begin + condition.child_count;
  const auto child = [&](const krux_condition* c) { return matches(*c, row); };
  if (condition.kind == KRUX_ALL_OF) return std::all_of(begin, end, child);
  const bool any = std::any_of(begin, end, child);
  return condition.kind == KRUX_ANY_OF ? any : !any;
}

std::int32_t give(const krux_row_sink* out, const std::string& id, const FakeStore::Row& row) {
  const krux_row abi{sizeof(krux_row), 0, kruxos::to_abi(id), kruxos::to_abi(row.json), row.order_ms, row.synced_at_ms};
  return out->row(out->self, &abi);
}

bool has_nul(krux_str text) {
  return kruxos::from_abi(text).find('\0') != std::string_view::npos;
}

}  // namespace

FakeStore::FakeStore(const FakeClock& clock, std::vector<kruxos::Collection> collections)
    : clock_(clock), collections_(std::move(collections)) {
  for (const auto& known : collections_) rows_[known.name];
  fill_reader();
  fill_changes();
  fill_cursors();
}

void FakeStore::fill_reader() {
  reader_.size = sizeof(reader_);
  reader_.self = this;
  reader_.get = [](void* self, krux_str c, krux_str id, const krux_row_sink* out) noexcept {
    return of(self).get(c, id, out);
  };
  reader_.query = [](void* self, const krux_query* query, const krux_row_sink* out,
                     krux_query_result* result) noexcept { return of(self).query(query, out, result); };
  reader_.blob = [](void*, krux_str, krux_str, krux_str, const krux_sink*) noexcept -> krux_status {
    return KRUX_NOT_FOUND;
  };
}

void FakeStore::fill_changes() {
  store_.size = sizeof(store_);
  store_.self = this;
  store_.reader = &reader_;
  store_.put = [](void* self, const krux_record* record) noexcept { return of(self).put(record); };
  store_.erase = [](void* self, krux_str c, krux_str id) noexcept -> krux_status {
    of(self).staged_.push_back([self, c = text_of(c), id = text_of(id)] { of(self).rows_[c].erase(id); });
    return KRUX_OK;
  };
  store_.sweep = [](void* self, krux_str c, krux_str scope, std::int64_t generation, std::int64_t from_ms,
                    std::int64_t to_ms) noexcept -> krux_status {
    of(self).staged_.push_back([self, c = text_of(c), scope = text_of(scope), generation, from_ms, to_ms] {
      of(self).sweep(c, scope, generation, from_ms, to_ms);
    });
    return KRUX_OK;
  };
  store_.put_blob = [](void*, krux_str, krux_str, krux_str, const krux_source*) noexcept -> krux_status {
    return KRUX_UNSUPPORTED;
  };
  store_.commit = [](void* self) noexcept { return of(self).commit(); };
}

void FakeStore::fill_cursors() {
  store_.get_cursor = [](void* self, krux_str key, const krux_sink* out) noexcept -> krux_status {
    ++of(self).cursor_reads;
    const auto at = of(self).cursors.find(text_of(key));
    if (at == of(self).cursors.end()) return KRUX_NOT_FOUND;
    out->write(out->self, kruxos::to_abi(at->second));
    return KRUX_OK;
  };
  store_.set_cursor = [](void* self, krux_str key, krux_str value) noexcept -> krux_status {
    of(self).staged_.push_back([self, key = text_of(key), value = text_of(value)] {
      if (value.empty()) {
        of(self).cursors.erase(key);
      } else {
        of(self).cursors[key] = value;
      }
    });
    return KRUX_OK;
  };
  store_.report = [](void* self, krux_str part, krux_status status, krux_str message) noexcept -> krux_status {
    if (status == KRUX_OK) {
      of(self).reports.erase(text_of(part));
    } else {
      of(self).reports[text_of(part)] = {status, text_of(message)};
    }
    return KRUX_OK;
  };
}

const kruxos::Collection* FakeStore::collection(std::string_view name) const {
  const auto at = std::find_if(collections_.begin(), collections_.end(), [&](const auto& c) { return c.name == name; });
  return at == collections_.end() ? nullptr : &*at;
}

bool FakeStore::fits(const krux_record& record, const kruxos::Collection& collection) const {
  if (record.id.len == 0 || record.json.len > kLargestJson) return false;
  if (has_nul(record.id) || has_nul(record.json) || has_nul(record.text) || has_nul(record.scope)) return false;
  return std::all_of(record.fields, record.fields + record.field_count, [&](const krux_field& field) {
    return !has_nul(field.text) &&
           std::any_of(collection.fields.begin(), collection.fields.end(),
                       [&](const kruxos::Field& known) { return known.name == kruxos::from_abi(field.name); });
  });
}

krux_status FakeStore::put(const krux_record* record) {
  const auto* spec = collection(kruxos::from_abi(record->collection));
  if (!spec || !fits(*record, *spec)) return KRUX_INVALID;
  if (const auto refused = refuse_put ? refuse_put(*record) : KRUX_OK; refused != KRUX_OK) return refused;
  Row row{text_of(record->json),
          text_of(record->text),
          text_of(record->order_key),
          text_of(record->scope),
          record->order_ms,
          record->generation,
          clock_.now_ms,
          {}};
  for (std::size_t i = 0; i < record->field_count; ++i) {
    const auto& field = record->fields[i];
    const auto known = std::find_if(spec->fields.begin(), spec->fields.end(),
                                    [&](const kruxos::Field& f) { return f.name == kruxos::from_abi(field.name); });
    if (known->type == kruxos::FieldType::kText) {
      row.fields[known->name] = text_of(field.text);
    } else {
      row.fields[known->name] = field.number;
    }
  }
  staged_.push_back([this, c = spec->name, id = text_of(record->id), row = std::move(row)] { rows_[c][id] = row; });
  return KRUX_OK;
}

krux_status FakeStore::commit() {
  if (const auto refused = refuse_commit ? refuse_commit() : KRUX_OK; refused != KRUX_OK) return refused;
  for (const auto& change : staged_) change();
  largest_commit = std::max<std::uint64_t>(largest_commit, staged_.size());
  staged_.clear();
  ++commits;
  return KRUX_OK;
}

void FakeStore::sweep(const std::string& name, const std::string& scope, std::int64_t generation, std::int64_t from_ms,
                      std::int64_t to_ms) {
  std::erase_if(rows_[name], [&](const auto& entry) {
    const auto& row = entry.second;
    return (scope.empty() || row.scope == scope) && row.generation < generation && row.order_ms >= from_ms &&
           row.order_ms <= to_ms;
  });
}

krux_status FakeStore::get(krux_str name, krux_str id, const krux_row_sink* out) {
  const auto rows = rows_.find(text_of(name));
  if (rows == rows_.end()) return KRUX_INVALID;
  const auto at = rows->second.find(text_of(id));
  if (at == rows->second.end()) return KRUX_NOT_FOUND;
  give(out, at->first, at->second);
  return KRUX_OK;
}

krux_status FakeStore::query(const krux_query* query, const krux_row_sink* out, krux_query_result* result) {
  ++queries;
  const auto* spec = collection(kruxos::from_abi(query->collection));
  if (!spec) return KRUX_INVALID;
  const bool by_time = spec->order == kruxos::Order::kTime;
  std::vector<const Rows::value_type*> found;
  for (const auto& entry : rows_[spec->name]) {
    const auto& row = entry.second;
    if (by_time && (row.order_ms < query->from_ms || row.order_ms > query->to_ms)) continue;
    if (!query->where || matches(*query->where, row)) found.push_back(&entry);
  }
  std::stable_sort(found.begin(), found.end(), [&](const auto* a, const auto* b) {
    if (query->order == KRUX_ORDER_DESCENDING) std::swap(a, b);
    if (by_time && a->second.order_ms != b->second.order_ms) return a->second.order_ms < b->second.order_ms;
    if (!by_time && a->second.order_key != b->second.order_key) return a->second.order_key < b->second.order_key;
    return a->first < b->first;
  });
  const std::uint64_t counted = query->count_limit ? query->count_limit : 1000;
  result->total = std::min<std::uint64_t>(found.size(), counted);
  result->total_is_lower_bound = found.size() > counted;
  for (std::size_t i = query->offset; i < found.size() && i - query->offset < query->limit; ++i) {
    if (give(out, found[i]->first, found[i]->second) != 0) break;
  }
  return KRUX_OK;
}

}  // namespace support
