/* kruxos/abi/write.h - the write role ("krux.write-executor/1"). */
#ifndef KRUXOS_ABI_WRITE_H
#define KRUXOS_ABI_WRITE_H
#include <kruxos/abi/call.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_WRITE_EXECUTOR "krux.write-executor/1"

/* A write as the ledger holds it. Borrowed for the call. */
typedef struct krux_write {
  uint32_t size;
  uint32_t attempt; /* from 1; more: an earlier one may have made something, of this host or of one whose data directory
                     * this is a copy of; 0 in a find_effect that presumes nothing, see there */
  krux_str write_id;    /* the marker that the effect must carry wherever the service allows it */
  krux_str operation;   /* "notes.create" */
  krux_str params_json; /* as accepted, names resolved */
  krux_str note_json;   /* what krux_call.remember kept; empty when nothing */
  krux_str point_json;  /* the rollback point of the first attempt; empty when there is none */
  int64_t created_at_ms;
  int64_t first_attempt_at_ms; /* host time of the first attempt's start; 0 in create_rollback_point of the first one */
} krux_write;

/* What find_effect found out. CANNOT_TELL is 0 on purpose. */
enum {
  KRUX_CANNOT_TELL = 0,
  KRUX_EFFECT_FOUND = 1,    /* with the result that execute_write would have given */
  KRUX_EFFECT_ABSENT = 2,   /* a complete look did not find it: not proof, somebody may have removed it */
  KRUX_EFFECT_DISPROVED = 3 /* positive proof that it did not happen */
};

/* The adapter's, valid as long as it. */
typedef struct krux_write_executor {
  uint32_t size;
  uint32_t reserved;
  /* Performs the write once; never repeats a request. KRUX_OK: done, and result_json got one JSON object of at most 8
   * MiB (anything else is an unknown outcome). Otherwise the failure's `effect` and `status` decide: KRUX_EFFECT_NONE
   * with KRUX_REFUSED, KRUX_INVALID or KRUX_NOT_FOUND is refused for good, KRUX_EFFECT_NONE with another status is
   * tried again later, everything else is an unknown outcome. [worker] */
  krux_status (*execute_write)(void* self, const krux_call* call, const krux_write* write,
                               const krux_sink* result_json) KRUX_NOEXCEPT;
  /* Looks at the service whether the write has happened, completely or not at all. `found` gets one of the values
   * above; with KRUX_EFFECT_FOUND result_json gets the result. With KRUX_CANNOT_TELL it may get a sentence, as plain
   * text, that says why; a host of before that looks over it. Any failure means KRUX_CANNOT_TELL; with KRUX_AUTH and
   * KRUX_RATE_LIMITED the look is made again. Must not change anything at the service. May be called many times,
   * and long after the attempt. With attempt 0 nothing is known of attempts: this host has made none, or its ledger may
   * be a copy and another host has made some. There is no note then, and that says nothing; the effect can be as old as
   * created_at_ms. [worker] */
  krux_status (*find_effect)(void* self, const krux_call* call, const krux_write* write, int32_t* found,
                             const krux_sink* result_json) KRUX_NOEXCEPT;
} krux_write_executor;

KRUX_END_DECLS
#endif
