/* kruxos/abi/uploads.h - the files that agents gave to the host for writes to carry, lent as "krux.uploads/1".
 * Since 1.1.
 *
 * A definition's input says `uploads: true`; its entries in krux_write.params_json are then {"upload_id", "filename",
 * "mime_type", "size", "sha256"}, checked by the host. The bytes do not travel with the parameters: they are read here.
 */
#ifndef KRUXOS_ABI_UPLOADS_H
#define KRUXOS_ABI_UPLOADS_H
#include <kruxos/abi/call.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_UPLOADS "krux.uploads/1"

/* Valid as long as the adapter. [any thread, within the call that is passed] */
typedef struct krux_uploads {
  uint32_t size;
  uint32_t reserved;
  void* self;
  /* Fills `buffer` with up to `capacity` bytes from `offset` on; *got is how many: fewer than `capacity` only at the
   * end or beyond 1 MiB, 0 at the end. KRUX_INVALID: this is no call of a write whose parameters name the upload;
   * KRUX_STORAGE; KRUX_CANCELLED: the call has ended. */
  krux_status (*read)(void* self, const krux_call* call, krux_str upload_id, uint64_t offset, char* buffer,
                      size_t capacity, size_t* got) KRUX_NOEXCEPT;
} krux_uploads;

KRUX_END_DECLS
#endif
