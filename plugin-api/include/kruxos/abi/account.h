/* kruxos/abi/account.h - the account role ("krux.account-adapter/1"). */
#ifndef KRUXOS_ABI_ACCOUNT_H
#define KRUXOS_ABI_ACCOUNT_H
#include <kruxos/abi/call.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_ACCOUNT_ADAPTER "krux.account-adapter/1"

/* The adapter's, valid as long as it. */
typedef struct krux_account_adapter {
  uint32_t size;
  uint32_t reserved;
  /* Asks the service whose token this is; the host puts the token to be tried into the requests. Writes
   * {"account_id": "...", "display_name": "...", "principal": "...", "scopes": ["..."]}, at most 64 KiB: account_id is
   * the service's own immutable id of 1 to 256 bytes; principal is the id of who acts there with this token (left out
   * or empty where an account has only one such), and writes that were accepted for one principal never go out as
   * another; scopes is left out where the service does not tell. KRUX_AUTH when the service refuses the token. [worker]
   */
  krux_status (*verify)(void* self, const krux_call* call, const krux_sink* identity_json) KRUX_NOEXCEPT;
  /* Makes the service forget the token. KRUX_UNSUPPORTED where it cannot. [worker] */
  krux_status (*revoke)(void* self, const krux_call* call) KRUX_NOEXCEPT;
} krux_account_adapter;

KRUX_END_DECLS
#endif
