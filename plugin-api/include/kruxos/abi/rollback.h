/* kruxos/abi/rollback.h - the rollback role ("krux.rollback-capable/1"). */
#ifndef KRUXOS_ABI_ROLLBACK_H
#define KRUXOS_ABI_ROLLBACK_H
#include <kruxos/abi/write.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_ROLLBACK_CAPABLE "krux.rollback-capable/1"

/* Borrowed for the call. */
typedef struct krux_rollback_request {
  uint32_t size;
  int32_t force;        /* nonzero: undo although the service's state has changed since */
  krux_str rollback_id; /* the marker of the undo, where it leaves something behind */
  krux_str operation;   /* of the write that is undone */
  krux_str params_json; /* of that write */
  krux_str point_json;  /* what create_rollback_point stored */
  krux_str result_json; /* what execute_write gave */
} krux_rollback_request;

/* The adapter's, valid as long as it. */
typedef struct krux_rollback_capable {
  uint32_t size;
  uint32_t reserved;
  /* Nonzero where writes of `operation` can be undone. No call, no I/O. [any thread] */
  int32_t (*supports_rollback)(void* self, krux_str operation) KRUX_NOEXCEPT;
  /* Before the first attempt: what an undo will need of the state before the write, as one JSON object of at most 64
   * KiB; {} where it needs nothing, which costs no wait for the disk. Must not change anything at the service. A
   * failure fails the attempt, with certainly no effect. [worker] */
  krux_status (*create_rollback_point)(void* self, const krux_call* call, const krux_write* write,
                                       const krux_sink* point_json) KRUX_NOEXCEPT;
  /* Undoes the write, once. Compares first: KRUX_CONFLICT when the service's state is not what the write left behind,
   * unless forced. KRUX_OK: undone, and result_json got one JSON object. Certainty of a failure as in execute_write.
   * [worker] */
  krux_status (*rollback)(void* self, const krux_call* call, const krux_rollback_request* request,
                          const krux_sink* result_json) KRUX_NOEXCEPT;
  /* Looks whether an undo of unknown outcome has happened, changing nothing: values as in find_effect. [worker] */
  krux_status (*find_rollback)(void* self, const krux_call* call, const krux_rollback_request* request,
                               int32_t* found) KRUX_NOEXCEPT;
} krux_rollback_capable;

KRUX_END_DECLS
#endif
