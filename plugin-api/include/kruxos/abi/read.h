/* kruxos/abi/read.h - reading the replica, and the read role ("krux.read-adapter/1").
 *
 * A read never calls the service, unless the capability's definition says `fetches`.
 *
 * What the reader's functions return: KRUX_OK; KRUX_NOT_FOUND where it says so; KRUX_INVALID for a collection or field
 * that the adapter has not declared and for whatever does not fit; KRUX_STORAGE; KRUX_CANCELLED when the call has
 * ended.
 */
#ifndef KRUXOS_ABI_READ_H
#define KRUXOS_ABI_READ_H
#include <kruxos/abi/call.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_READ_ADAPTER "krux.read-adapter/1"

/* One node of a condition, at most 1000 of them, 16 deep; borrowed for the query. ALL_OF of nothing is true, ANY_OF of
 * nothing is false, NONE_OF is true when no child is. TAG and NAMED_TEXT: since 1.2. */
enum {
  KRUX_ALL_OF = 1,
  KRUX_ANY_OF = 2,
  KRUX_NONE_OF = 3,
  KRUX_TEXT = 4,
  KRUX_FIELD = 5,
  KRUX_TAG = 6,
  KRUX_NAMED_TEXT = 7
};
enum { KRUX_EQ = 1, KRUX_NE = 2, KRUX_LT = 3, KRUX_LE = 4, KRUX_GT = 5, KRUX_GE = 6, KRUX_CONTAINS = 7 };

typedef struct krux_condition {
  uint32_t size;
  int32_t kind;
  int32_t op; /* FIELD: KRUX_EQ ... ; KRUX_CONTAINS (text fields) compares folded */
  uint32_t reserved;
  krux_str field; /* FIELD: one of the collection's fields. A record without a value fits no comparison but NE.
                     NAMED_TEXT: one of its texts */
  krux_str text;  /* TEXT: a substring of the record's searched text, case and normal form folded; FIELD of type text:
                     the value; TAG: the tag, byte by byte: one that no record has finds nothing; NAMED_TEXT: a
                     substring of one of the record's values of that name, folded unless it was declared as exact. An
                     empty TEXT or NAMED_TEXT fits every record */
  int64_t number; /* FIELD of type integer: the value */
  const struct krux_condition* const* children; /* ALL_OF, ANY_OF, NONE_OF */
  size_t child_count;
} krux_condition;

enum { KRUX_ORDER_ASCENDING = 0, KRUX_ORDER_DESCENDING = 1 };

typedef struct krux_query {
  uint32_t size;
  int32_t order; /* by the collection's order; DESCENDING is newest first. What is equal has no order to rely on */
  krux_str collection;
  const krux_condition* where; /* NULL: everything */
  int64_t from_ms, to_ms;      /* inclusive, for collections ordered by time; INT64_MIN and INT64_MAX: no bound */
  uint32_t limit, offset;      /* limit: at most 10000 */
  uint32_t count_limit;        /* how far `total` is counted exactly; 0: the host's default (1000) */
  uint32_t reserved;
} krux_query;

typedef struct krux_row {
  uint32_t size;
  uint32_t reserved;
  krux_str id, json; /* as put by the sync; json is one JSON object */
  int64_t order_ms;
  int64_t synced_at_ms; /* when the sync last saw this record */
} krux_row;

/* Rows arrive in order. Returns 0 to go on. A row is borrowed for the duration of this callback. */
typedef struct krux_row_sink {
  void* self;
  int32_t (*row)(void* self, const krux_row* row) KRUX_NOEXCEPT;
} krux_row_sink;

/* Filled by the host; the adapter sets `size`. */
typedef struct krux_query_result {
  uint32_t size;
  int32_t total_is_lower_bound; /* more than count_limit fit, or the time was used up */
  uint64_t total;               /* how many fit, limit and offset apart */
  int32_t incomplete;           /* the time budget was used up before the page was full */
  uint32_t reserved;
} krux_query_result;

/* A value of one of the collection's fields; its declared type says which of both counts. Never grows. */
typedef struct krux_field {
  krux_str name;
  krux_str text;  /* fields of type text; at most 64 KiB */
  int64_t number; /* fields of type integer */
} krux_field;

/* A value of one of the collection's named texts. Never grows. Since 1.2. */
typedef struct krux_named_text {
  krux_str name;
  krux_str text;
} krux_named_text;

/* Filled by the adapter, borrowed for put(). Texts are UTF-8. */
typedef struct krux_record {
  uint32_t size;
  uint32_t reserved;
  krux_str collection, id; /* id: 1 to 1024 bytes, its own within the collection */
  krux_str json;           /* one JSON object, at most 1 MiB; comes back from the reader as it is */
  krux_str text; /* what is searched: fields joined with char(31), at most 1 MiB; empty: not found by its text; must be
                    empty where the collection is not searchable. The host folds it */
  krux_str order_key; /* collections ordered by key, which compares bytes; at most 1024 of them. Ordered by time: the
                         order among records of one order_ms, a greater one is newer; those without one are the oldest
                         of them, in order of arrival (earlier hosts put all of one order_ms in that order) */
  int64_t order_ms;   /* collections ordered by time: Unix milliseconds between the years 1412 and 2527 */
  krux_str scope;     /* what sweep() works on: usually the container's id (a channel); at most 1024 bytes */
  int64_t generation; /* the pass that saw the record; what sweep() compares with */
  const krux_field* fields; /* fields that are left out have no value */
  size_t field_count;
  /* Since 1.2, in collections that were declared with tags: what the record is found by as a whole, such as its labels:
   * at most 1024, each of 1 to 256 bytes, in any order. For what many records share: the replica keeps a list of all
   * tags that there were. */
  const krux_str* tags;
  size_t tag_count;
  /* Since 1.2, values of the texts that the collection was declared with, at most 10,000 in any order. A name may have
   * several: nothing is found across two of them. Together with `text` at most 1 MiB. Where a collection has tags or
   * named texts, characters of U+E000 to U+F8FF (Unicode's private area) are left out of `text`, of kept texts, of
   * named texts that are not exact, and of what is searched for in them. */
  const krux_named_text* texts;
  size_t text_count;
} krux_record;

/* A read-only view of one account's replica, consistent for the duration of the call (in a sync step: until the next
 * commit). A callback may use the reader again. [the thread of the call] */
typedef struct krux_reader {
  uint32_t size;
  uint32_t reserved;
  void* self;
  /* One record, or KRUX_NOT_FOUND. */
  krux_status (*get)(void* self, krux_str collection, krux_str id, const krux_row_sink* out) KRUX_NOEXCEPT;
  /* At most `limit` rows in order, then `result`. A sink that says stop ends the rows, and the query is KRUX_OK. */
  krux_status (*query)(void* self, const krux_query* query, const krux_row_sink* out,
                       krux_query_result* result) KRUX_NOEXCEPT;
  /* Bytes that put_blob kept, in parts, or KRUX_NOT_FOUND. */
  krux_status (*blob)(void* self, krux_str collection, krux_str id, krux_str name, const krux_sink* out) KRUX_NOEXCEPT;
  /* Since 1.1, in a read of a capability whose definition says `fetches`: keeps with a record what the service was
   * asked for, durably and at once, so that the next read finds it: `bytes` (NULL: none; at most 256 MiB, read to their
   * end) as the record's blob `name` (at most 64 bytes), and `kept_text` as the record's kept text (see
   * krux_sync_store.keep_text; empty: as it was). This view does not see it, later calls do. KRUX_NOT_FOUND: there is
   * no such record (any more), and nothing was kept; KRUX_UNSUPPORTED in every other call; KRUX_INTERNAL: the source
   * failed. */
  krux_status (*keep)(void* self, krux_str collection, krux_str id, krux_str name, const krux_source* bytes,
                      krux_str kept_text) KRUX_NOEXCEPT;
  /* Since 1.2, where keep() may be called: adds a record that the service was asked for and that the replica lacks,
   * durably and at once, as a sync would have put it. `generation` is not looked at: the record counts as seen by the
   * newest pass, and a later one that does not see it sweeps it. One that is there already stays as the sync has put
   * it. *taken is 0 where the replica cannot take the record (it is then left out, as a sync's put() leaves it out) and
   * while its collection is being built anew (nothing happens then); `why` as in krux_sync_store.try_put. This view
   * does not see it, later calls do. KRUX_UNSUPPORTED wherever keep() is. */
  krux_status (*put)(void* self, const krux_record* record, int32_t* taken, const krux_sink* why) KRUX_NOEXCEPT;
} krux_reader;

/* The adapter's, valid as long as it. */
typedef struct krux_read_adapter {
  uint32_t size;
  uint32_t reserved;
  /* Answers `capability` ("notes.search"): params_json has been checked against the definition and has its defaults.
   * Writes one JSON object of at most 8 MiB to `result_json`. Its members `freshness` and `content_trust` are the
   * host's: a result that has one of them is refused. [worker, re-entrant] */
  krux_status (*read)(void* self, const krux_call* call, const krux_reader* reader, krux_str capability,
                      krux_str params_json, const krux_sink* result_json) KRUX_NOEXCEPT;
  /* Replaces what stands for something else (a channel's name) by its id, from the replica alone: of a write all its
   * parameters, before they are hashed and once more when it is edited; of a read whose definition names a target those
   * that the target names, and no others. For a write it may also add what the parameters lead to (whom a reply goes
   * to), which people are shown and which is hashed with them. Writes the resolved parameters, one JSON object. A
   * failure refuses a write with its sentence; a read goes on with its parameters as they are, unless a rule of the
   * operator's has to look into them. NULL when there is nothing to resolve. [worker, re-entrant] */
  krux_status (*resolve)(void* self, const krux_call* call, const krux_reader* reader, krux_str operation,
                         krux_str params_json, const krux_sink* resolved_json) KRUX_NOEXCEPT;
} krux_read_adapter;

KRUX_END_DECLS
#endif
