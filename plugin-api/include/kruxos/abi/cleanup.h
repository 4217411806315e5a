/* kruxos/abi/cleanup.h - the cleanup role ("krux.cleanup/1"). A host that does not know it never asks for it, and an
 * adapter without it answers query() with NULL: no version of the boundary tells of it.
 */
#ifndef KRUXOS_ABI_CLEANUP_H
#define KRUXOS_ABI_CLEANUP_H
#include <kruxos/abi/write.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_CLEANUP "krux.cleanup/1"

/* The adapter's, valid as long as it. Needed for operations whose definition says `cleanup: true`: an attempt makes
 * something before its effect (a draft that is then sent, an upload that is then named). */
typedef struct krux_cleanup {
  uint32_t size;
  uint32_t reserved;
  /* Takes away what the attempts of `write` have left at the service. The write was cancelled, refused or discarded and
   * is never attempted again. What was made is found by note_json or by write_id; never take away what is not this
   * write's. KRUX_OK: nothing of it is left; what was gone already is no failure. KRUX_CONFLICT: somebody has changed
   * it since, and it stays. Certainty of a failure as in execute_write; may be called again after any outcome. [worker]
   */
  krux_status (*clean_up)(void* self, const krux_call* call, const krux_write* write) KRUX_NOEXCEPT;
} krux_cleanup;

KRUX_END_DECLS
#endif
