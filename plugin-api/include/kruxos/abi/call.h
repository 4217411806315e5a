/* kruxos/abi/call.h - one running call: its deadline, its cancellation, its failure, what it must remember.
 *
 * Calls are blocking and run on workers of the host: at most one sync step an account at a time, reads re-entrant,
 * writes up to the host's executor_concurrency. A read has 10 s, a sync step 5 min, everything else the definition's
 * call_timeout. A call that is past its deadline is abandoned: what was lent to it stays valid until it returns, but
 * its output is dropped, its sends are refused, and the outcome of its write is unknown.
 *
 * In these headers [worker] means: called by the host on one of its workers, several at a time on the same adapter
 * unless said otherwise; [any thread]: callable from every thread that the call started and joins.
 */
#ifndef KRUXOS_ABI_CALL_H
#define KRUXOS_ABI_CALL_H
#include <kruxos/abi/base.h>
KRUX_BEGIN_DECLS

/* Filled by the adapter, borrowed for krux_call.fail. */
typedef struct krux_failure {
  uint32_t size;
  krux_status status; /* KRUX_OK and values that the host does not know count as KRUX_INTERNAL */
  int32_t effect; /* KRUX_EFFECT_NONE only where it certainly did not happen; the host checks that against the wire */
  uint32_t reserved;
  krux_str type;    /* the error's name in the definition ("MessageNotFound"), at most 64 letters and digits; empty: one
                       that fits status */
  krux_str message; /* a sentence for the agent and the operator, cut at 4096 bytes; never contains a credential */
  int64_t retry_after_ms; /* how long to wait before the next try, at most 7 days; -1: none given */
} krux_failure;

/* Lent to one function of the adapter and valid until that function returns: neither the table nor a copy of it may be
 * used afterwards. */
typedef struct krux_call {
  uint32_t size;
  uint32_t attempt; /* of the write, from 1; 0 when the call belongs to no write */
  void* self;
  krux_str write_id;   /* empty when the call belongs to no write; valid until the call returns */
  int64_t deadline_ms; /* Unix milliseconds, by now_ms() */
  /* Nonzero once the call should end: cancelled, past its deadline, the host stops. Poll it in loops. [any thread] */
  int32_t (*cancelled)(void* self) KRUX_NOEXCEPT;
  /* Why the call fails; the function then returns that status. The first word is kept, later ones are dropped, and so
   * is one of a call that returns KRUX_OK. Without a word a sentence that fits the status is used. [any thread] */
  void (*fail)(void* self, const krux_failure* failure) KRUX_NOEXCEPT;
  /* The host's clock, Unix milliseconds. Tests drive it: use it, not the system's, for all that is compared or waited
   * for. It may be set back. [any thread] */
  int64_t (*now_ms)(void* self) KRUX_NOEXCEPT;
  /* In execute_write only: keeps `note_json` (one JSON text of at most 64 KiB) with the write in the ledger, in the
   * place of what was kept before. When KRUX_OK comes back it is durable, and find_effect and later attempts get it in
   * krux_write.note_json. Otherwise the step that it was to announce must not be taken: KRUX_INVALID (no JSON, too
   * long), KRUX_STORAGE, KRUX_CANCELLED (the attempt has ended), KRUX_UNSUPPORTED outside execute_write.
   * [any thread] */
  krux_status (*remember)(void* self, krux_str note_json) KRUX_NOEXCEPT;
} krux_call;

KRUX_END_DECLS
#endif
