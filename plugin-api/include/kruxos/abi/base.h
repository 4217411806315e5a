/* kruxos/abi/base.h - the rules and the small types that every other header of the boundary uses. Plain C11.
 *
 * Compatibility
 *   - The major version is the NAME of the entry symbol. A host never opens a plugin of another major.
 *   - Every table and every record that is passed by pointer starts with `size`, set by whoever fills it.
 *   - A field may be appended in a minor release and may be read only where KRUX_HAS() says so.
 *   - Records that are passed in arrays (krux_header, krux_field, krux_named_text) never grow.
 *   - A new ability is a new interface id, asked for with query(); NULL means "not there".
 *   - Nothing is reordered, retyped or removed within a major.
 * Memory: a krux_str is borrowed for the duration of the call that it is passed to. Bytes travelling back go through a
 *   sink that the receiver owns, so that nothing is freed on the side that did not allocate it.
 * Errors: a function returns a krux_status; the words go through krux_call.fail. Nothing throws across.
 * Text is UTF-8 without NUL, JSON where the name says so; times are Unix milliseconds; spans of time are milliseconds.
 */
#ifndef KRUXOS_ABI_BASE_H
#define KRUXOS_ABI_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KRUX_NOEXCEPT noexcept
#define KRUX_BEGIN_DECLS extern "C" {
#define KRUX_END_DECLS }
#else
#define KRUX_NOEXCEPT
#define KRUX_BEGIN_DECLS
#define KRUX_END_DECLS
#endif

#define KRUX_ABI_MAJOR 1
#define KRUX_ABI_MINOR 4

/* True where whoever filled *table knew `field` of type `type`. */
#define KRUX_HAS(type, table, field) ((table)->size >= offsetof(type, field) + sizeof((table)->field))

KRUX_BEGIN_DECLS

/* Borrowed bytes, not ended by a NUL: valid for the call that they are passed to. ptr may be NULL only when len is 0.
 */
typedef struct krux_str {
  const char* ptr;
  size_t len;
} krux_str;

/* int32_t and not an enum: a value that this side does not know must be representable. Unknown values mean
 * KRUX_INTERNAL. */
typedef int32_t krux_status;
enum {
  KRUX_OK = 0,
  KRUX_AUTH = 1,            /* the service refuses the account's token or one of its scopes */
  KRUX_RATE_LIMITED = 2,    /* refused for now; retry_after_ms says how long */
  KRUX_NETWORK = 3,         /* no complete answer */
  KRUX_REFUSED = 4,         /* the service refuses this request for good: repeating it unchanged is of no use */
  KRUX_INVALID = 5,         /* the caller's input does not make sense */
  KRUX_STORAGE = 6,         /* the host's storage failed */
  KRUX_CANCELLED = 7,       /* the host asked the call to end */
  KRUX_UNSUPPORTED = 8,     /* this side does not have that ability */
  KRUX_INTERNAL = 9,        /* a defect, an exception, an answer that makes no sense */
  KRUX_TIMEOUT = 10,        /* the deadline passed */
  KRUX_NOT_FOUND = 11,      /* no such record, message, file */
  KRUX_UNAVAILABLE = 12,    /* the service is down or refuses for now */
  KRUX_CURSOR_EXPIRED = 13, /* sync: the service no longer knows the cursor; a full pass is needed */
  KRUX_CONFLICT = 14        /* rollback: the service's present state is not what the write left behind */
};

/* What a failed call says about the effect it was to have. MAYBE is 0 on purpose: who says nothing says "may be". */
enum { KRUX_EFFECT_MAYBE = 0, KRUX_EFFECT_NONE = 1 };

/* A byte sink that the receiver owns. write() is called zero or more times, the parts following each other; the bytes
 * are borrowed for that call of write(). Returns 0 to go on, anything else for "stop": the sender then ends its call
 * with KRUX_CANCELLED. What was written counts only where the call that got the sink returns KRUX_OK.
 * [the thread of the call it was passed to] */
typedef struct krux_sink {
  void* self;
  int32_t (*write)(void* self, krux_str bytes) KRUX_NOEXCEPT;
} krux_sink;

/* A byte source that the sender owns, for bodies too large to hold in memory twice.
 * read() fills at most `capacity` (never 0) bytes and returns how many, 0 at the end, -1 when the source failed; more
 * than `capacity` counts as failed. After 0 and -1 it is not called again. `total` is the exact length, or -1 when
 * unknown. [the thread of the call it was passed to] */
typedef struct krux_source {
  void* self;
  int64_t total;
  int64_t (*read)(void* self, char* buffer, size_t capacity) KRUX_NOEXCEPT;
} krux_source;

KRUX_END_DECLS
#endif
