/* kruxos/abi/http.h - the host's HTTP client, lent to adapters as "krux.http-client/1".
 *
 * The host resolves, verifies TLS, keeps to the definition's hosts, to the account's quota and to Retry-After, puts the
 * account's token in (only towards the origin that the token was given for) and follows no redirect. An adapter never
 * sees a token: Authorization, Cookie and Host headers of its own are refused with KRUX_INVALID, and so is the header
 * or the query's parameter that the definition's `auth` section names.
 *
 * What send() returns
 *   KRUX_OK            the whole answer was received, whatever its HTTP status
 *   KRUX_RATE_LIMITED  nothing was sent: the account's quota or an earlier Retry-After says to wait. failed() says how
 *                      long. A 429 of the service itself is KRUX_OK with status 429, and is remembered
 *   KRUX_AUTH          nothing was sent: there is no usable token
 *   KRUX_INVALID       nothing was sent: the address is not allowed, a header or the table itself is bad, or the call
 *                      has ended
 *   KRUX_NETWORK       no connection, or no complete answer; the request may have arrived
 *   KRUX_TIMEOUT       the request's time or the call's deadline is over; the request may have arrived
 *   KRUX_CANCELLED     the call was cancelled, or the answer's receiver said stop; the request may have arrived
 *   KRUX_UNAVAILABLE   the answer is too large, or the host is stopping; the request may have arrived
 *   KRUX_INTERNAL      body_source failed or was not as long as it said; the request may have arrived in part
 *
 * A failed send does not fail the call: the adapter decides. Whether an unsafe request may have had an effect the host
 * knows by its own record of the wire, besides what the adapter says.
 */
#ifndef KRUXOS_ABI_HTTP_H
#define KRUXOS_ABI_HTTP_H
#include <kruxos/abi/call.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_HTTP_CLIENT "krux.http-client/1"

/* Never grows. Names compare in any case; bytes of a value are passed as they are. */
typedef struct krux_header {
  krux_str name, value;
} krux_header;

/* Of krux_http_request.flags. ONLY_READS: this POST changes nothing. It is refused with KRUX_INVALID unless the
 * definition's `http` section permits that for its path, and then counts as safe: a read that fetches may send it, it
 * is sent again with a renewed token, and losing its answer leaves no write unknown. */
enum { KRUX_HTTP_ONLY_READS = 1 };

/* Filled by the adapter, borrowed for send(). */
typedef struct krux_http_request {
  uint32_t size;
  uint32_t timeout_ms; /* 0: the host's default, 30 s; never beyond the call's deadline */
  krux_str method; /* GET, HEAD and OPTIONS are safe; the host's ledger takes it that any other may have an effect */
  krux_str url;  /* absolute, or relative to the service's api_base_url ("conversations.history") and below it; at most
                    16 KiB, percent-encoded, without dot segments and fragment */
  krux_str body; /* at most 64 MiB; ignored when body_source is given */
  const krux_source* body_source; /* NULL, or the body as a stream with a known total */
  const krux_header* headers;     /* at most 100, 64 KiB in all; NULL where there are none */
  size_t header_count;
  uint64_t max_response_bytes; /* of the answer's body; 0: the host's default, 64 MiB */
  uint32_t flags; /* since 1.2: KRUX_HTTP_...; a host of before looks over them, and values that it does not know are
                     KRUX_INVALID */
  uint32_t reserved;
} krux_http_request;

/* Where an answer goes: owned by the adapter, borrowed for send(), called on its thread. head() at most once, then
 * body() zero or more times, each returning 0 to go on and anything else for "stop"; what they are given is borrowed
 * for that one call. Both may have been called although send() then fails: an answer counts only with KRUX_OK. */
typedef struct krux_http_answer {
  uint32_t size;
  uint32_t reserved;
  void* self;
  int32_t (*head)(void* self, int32_t status, const krux_header* headers, size_t header_count) KRUX_NOEXCEPT;
  int32_t (*body)(void* self, krux_str bytes) KRUX_NOEXCEPT;
  /* Once, before send() returns anything but KRUX_OK: what went wrong, as a sentence. retry_after_ms is how long to
   * wait before the next try, -1 when nobody said. */
  void (*failed)(void* self, krux_str message, int64_t retry_after_ms) KRUX_NOEXCEPT;
} krux_http_answer;

/* Valid as long as the adapter. [any thread, within the call that is passed] */
typedef struct krux_http_client {
  uint32_t size;
  uint32_t reserved;
  void* self;
  /* Blocks until the answer is there or the exchange has failed. Waits up to 2 s for the account's quota, in a write's
   * call up to 20 s. */
  krux_status (*send)(void* self, const krux_call* call, const krux_http_request* request,
                      const krux_http_answer* answer) KRUX_NOEXCEPT;
  /* Several at once, as many side by side as the account's quota allows. `statuses` has room for `count`. Answers of
   * one request never overlap with each other, those of different requests may come from different threads, all of
   * which have ended on return. KRUX_OK: every request was tried, and statuses[i] says what came of requests[i].
   * KRUX_INVALID: none was (more than 1000, or a NULL). KRUX_INTERNAL: none was, for lack of memory. */
  krux_status (*send_many)(void* self, const krux_call* call, const krux_http_request* const* requests,
                           const krux_http_answer* const* answers, krux_status* statuses, size_t count) KRUX_NOEXCEPT;
} krux_http_client;

KRUX_END_DECLS
#endif
