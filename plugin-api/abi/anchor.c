/* Exists so that the debug information of one object holds every type of the boundary. Never shipped. */
#include <kruxos/abi.h>

#define KEEP(type)                                  \
  KRUX_EXPORT void krux_keep_##type(const type* p); \
  void krux_keep_##type(const type* p) {            \
    (void)p;                                        \
  }

KEEP(krux_str)
KEEP(krux_sink)
KEEP(krux_source)
KEEP(krux_failure)
KEEP(krux_call)
KEEP(krux_log)
KEEP(krux_host)
KEEP(krux_account)
KEEP(krux_adapter)
KEEP(krux_plugin_entry)
KEEP(krux_header)
KEEP(krux_http_request)
KEEP(krux_http_answer)
KEEP(krux_http_client)
KEEP(krux_condition)
KEEP(krux_query)
KEEP(krux_row)
KEEP(krux_row_sink)
KEEP(krux_query_result)
KEEP(krux_reader)
KEEP(krux_read_adapter)
KEEP(krux_field)
KEEP(krux_named_text)
KEEP(krux_record)
KEEP(krux_sync_store)
KEEP(krux_sync_step)
KEEP(krux_sync_adapter)
KEEP(krux_write)
KEEP(krux_write_executor)
KEEP(krux_rollback_request)
KEEP(krux_rollback_capable)
KEEP(krux_account_adapter)
KEEP(krux_uploads)
