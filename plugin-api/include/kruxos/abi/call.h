/* kruxos/abi/call.h - one running call: its deadline, its cancellation, its failure, what it must remember.
 *
 * Calls are blocking and run on workers of the host: at most one sync step an account at a time, reads re-entrant,
 * writes up to the host's executor_concurrency. A call that is past its deadline is abandoned: what was lent to it
 * stays valid until it returns, but its output is dropped, its sends are refused, and the outcome of its write is
 * unknown.
 */
#ifndef KRUXOS_ABI_CALL_H
#define KRUXOS_ABI_CALL_H
#include <kruxos/abi/base.h>
KRUX_BEGIN_DECLS

typedef struct krux_failure {
  uint32_t size;
  krux_status status;
  int32_t effect; /* KRUX_EFFECT_NONE only where it certainly did not happen; the host checks that against the wire */
  uint32_t reserved;
  krux_str type;          /* the error's name in the definition ("MessageNotFound"); empty: one that fits status */
  krux_str message;       /* a sentence for the agent and the operator; never contains a credential */
  int64_t retry_after_ms; /* -1: none given */
} krux_failure;

typedef struct krux_call {
  uint32_t size;
  uint32_t attempt; /* of the write, from 1; 0 when the call belongs to no write */
  void* self;
  krux_str write_id;   /* empty when the call belongs to no write; valid until the call returns */
  int64_t deadline_ms; /* by now_ms() */
  /* Nonzero once the call should end: cancelled, past its deadline, the host stops. Poll it in loops. [any thread] */
  int32_t (*cancelled)(void* self) KRUX_NOEXCEPT;
  /* Why the call fails. The first word is kept, later ones are dropped. [any thread] */
  void (*fail)(void* self, const krux_failure* failure) KRUX_NOEXCEPT;
  /* The host's clock. Tests drive it: use it, not the system's, for all that is compared or waited for.
   * [any thread] */
  int64_t (*now_ms)(void* self) KRUX_NOEXCEPT;
  /* Writes only: keeps `note_json` (at most 64 KiB) with the write in the ledger. When KRUX_OK comes back it is
   * durable, and find_effect and later attempts get it in krux_write.note_json. KRUX_UNSUPPORTED outside
   * execute_write. */
  krux_status (*remember)(void* self, krux_str note_json) KRUX_NOEXCEPT;
} krux_call;

KRUX_END_DECLS
#endif
