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

/* Since 1.3: what a read may ask of the program that waits for it, or of the person in front of that. Bits of
 * krux_call.can_ask. */
enum {
  KRUX_ASK_FORM = 1,  /* a person fills a form in */
  KRUX_ASK_URL = 2,   /* a person goes to an address */
  KRUX_ASK_MODEL = 4, /* the program's model answers a prompt */
  KRUX_ASK_ROOTS = 8  /* the program names the directories that it works in */
};

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

  /* Since 1.3, all that follows; in krux_read_adapter.read alone. Elsewhere there is nothing to ask, progress and tell
   * go nowhere. */
  uint32_t can_ask; /* what whoever waits can be asked: KRUX_ASK_FORM ...; 0: nothing */
  uint32_t reserved;
  /* Of a read that is called again, once what it had asked for is there: one JSON object, the answers under the names
   * of the questions. They fit the questions, and are somebody's text all the same; at most 1 MiB together. Empty at
   * first. Valid until the call returns.
   *   form   {"action": "accept", "content": {...}}   content fits the schema; or "decline", or "cancel"
   *   url    {"action": "accept"}   or "decline", or "cancel": whether the person goes there, not what he does there
   *   model  {"text": "..."}   perhaps with "model", its name
   *   roots  {"roots": [{"uri": "file:///...", "name": "..."}]}   name may be missing */
  krux_str answers_json;
  krux_str state; /* what ask() was given with these questions; empty at first. Nobody else can read or change it */
  /* How far the read has come: `done` of `total`, in any unit; total 0: not known. A sentence for people, or empty, cut
   * at 4096 bytes. What is not more than before is dropped. Never blocks for long. [any thread] */
  void (*progress)(void* self, double done, double total, krux_str message) KRUX_NOEXCEPT;
  /* A message for whoever waits, at a level of krux_log: KRUX_LOG_DEBUG ... KRUX_LOG_ERROR. He sees it where he has
   * asked for that level, and nobody else does: it is no line of the host's log. Cut at 4096 bytes; never contains a
   * credential. [any thread] */
  void (*tell)(void* self, int32_t level, krux_str message) KRUX_NOEXCEPT;
  /* Ends the read with questions: where KRUX_OK comes back, return KRUX_OK at once; what was written as a result is
   * dropped, and the same read is called again with the answers and `state` (any bytes of UTF-8, at most 16 KiB), maybe
   * never, at most 8 times for one call of an agent, and for the same connecting of the same account. Nothing waits
   * meanwhile.
   * questions_json is one JSON object of at most 64 KiB with 1 to 8 questions under names of 1 to 64 letters, digits,
   * '_' and '-':
   *   {"kind": "form", "message": "...", "schema": {...}}   schema: a flat object, as docs/plugin-abi.md says
   *   {"kind": "url", "message": "...", "url": "https://..."}   of one of the definition's hosts
   *   {"kind": "model", "message": "...", "max_tokens": 100}   perhaps with "system", a text
   *   {"kind": "roots"}
   * What people read (message, title, description, enumNames) is shown with control characters made visible, and the
   * tool's name in front of the message; names and choices of a form must have none. Asking counts also where the read
   * fails afterwards.
   * Only what the definition of the capability lists in `asks`, and what can_ask has: otherwise the call is refused
   * with a sentence of the host's. KRUX_INVALID: no JSON object, or too long; KRUX_UNSUPPORTED: not in a read;
   * KRUX_CANCELLED: the call has ended. The first one counts. [any thread] */
  krux_status (*ask)(void* self, krux_str questions_json, krux_str state) KRUX_NOEXCEPT;

  /* Since 1.4: the id of the agent that the call is for: who reads, whose write it is that is made, looked for, undone
   * or cleaned up. Letters, digits, '.', '_' and '-', at most 64 bytes; no two agents ever have the same. Empty in what
   * is no agent's: connecting, syncs. Where parameters are resolved it is who asks. Valid until the call returns. */
  krux_str agent;
} krux_call;

KRUX_END_DECLS
#endif
