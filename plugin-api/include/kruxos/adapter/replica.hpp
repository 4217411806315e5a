// kruxos/adapter/replica.hpp - the account's replica: collections, queries, and what a sync step writes.
#pragma once
#include <kruxos/abi/sync.h>
#include <kruxos/adapter/call.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kruxos {

enum class FieldType { kText, kInteger };
/// How a collection's records are ordered: by Record::order_ms, or by the bytes of Record::order_key.
enum class Order { kTime, kKey };

/// A value by which records are filtered. At most 16 a collection.
struct Field {
  std::string name;  ///< [a-z][a-z0-9_]{0,31}
  FieldType type = FieldType::kText;
};

/// A text that is searched by its name alone (text_of()): the sender of a message, apart from what it says. At most 16
/// a collection.
struct NamedText {
  std::string name;    ///< [a-z][a-z0-9_]{0,31}
  bool exact = false;  ///< byte by byte; else case and Unicode normal form do not count, as in the record's text
};

/// One kind of record. Raise `version` whenever what you put changes: the host then makes a full pass and builds the
/// collection anew. Until that has ended, reads are shown the records that the version before has put, as long as these
/// have the fields that a query names; where a read of yours fails on them, it is asked again with the new ones.
struct Collection {
  std::string name;          ///< [a-z][a-z0-9_]{0,31}
  std::int64_t version = 1;  ///< from 1 on
  Order order = Order::kTime;
  bool searchable = false;  ///< whether records have a text that is searched
  std::vector<Field> fields{};
  /// What the names of the cursors begin with that stand for this collection alone. Where it is new or has changed,
  /// only these are removed; without it all are. An older host refuses a description that has it.
  std::string cursors{};
  /// In searchable collections: whether records have tags, and which texts of their own. An older host than 1.2 refuses
  /// a description that has them.
  bool tags = false;
  std::vector<NamedText> texts{};
};

/// Of the type that the field was declared with.
using Value = std::variant<std::string, std::int64_t>;

/// What sync puts. All texts are UTF-8 without NUL.
struct Record {
  std::string collection;
  std::string id;      ///< 1 to 1024 bytes, its own within the collection
  std::string json;    ///< one JSON object of at most 1 MiB; comes back from the reader as it is
  std::string text{};  ///< what is searched: fields joined with char(31), at most 1 MiB
  /// Collections ordered by key; at most 1024 bytes. Ordered by time: the order among those of one order_ms, greater
  /// ones newer, where milliseconds are not enough; those without one are the oldest of them.
  std::string order_key{};
  std::int64_t order_ms = 0;    ///< collections ordered by time: Unix milliseconds
  std::string scope{};          ///< what sweep() works on: usually the container's id; at most 1024 bytes
  std::int64_t generation = 0;  ///< the pass that saw it; what sweep() compares with
  std::vector<std::pair<std::string, Value>> fields{};  ///< those left out have no value
  /// What has_tag() finds the record by, such as its labels, in collections with tags: at most 1024, each of 1 to 256
  /// bytes, and such as many records share.
  std::vector<std::string> tags{};
  /// Names and values of the collection's named texts; of one name there may be several. With `text` at most 1 MiB.
  std::vector<std::pair<std::string, std::string>> texts{};

  Record& tag(std::string value) {
    tags.push_back(std::move(value));
    return *this;
  }
  Record& named_text(std::string name, std::string value) {
    texts.emplace_back(std::move(name), std::move(value));
    return *this;
  }
};

/// A condition on records, at most 1000 in a query and 16 deep. Build it with the functions below:
/// all_of({contains_text("x"), field_eq("channel", "C1")}).
struct Condition {
  std::int32_t kind = KRUX_ALL_OF;
  std::int32_t op = KRUX_EQ;
  std::string field{}, text{};
  std::int64_t number = 0;
  std::vector<Condition> children{};
};

/// Fits where all do; of nothing: everything.
inline Condition all_of(std::vector<Condition> of) {
  return {KRUX_ALL_OF, 0, {}, {}, 0, std::move(of)};
}
/// Fits where one does; of nothing: no record.
inline Condition any_of(std::vector<Condition> of) {
  return {KRUX_ANY_OF, 0, {}, {}, 0, std::move(of)};
}
/// Fits where none does.
inline Condition none_of(std::vector<Condition> of) {
  return {KRUX_NONE_OF, 0, {}, {}, 0, std::move(of)};
}
/// Fits where the record's text contains `part`, whatever the case and the Unicode normal form of both.
inline Condition contains_text(std::string part) {
  return {KRUX_TEXT, 0, {}, std::move(part), 0, {}};
}
/// Fits where the record has exactly this tag.
inline Condition has_tag(std::string tag) {
  return {KRUX_TAG, 0, {}, std::move(tag), 0, {}};
}
/// Fits where one of the record's values of the named text contains `part`: byte by byte where the text was declared as
/// exact, else whatever the case and the normal form.
inline Condition text_of(std::string name, std::string part) {
  return {KRUX_NAMED_TEXT, 0, std::move(name), std::move(part), 0, {}};
}
/// `op` is one of KRUX_EQ, KRUX_NE, KRUX_LT, KRUX_LE, KRUX_GT, KRUX_GE, which compare bytes, and KRUX_CONTAINS, which
/// folds both. A record without a value fits KRUX_NE alone.
inline Condition field_is(std::string field, std::int32_t op, std::string text) {
  return {KRUX_FIELD, op, std::move(field), std::move(text), 0, {}};
}
/// The same for fields of type integer, without KRUX_CONTAINS.
inline Condition field_is(std::string field, std::int32_t op, std::int64_t number) {
  return {KRUX_FIELD, op, std::move(field), {}, number, {}};
}
inline Condition field_eq(std::string field, std::string text) {
  return field_is(std::move(field), KRUX_EQ, std::move(text));
}
inline Condition field_eq(std::string field, std::int64_t number) {
  return field_is(std::move(field), KRUX_EQ, number);
}

struct Query {
  std::string collection;
  Condition where{};       ///< everything, unless said
  bool descending = true;  ///< by the collection's order: newest first. What is equal has no order to rely on
  /// Both included, for collections ordered by time.
  std::int64_t from_ms = std::numeric_limits<std::int64_t>::min(), to_ms = std::numeric_limits<std::int64_t>::max();
  std::uint32_t limit = 20, offset = 0;  ///< limit: at most 10,000
  std::uint32_t count_limit = 0;         ///< how far `total` is counted exactly; 0: the host's default, 1000
};

/// Borrowed for the callback that gets it.
struct Row {
  std::string_view id, json;      ///< as they were put
  std::int64_t order_ms = 0;      ///< Unix milliseconds, of collections ordered by time
  std::int64_t synced_at_ms = 0;  ///< Unix milliseconds: when a sync last saw the record
};

/// Whether the replica has taken a record.
struct PutResult {
  bool taken = true;
  std::string why{};  ///< it has not: a reason to be put behind the record's name, "its json: ..."
};

struct QueryResult {
  std::uint64_t total = 0;            ///< how many fit, limit and offset apart
  bool total_is_lower_bound = false;  ///< more than count_limit fit, or the time was used up
  bool incomplete = false;            ///< the time was used up before the page was full: say so in your answer
};

namespace detail {

/// A Record in the boundary's terms. Pinned: it points into `source`.
class AbiRecord {
 public:
  explicit AbiRecord(const Record& source) {
    fields_.reserve(source.fields.size());
    for (const auto& [name, value] : source.fields) {
      const auto* text = std::get_if<std::string>(&value);
      fields_.push_back({to_abi(name), text ? to_abi(*text) : krux_str{}, text ? 0 : std::get<std::int64_t>(value)});
    }
    tags_.reserve(source.tags.size());
    for (const auto& tag : source.tags) tags_.push_back(to_abi(tag));
    texts_.reserve(source.texts.size());
    for (const auto& [name, value] : source.texts) texts_.push_back({to_abi(name), to_abi(value)});
    record = {sizeof(krux_record),
              0,
              to_abi(source.collection),
              to_abi(source.id),
              to_abi(source.json),
              to_abi(source.text),
              to_abi(source.order_key),
              source.order_ms,
              to_abi(source.scope),
              source.generation,
              fields_.data(),
              fields_.size(),
              tags_.data(),
              tags_.size(),
              texts_.data(),
              texts_.size()};
  }
  AbiRecord(const AbiRecord&) = delete;
  AbiRecord& operator=(const AbiRecord&) = delete;
  krux_record record{};

 private:
  std::vector<krux_field> fields_;
  std::vector<krux_str> tags_;
  std::vector<krux_named_text> texts_;
};

/// A Condition in the boundary's terms. Pinned: nodes point at each other and into `source`.
class AbiCondition {
 public:
  explicit AbiCondition(const Condition& source) {
    children_.reserve(source.children.size());
    for (const auto& child : source.children) {
      children_.push_back(std::make_unique<AbiCondition>(child));
      pointers_.push_back(&children_.back()->node);
    }
    node = {sizeof(krux_condition), source.kind,      source.op,       0, to_abi(source.field), to_abi(source.text),
            source.number,          pointers_.data(), pointers_.size()};
  }
  AbiCondition(const AbiCondition&) = delete;
  AbiCondition& operator=(const AbiCondition&) = delete;
  krux_condition node{};

 private:
  std::vector<std::unique_ptr<AbiCondition>> children_;
  std::vector<const krux_condition*> pointers_;
};

template <class Put>
PutResult put_by(Put&& put) {
  StringSink why;
  std::int32_t taken = 1;
  const auto status = put(&taken, &why.sink);
  why.caught.rethrow();
  check(status, "a record");
  return {taken != 0, std::move(why.text)};
}

}  // namespace detail

/// A read-only, consistent view of the replica. Borrowed for the call; the call's own thread only. Callbacks may use it
/// again, and what they throw is thrown here. Throws ProxyError: kInvalid for what was not declared or does not fit,
/// kStorage, kCancelled.
class Reader {
 public:
  using OnRow = std::function<bool(const Row&)>;  ///< false: stop

  /// Borrows the host's table.
  explicit Reader(const krux_reader* reader) noexcept : reader_(reader) {}

  /// False when there is no such record.
  bool get(std::string_view collection, std::string_view id, const OnRow& on_row) const {
    Rows rows{on_row, {}};
    const auto sink = rows.sink();
    return rows.finish(reader_->get(reader_->self, to_abi(collection), to_abi(id), &sink), "to read a record");
  }
  /// The record's JSON, or nothing when there is no such record.
  std::optional<std::string> get(std::string_view collection, std::string_view id) const {
    std::optional<std::string> json;
    get(collection, id, [&](const Row& row) {
      json.emplace(row.json);
      return true;
    });
    return json;
  }

  /// Gives the rows in order, at most `query.limit`.
  QueryResult query(const Query& query, const OnRow& on_row) const {
    const detail::AbiCondition where(query.where);
    const krux_query abi{sizeof(krux_query),
                         query.descending ? KRUX_ORDER_DESCENDING : KRUX_ORDER_ASCENDING,
                         to_abi(query.collection),
                         &where.node,
                         query.from_ms,
                         query.to_ms,
                         query.limit,
                         query.offset,
                         query.count_limit,
                         0};
    krux_query_result result{};
    result.size = sizeof(result);
    Rows rows{on_row, {}};
    const auto sink = rows.sink();
    rows.finish(reader_->query(reader_->self, &abi, &sink, &result), "this query");
    return {result.total, result.total_is_lower_bound != 0, result.incomplete != 0};
  }

  /// Bytes kept by SyncStore::put_blob, or nothing.
  std::optional<std::string> blob(std::string_view collection, std::string_view id, std::string_view name) const {
    detail::StringSink out;
    const auto status = reader_->blob(reader_->self, to_abi(collection), to_abi(id), to_abi(name), &out.sink);
    out.caught.rethrow();
    if (status == KRUX_NOT_FOUND) return std::nullopt;
    detail::check(status, "to read a blob");
    return std::move(out.text);
  }

  /// In a read whose definition says `fetches`: keeps with a record what the service was asked for, durably and at
  /// once, so that the next read finds it: `bytes` as its blob `name`, and `kept_text` (at most 1 MiB; empty: as it
  /// was) as the text that is searched besides the record's own. This view does not see it. False when there is no such
  /// record any more. Throws kUnsupported in other calls, and where the host is older than 1.1.
  bool keep(std::string_view collection, std::string_view id, std::string_view name, std::string_view bytes,
            std::string_view kept_text) const {
    if (!KRUX_HAS(krux_reader, reader_, keep))
      throw ProxyError(ErrorKind::kUnsupported, "This host cannot keep what a read has fetched.");
    std::string_view left = bytes;
    const krux_source source{&left, static_cast<std::int64_t>(bytes.size()), &read_rest};
    const auto status =
        reader_->keep(reader_->self, to_abi(collection), to_abi(id), to_abi(name), &source, to_abi(kept_text));
    if (status == KRUX_NOT_FOUND) return false;
    detail::check(status, "to keep what was fetched");
    return true;
  }

  /// In a read whose definition says `fetches`: adds a record that the service was asked for and that the replica
  /// lacks, durably and at once; one that is there stays as the sync has put it. Its generation is not looked at. This
  /// view does not see it. Not taken: the replica cannot take it, or is being built anew. Throws kUnsupported where
  /// keep() does, and where the host is older than 1.2.
  PutResult put(const Record& record) const {
    if (!KRUX_HAS(krux_reader, reader_, put))
      throw ProxyError(ErrorKind::kUnsupported, "This host cannot put what a read has fetched.");
    const detail::AbiRecord abi(record);
    return detail::put_by([&](std::int32_t* taken, const krux_sink* why) {
      return reader_->put(reader_->self, &abi.record, taken, why);
    });
  }

 private:
  static std::int64_t read_rest(void* self, char* buffer, std::size_t capacity) noexcept {
    auto& left = *static_cast<std::string_view*>(self);
    const auto count = left.copy(buffer, capacity);
    left.remove_prefix(count);
    return static_cast<std::int64_t>(count);
  }
  struct Rows {
    const OnRow& on_row;
    detail::Caught caught;
    krux_row_sink sink() {
      return {this, [](void* self, const krux_row* row) noexcept -> std::int32_t {
                auto& me = *static_cast<Rows*>(self);
                return me.caught.run([&] {
                  return me.on_row({from_abi(row->id), from_abi(row->json), row->order_ms, row->synced_at_ms});
                });
              }};
    }
    bool finish(krux_status status, const char* what) const {
      caught.rethrow();
      if (status == KRUX_NOT_FOUND) return false;
      detail::check(status, what);
      return true;
    }
  };
  const krux_reader* reader_;
};

/// What one sync step may change. Changes and cursors become visible together with commit(); what is not committed when
/// the step returns is dropped. At most 64 MiB between two commits: commit after each page, of 200 records or fewer.
/// Borrowed for the call; the call's own thread only. Throws ProxyError: kInvalid for what was not declared or does not
/// fit (which was not taken then), kStorage, kCancelled.
class SyncStore {
 public:
  /// Borrows the host's table.
  explicit SyncStore(const krux_sync_store* store) noexcept : store_(store) {}

  Reader reader() const noexcept { return Reader(store_->reader); }  ///< the committed rows

  /// Adds the record, or replaces the one of that id.
  void put(const Record& record) {
    const detail::AbiRecord abi(record);
    detail::check(store_->put(store_->self, &abi.record), "a record");
  }
  /// The same, and says where the replica cannot take the record and leaves it out. A host older than 1.2 does not say:
  /// it counts as taken.
  PutResult try_put(const Record& record) {
    if (!KRUX_HAS(krux_sync_store, store_, try_put)) {
      put(record);
      return {};
    }
    const detail::AbiRecord abi(record);
    return detail::put_by([&](std::int32_t* taken, const krux_sink* why) {
      return store_->try_put(store_->self, &abi.record, taken, why);
    });
  }
  /// Removes the record and its blobs; one that is not there is no error.
  void erase(std::string_view collection, std::string_view id) {
    detail::check(store_->erase(store_->self, to_abi(collection), to_abi(id)), "to erase a record");
  }
  /// Removes the rows of `scope` (empty: all) that a complete pass over [from_ms, to_ms] did not see: those of an
  /// earlier generation. Sees what was put before it.
  void sweep(std::string_view collection, std::string_view scope, std::int64_t generation,
             std::int64_t from_ms = std::numeric_limits<std::int64_t>::min(),
             std::int64_t to_ms = std::numeric_limits<std::int64_t>::max()) {
    detail::check(store_->sweep(store_->self, to_abi(collection), to_abi(scope), generation, from_ms, to_ms),
                  "a sweep");
  }
  /// Keeps bytes (at most 256 MiB) under a name (at most 64 bytes) with a record that is there with the commit at the
  /// latest. `source` fills a buffer and returns how many bytes, 0 at the end, -1 on failure (kInternal); what it
  /// throws is thrown here. `total` is -1 when unknown.
  void put_blob(std::string_view collection, std::string_view id, std::string_view name, std::int64_t total,
                const std::function<std::int64_t(char*, std::size_t)>& source) {
    Source abi{source, {}};
    const krux_source bytes{&abi, total, &Source::read};
    const auto status = store_->put_blob(store_->self, to_abi(collection), to_abi(id), to_abi(name), &bytes);
    abi.caught.rethrow();
    detail::check(status, "a blob");
  }
  /// Removes what put_blob or Reader::keep has kept under this name; what is not there is no error. Throws kUnsupported
  /// where the host is older than 1.2.
  void erase_blob(std::string_view collection, std::string_view id, std::string_view name) {
    if (!KRUX_HAS(krux_sync_store, store_, erase_blob))
      throw ProxyError(ErrorKind::kUnsupported, "This host cannot erase a blob.");
    detail::check(store_->erase_blob(store_->self, to_abi(collection), to_abi(id), to_abi(name)), "to erase a blob");
  }
  /// Gives a record, which is there with the commit at the latest, a text that is searched besides its own (at most 1
  /// MiB; empty: none). It stays when the record is put again. Throws kUnsupported where the host is older than 1.1.
  void keep_text(std::string_view collection, std::string_view id, std::string_view kept_text) {
    if (!KRUX_HAS(krux_sync_store, store_, keep_text))
      throw ProxyError(ErrorKind::kUnsupported, "This host cannot keep texts beside a record.");
    detail::check(store_->keep_text(store_->self, to_abi(collection), to_abi(id), to_abi(kept_text)), "a kept text");
  }

  /// A committed cursor, or nothing.
  std::optional<std::string> cursor(std::string_view key) const {
    detail::StringSink out;
    const auto status = store_->get_cursor(store_->self, to_abi(key), &out.sink);
    out.caught.rethrow();
    if (status == KRUX_NOT_FOUND) return std::nullopt;
    detail::check(status, "to read a cursor");
    return std::move(out.text);
  }
  /// The key has 1 to 1024 bytes, the value at most 64 KiB; an empty value removes it.
  void set_cursor(std::string_view key, std::string_view value) {
    detail::check(store_->set_cursor(store_->self, to_abi(key), to_abi(value)), "a cursor");
  }
  /// All that was gathered becomes visible, or nothing of it.
  void commit() { detail::check(store_->commit(store_->self), "to commit"); }

  /// One part (a channel, a label; at most 1024 bytes) could not be synced. The operator sees it, with a message of at
  /// most 4096 bytes, until report_ok(). It ends nothing: go on with the others. kConflict: the service has changed
  /// what a person had agreed to, and the operator gets an alert.
  void report_failure(std::string_view part, ErrorKind kind, std::string_view message) {
    detail::check(store_->report(store_->self, to_abi(part), static_cast<krux_status>(kind), to_abi(message)),
                  "a report");
  }
  /// The part is in order (again). Cheap where it was.
  void report_ok(std::string_view part) {
    detail::check(store_->report(store_->self, to_abi(part), KRUX_OK, krux_str{}), "a report");
  }

 private:
  struct Source {
    const std::function<std::int64_t(char*, std::size_t)>& fill;
    detail::Caught caught;
    static std::int64_t read(void* self, char* buffer, std::size_t capacity) noexcept {
      auto& me = *static_cast<Source*>(self);
      std::int64_t got = -1;
      me.caught.run([&] {
        got = me.fill(buffer, capacity);
        return true;
      });
      return got;
    }
  };
  const krux_sync_store* store_;
};

}  // namespace kruxos
