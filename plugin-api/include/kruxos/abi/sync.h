/* kruxos/abi/sync.h - the replica that a sync fills, and the sync role ("krux.sync-adapter/1").
 *
 * What the store's functions return: KRUX_OK; KRUX_NOT_FOUND where it says so; KRUX_INVALID for what was not declared
 * and whatever does not fit, which then was not gathered; KRUX_STORAGE; KRUX_CANCELLED when the call has ended.
 *
 * A service may say anything, and one record of its must not end a sync. NULs, halves of surrogate pairs and bytes that
 * are no UTF-8 in json, text, order_key, fields, tags, named and kept texts become U+FFFD. A record that cannot be
 * taken all the same (an id that none can have, too large, no JSON object, no time) is left out: put() is KRUX_OK, what
 * was there of it goes, and the host counts it and shows it until it is put and fits, is erased or swept. So is a kept
 * text that is too long.
 */
#ifndef KRUXOS_ABI_SYNC_H
#define KRUXOS_ABI_SYNC_H
#include <kruxos/abi/read.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_SYNC_ADAPTER "krux.sync-adapter/1"

/* Lent for one sync step. put, erase, sweep, put_blob and set_cursor are gathered and become visible together with
 * commit(); what is not committed when the step returns is dropped. At most 64 MiB may be gathered: commit after each
 * page, of 200 records or fewer. [the thread of the call] */
typedef struct krux_sync_store {
  uint32_t size;
  uint32_t reserved;
  void* self;
  const krux_reader* reader; /* the committed rows */
  /* Adds the record, or replaces the one of that id. The last change of a record within one commit counts.
   * KRUX_INVALID: a collection, field or named text that was not declared, a text where the collection is not
   * searchable, tags where it was not declared with them. */
  krux_status (*put)(void* self, const krux_record* record) KRUX_NOEXCEPT;
  /* Removes the record and its blobs; one that is not there is no error. */
  krux_status (*erase)(void* self, krux_str collection, krux_str id) KRUX_NOEXCEPT;
  /* Removes the rows of `scope` whose generation is below `generation` and whose order_ms lies in [from_ms, to_ms]:
   * what a complete pass over that range did not see. An empty scope means the whole collection. It sees what was
   * gathered before it and not what comes after. */
  krux_status (*sweep)(void* self, krux_str collection, krux_str scope, int64_t generation, int64_t from_ms,
                       int64_t to_ms) KRUX_NOEXCEPT;
  /* Keeps bytes (at most 256 MiB) under a name (at most 64 bytes) with a record, which is there with the commit at the
   * latest, or they are dropped. Reads `bytes` to its end before it returns. KRUX_INTERNAL: the source failed. */
  krux_status (*put_blob)(void* self, krux_str collection, krux_str id, krux_str name,
                          const krux_source* bytes) KRUX_NOEXCEPT;
  /* A committed cursor, or KRUX_NOT_FOUND. */
  krux_status (*get_cursor)(void* self, krux_str key, const krux_sink* value) KRUX_NOEXCEPT;
  /* key: 1 to 1024 bytes; value: at most 64 KiB, an empty one removes the cursor. */
  krux_status (*set_cursor)(void* self, krux_str key, krux_str value) KRUX_NOEXCEPT;
  /* Makes all that was gathered visible, or nothing of it. After KRUX_STORAGE end the step. */
  krux_status (*commit)(void* self) KRUX_NOEXCEPT;
  /* One part (a channel, a label; at most 1024 bytes) could not be synced; the operator sees it with its message (at
   * most 4096 bytes) until the part is reported with KRUX_OK. At once and durable, without commit. It ends nothing: go
   * on with the others. KRUX_CONFLICT says that the service has changed what a person had agreed to: the operator gets
   * an alert of it with the end of the pass. What a service itself calls a conflict (HTTP 409) is none of that. */
  krux_status (*report)(void* self, krux_str part, krux_status status, krux_str message) KRUX_NOEXCEPT;
  /* Since 1.1. Gathered as put() is: gives a record that is there with the commit at the latest a text that is searched
   * besides the record's own, at most 1 MiB, in the place of the one before; empty: none. It stays when the record is
   * put again, and goes with it. For what is fetched apart from the record, once, such as a message's body. The
   * collection must be searchable. */
  krux_status (*keep_text)(void* self, krux_str collection, krux_str id, krux_str kept_text) KRUX_NOEXCEPT;
  /* Since 1.2. As put(), and says whether the replica can take the record: *taken is 0 where it is left out, and `why`
   * (NULL: nobody asks) gets the reason, to be put behind the record's name ("its json: ..."). The status is KRUX_OK
   * either way. Of more than 65536 records of one time, those too many are left out by commit(), which is not told
   * here. */
  krux_status (*try_put)(void* self, const krux_record* record, int32_t* taken, const krux_sink* why) KRUX_NOEXCEPT;
  /* Since 1.2. Gathered as put() is: removes what put_blob() or krux_reader.keep() has kept under this name; what is
   * not there is no error. */
  krux_status (*erase_blob)(void* self, krux_str collection, krux_str id, krux_str name) KRUX_NOEXCEPT;
} krux_sync_store;

enum { KRUX_SYNC_DONE = 0, KRUX_SYNC_MORE = 1, KRUX_SYNC_WAIT = 2 };

/* What a step came to: filled by the adapter, which looks at `size` first. */
typedef struct krux_sync_step {
  uint32_t size;
  int32_t next;    /* DONE: the pass is complete. MORE: call again at once. WAIT: call again after wait_ms */
  int64_t wait_ms; /* not negative; more than 24 h counts as that */
  int64_t complete_through_ms; /* with DONE: everything the service had at this time is in the replica; 0: the pass's
                                  start */
  uint64_t parts_done, parts_total; /* progress of this pass, for people; 0 of 0: unknown */
} krux_sync_step;

/* The adapter's, valid as long as it. */
typedef struct krux_sync_adapter {
  uint32_t size;
  uint32_t reserved;
  /* One step of a pass. A pass starts with full_sync when the replica is new, was rebuilt, or an incremental step
   * returned KRUX_CURSOR_EXPIRED; otherwise with incremental_sync. State between steps lives in cursors, for the host
   * may be killed at any time; a step should take seconds. KRUX_CURSOR_EXPIRED removes all cursors and starts a full
   * pass, once; any other failure ends the pass, and the next one comes later, with growing gaps. last_sync_ms: the end
   * of the last complete pass, Unix milliseconds. [worker, never two at a time for one account] */
  krux_status (*full_sync)(void* self, const krux_call* call, const krux_sync_store* store,
                           krux_sync_step* out) KRUX_NOEXCEPT;
  krux_status (*incremental_sync)(void* self, const krux_call* call, const krux_sync_store* store, int64_t last_sync_ms,
                                  krux_sync_step* out) KRUX_NOEXCEPT;
} krux_sync_adapter;

KRUX_END_DECLS
#endif
