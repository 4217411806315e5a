/* kruxos/abi/http.h - the host's HTTP client, lent to adapters as "krux.http-client/1".
 *
 * The host resolves, verifies TLS, keeps to the definition's hosts, to the account's quota and to Retry-After, puts the
 * account's token in (only towards the origin that the token was given for) and follows no redirect. An adapter never
 * sees a token: Authorization, Cookie and Host headers of its own are refused with KRUX_INVALID.
 *
 * What send() returns
 *   KRUX_OK            the whole answer was received; `status` may be any HTTP status except one handled below
 *   KRUX_RATE_LIMITED  nothing was sent: the account's quota or an earlier Retry-After says to wait. failed() says how
 *                      long. A 429 of the service itself is KRUX_OK with status 429, and is remembered
 *   KRUX_AUTH          nothing was sent: there is no usable token
 *   KRUX_INVALID       nothing was sent: the address is not allowed, or a header is bad
 *   KRUX_UNAVAILABLE   the answer is too large, or the host is stopping
 *   KRUX_NETWORK, KRUX_TIMEOUT, KRUX_CANCELLED
 *
 * A failed send does not fail the call: the adapter decides.
 */
#ifndef KRUXOS_ABI_HTTP_H
#define KRUXOS_ABI_HTTP_H
#include <kruxos/abi/call.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_HTTP_CLIENT "krux.http-client/1"

typedef struct krux_header {
  krux_str name, value;
} krux_header;

typedef struct krux_http_request {
  uint32_t size;
  uint32_t timeout_ms; /* 0: the host's default; never beyond the call's deadline */
  krux_str method; /* GET, HEAD and OPTIONS are safe; the host's ledger takes it that any other may have an effect */
  krux_str url;    /* absolute, or relative to the service's api_base_url ("conversations.history") */
  krux_str body;   /* ignored when body_source is given */
  const krux_source* body_source; /* NULL, or the body as a stream with a known total */
  const krux_header* headers;
  size_t header_count;
  uint64_t max_response_bytes; /* 0: the host's default */
} krux_http_request;

/* Where an answer goes. head() once, then body() zero or more times, each returning 0 to go on. */
typedef struct krux_http_answer {
  uint32_t size;
  uint32_t reserved;
  void* self;
  int32_t (*head)(void* self, int32_t status, const krux_header* headers, size_t header_count) KRUX_NOEXCEPT;
  int32_t (*body)(void* self, krux_str bytes) KRUX_NOEXCEPT;
  /* What went wrong, in words, when send() returns anything but KRUX_OK. retry_after_ms is -1 when there is none. */
  void (*failed)(void* self, krux_str message, int64_t retry_after_ms) KRUX_NOEXCEPT;
} krux_http_answer;

/* [any thread, within the call that is passed] */
typedef struct krux_http_client {
  uint32_t size;
  uint32_t reserved;
  void* self;
  krux_status (*send)(void* self, const krux_call* call, const krux_http_request* request,
                      const krux_http_answer* answer) KRUX_NOEXCEPT;
  /* Several at once, as many side by side as the account's quota allows. `statuses` has room for `count`. Answers of
   * one request never overlap with each other, those of different requests may come from different threads. Returns
   * KRUX_OK when every request was tried. */
  krux_status (*send_many)(void* self, const krux_call* call, const krux_http_request* const* requests,
                           const krux_http_answer* const* answers, krux_status* statuses, size_t count) KRUX_NOEXCEPT;
} krux_http_client;

KRUX_END_DECLS
#endif
