/* The boundary nailed down for 64-bit systems: every table's and record's size, every field's offset and type, every
 * function's signature. A line may be added when a field is appended; no line may change within a major. */
#include <kruxos/abi.h>

_Static_assert(sizeof(void*) == 8 && sizeof(long) == 8 && sizeof(size_t) == 8, "these offsets are those of LP64");

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size")
#define FIELD(type, field, offset, of)                                          \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field " moved"); \
  _Static_assert(_Generic(&((type*)0)->field, of * : 1, default : 0), #type "." #field " changed its type")
#define FUNCTION(type, field, offset, result, ...)                                     \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field " moved");        \
  _Static_assert(_Generic(((type*)0)->field, result(*)(__VA_ARGS__) : 1, default : 0), \
                 #type "." #field " changed its type")

/* kruxos/abi/base.h */
SIZE(krux_str, 16);
FIELD(krux_str, ptr, 0, const char*);
FIELD(krux_str, len, 8, size_t);

SIZE(krux_sink, 16);
FIELD(krux_sink, self, 0, void*);
FUNCTION(krux_sink, write, 8, int32_t, void*, krux_str);

SIZE(krux_source, 24);
FIELD(krux_source, self, 0, void*);
FIELD(krux_source, total, 8, int64_t);
FUNCTION(krux_source, read, 16, int64_t, void*, char*, size_t);

/* kruxos/abi/call.h */
SIZE(krux_failure, 56);
FIELD(krux_failure, size, 0, uint32_t);
FIELD(krux_failure, status, 4, krux_status);
FIELD(krux_failure, effect, 8, int32_t);
FIELD(krux_failure, reserved, 12, uint32_t);
FIELD(krux_failure, type, 16, krux_str);
FIELD(krux_failure, message, 32, krux_str);
FIELD(krux_failure, retry_after_ms, 48, int64_t);

SIZE(krux_call, 152);
FIELD(krux_call, size, 0, uint32_t);
FIELD(krux_call, attempt, 4, uint32_t);
FIELD(krux_call, self, 8, void*);
FIELD(krux_call, write_id, 16, krux_str);
FIELD(krux_call, deadline_ms, 32, int64_t);
FUNCTION(krux_call, cancelled, 40, int32_t, void*);
FUNCTION(krux_call, fail, 48, void, void*, const krux_failure*);
FUNCTION(krux_call, now_ms, 56, int64_t, void*);
FUNCTION(krux_call, remember, 64, krux_status, void*, krux_str);
FIELD(krux_call, can_ask, 72, uint32_t);
FIELD(krux_call, reserved, 76, uint32_t);
FIELD(krux_call, answers_json, 80, krux_str);
FIELD(krux_call, state, 96, krux_str);
FUNCTION(krux_call, progress, 112, void, void*, double, double, krux_str);
FUNCTION(krux_call, tell, 120, void, void*, int32_t, krux_str);
FUNCTION(krux_call, ask, 128, krux_status, void*, krux_str, krux_str);
FIELD(krux_call, agent, 136, krux_str);

/* kruxos/abi/entry.h */
SIZE(krux_log, 24);
FIELD(krux_log, size, 0, uint32_t);
FIELD(krux_log, reserved, 4, uint32_t);
FIELD(krux_log, self, 8, void*);
FUNCTION(krux_log, write, 16, void, void*, int32_t, krux_str);

SIZE(krux_host, 24);
FIELD(krux_host, size, 0, uint32_t);
FIELD(krux_host, abi_minor, 4, uint32_t);
FIELD(krux_host, self, 8, void*);
FUNCTION(krux_host, query, 16, const void*, void*, const char*);

SIZE(krux_account, 88);
FIELD(krux_account, size, 0, uint32_t);
FIELD(krux_account, generation, 4, uint32_t);
FIELD(krux_account, account_id, 8, krux_str);
FIELD(krux_account, scopes_json, 24, krux_str);
FIELD(krux_account, config_json, 40, krux_str);
FIELD(krux_account, base_url, 56, krux_str);
FIELD(krux_account, settings_json, 72, krux_str);

SIZE(krux_adapter, 32);
FIELD(krux_adapter, size, 0, uint32_t);
FIELD(krux_adapter, reserved, 4, uint32_t);
FIELD(krux_adapter, self, 8, void*);
FUNCTION(krux_adapter, query, 16, const void*, void*, const char*);
FUNCTION(krux_adapter, destroy, 24, void, krux_adapter*);

SIZE(krux_plugin_entry, 56);
FIELD(krux_plugin_entry, magic, 0, uint32_t);
FIELD(krux_plugin_entry, size, 4, uint32_t);
FIELD(krux_plugin_entry, abi_minor, 8, uint32_t);
FIELD(krux_plugin_entry, reserved, 12, uint32_t);
FIELD(krux_plugin_entry, service, 16, const char*);
FIELD(krux_plugin_entry, prefix, 24, const char*);
FIELD(krux_plugin_entry, version, 32, const char*);
FUNCTION(krux_plugin_entry, describe, 40, krux_status, const krux_sink*);
FUNCTION(krux_plugin_entry, create, 48, krux_adapter*, const krux_host*, const krux_call*, const krux_account*);

/* kruxos/abi/http.h */
SIZE(krux_header, 32);
FIELD(krux_header, name, 0, krux_str);
FIELD(krux_header, value, 16, krux_str);

SIZE(krux_http_request, 96);
FIELD(krux_http_request, size, 0, uint32_t);
FIELD(krux_http_request, timeout_ms, 4, uint32_t);
FIELD(krux_http_request, method, 8, krux_str);
FIELD(krux_http_request, url, 24, krux_str);
FIELD(krux_http_request, body, 40, krux_str);
FIELD(krux_http_request, body_source, 56, const krux_source*);
FIELD(krux_http_request, headers, 64, const krux_header*);
FIELD(krux_http_request, header_count, 72, size_t);
FIELD(krux_http_request, max_response_bytes, 80, uint64_t);
FIELD(krux_http_request, flags, 88, uint32_t);
FIELD(krux_http_request, reserved, 92, uint32_t);

SIZE(krux_http_answer, 40);
FIELD(krux_http_answer, size, 0, uint32_t);
FIELD(krux_http_answer, reserved, 4, uint32_t);
FIELD(krux_http_answer, self, 8, void*);
FUNCTION(krux_http_answer, head, 16, int32_t, void*, int32_t, const krux_header*, size_t);
FUNCTION(krux_http_answer, body, 24, int32_t, void*, krux_str);
FUNCTION(krux_http_answer, failed, 32, void, void*, krux_str, int64_t);

SIZE(krux_http_client, 32);
FIELD(krux_http_client, size, 0, uint32_t);
FIELD(krux_http_client, reserved, 4, uint32_t);
FIELD(krux_http_client, self, 8, void*);
FUNCTION(krux_http_client, send, 16, krux_status, void*, const krux_call*, const krux_http_request*,
         const krux_http_answer*);
FUNCTION(krux_http_client, send_many, 24, krux_status, void*, const krux_call*, const krux_http_request* const*,
         const krux_http_answer* const*, krux_status*, size_t);

/* kruxos/abi/read.h */
SIZE(krux_condition, 72);
FIELD(krux_condition, size, 0, uint32_t);
FIELD(krux_condition, kind, 4, int32_t);
FIELD(krux_condition, op, 8, int32_t);
FIELD(krux_condition, reserved, 12, uint32_t);
FIELD(krux_condition, field, 16, krux_str);
FIELD(krux_condition, text, 32, krux_str);
FIELD(krux_condition, number, 48, int64_t);
FIELD(krux_condition, children, 56, const krux_condition* const*);
FIELD(krux_condition, child_count, 64, size_t);

SIZE(krux_query, 64);
FIELD(krux_query, size, 0, uint32_t);
FIELD(krux_query, order, 4, int32_t);
FIELD(krux_query, collection, 8, krux_str);
FIELD(krux_query, where, 24, const krux_condition*);
FIELD(krux_query, from_ms, 32, int64_t);
FIELD(krux_query, to_ms, 40, int64_t);
FIELD(krux_query, limit, 48, uint32_t);
FIELD(krux_query, offset, 52, uint32_t);
FIELD(krux_query, count_limit, 56, uint32_t);
FIELD(krux_query, reserved, 60, uint32_t);

SIZE(krux_row, 56);
FIELD(krux_row, size, 0, uint32_t);
FIELD(krux_row, reserved, 4, uint32_t);
FIELD(krux_row, id, 8, krux_str);
FIELD(krux_row, json, 24, krux_str);
FIELD(krux_row, order_ms, 40, int64_t);
FIELD(krux_row, synced_at_ms, 48, int64_t);

SIZE(krux_row_sink, 16);
FIELD(krux_row_sink, self, 0, void*);
FUNCTION(krux_row_sink, row, 8, int32_t, void*, const krux_row*);

SIZE(krux_query_result, 24);
FIELD(krux_query_result, size, 0, uint32_t);
FIELD(krux_query_result, total_is_lower_bound, 4, int32_t);
FIELD(krux_query_result, total, 8, uint64_t);
FIELD(krux_query_result, incomplete, 16, int32_t);
FIELD(krux_query_result, reserved, 20, uint32_t);

SIZE(krux_reader, 56);
FIELD(krux_reader, size, 0, uint32_t);
FIELD(krux_reader, reserved, 4, uint32_t);
FIELD(krux_reader, self, 8, void*);
FUNCTION(krux_reader, get, 16, krux_status, void*, krux_str, krux_str, const krux_row_sink*);
FUNCTION(krux_reader, query, 24, krux_status, void*, const krux_query*, const krux_row_sink*, krux_query_result*);
FUNCTION(krux_reader, blob, 32, krux_status, void*, krux_str, krux_str, krux_str, const krux_sink*);
FUNCTION(krux_reader, keep, 40, krux_status, void*, krux_str, krux_str, krux_str, const krux_source*, krux_str);
FUNCTION(krux_reader, put, 48, krux_status, void*, const krux_record*, int32_t*, const krux_sink*);

SIZE(krux_read_adapter, 24);
FIELD(krux_read_adapter, size, 0, uint32_t);
FIELD(krux_read_adapter, reserved, 4, uint32_t);
FUNCTION(krux_read_adapter, read, 8, krux_status, void*, const krux_call*, const krux_reader*, krux_str, krux_str,
         const krux_sink*);
FUNCTION(krux_read_adapter, resolve, 16, krux_status, void*, const krux_call*, const krux_reader*, krux_str, krux_str,
         const krux_sink*);

/* kruxos/abi/sync.h */
SIZE(krux_field, 40);
FIELD(krux_field, name, 0, krux_str);
FIELD(krux_field, text, 16, krux_str);
FIELD(krux_field, number, 32, int64_t);

SIZE(krux_named_text, 32);
FIELD(krux_named_text, name, 0, krux_str);
FIELD(krux_named_text, text, 16, krux_str);

SIZE(krux_record, 168);
FIELD(krux_record, size, 0, uint32_t);
FIELD(krux_record, reserved, 4, uint32_t);
FIELD(krux_record, collection, 8, krux_str);
FIELD(krux_record, id, 24, krux_str);
FIELD(krux_record, json, 40, krux_str);
FIELD(krux_record, text, 56, krux_str);
FIELD(krux_record, order_key, 72, krux_str);
FIELD(krux_record, order_ms, 88, int64_t);
FIELD(krux_record, scope, 96, krux_str);
FIELD(krux_record, generation, 112, int64_t);
FIELD(krux_record, fields, 120, const krux_field*);
FIELD(krux_record, field_count, 128, size_t);
FIELD(krux_record, tags, 136, const krux_str*);
FIELD(krux_record, tag_count, 144, size_t);
FIELD(krux_record, texts, 152, const krux_named_text*);
FIELD(krux_record, text_count, 160, size_t);

SIZE(krux_sync_store, 112);
FIELD(krux_sync_store, size, 0, uint32_t);
FIELD(krux_sync_store, reserved, 4, uint32_t);
FIELD(krux_sync_store, self, 8, void*);
FIELD(krux_sync_store, reader, 16, const krux_reader*);
FUNCTION(krux_sync_store, put, 24, krux_status, void*, const krux_record*);
FUNCTION(krux_sync_store, erase, 32, krux_status, void*, krux_str, krux_str);
FUNCTION(krux_sync_store, sweep, 40, krux_status, void*, krux_str, krux_str, int64_t, int64_t, int64_t);
FUNCTION(krux_sync_store, put_blob, 48, krux_status, void*, krux_str, krux_str, krux_str, const krux_source*);
FUNCTION(krux_sync_store, get_cursor, 56, krux_status, void*, krux_str, const krux_sink*);
FUNCTION(krux_sync_store, set_cursor, 64, krux_status, void*, krux_str, krux_str);
FUNCTION(krux_sync_store, commit, 72, krux_status, void*);
FUNCTION(krux_sync_store, report, 80, krux_status, void*, krux_str, krux_status, krux_str);
FUNCTION(krux_sync_store, keep_text, 88, krux_status, void*, krux_str, krux_str, krux_str);
FUNCTION(krux_sync_store, try_put, 96, krux_status, void*, const krux_record*, int32_t*, const krux_sink*);
FUNCTION(krux_sync_store, erase_blob, 104, krux_status, void*, krux_str, krux_str, krux_str);

SIZE(krux_sync_step, 40);
FIELD(krux_sync_step, size, 0, uint32_t);
FIELD(krux_sync_step, next, 4, int32_t);
FIELD(krux_sync_step, wait_ms, 8, int64_t);
FIELD(krux_sync_step, complete_through_ms, 16, int64_t);
FIELD(krux_sync_step, parts_done, 24, uint64_t);
FIELD(krux_sync_step, parts_total, 32, uint64_t);

SIZE(krux_sync_adapter, 24);
FIELD(krux_sync_adapter, size, 0, uint32_t);
FIELD(krux_sync_adapter, reserved, 4, uint32_t);
FUNCTION(krux_sync_adapter, full_sync, 8, krux_status, void*, const krux_call*, const krux_sync_store*,
         krux_sync_step*);
FUNCTION(krux_sync_adapter, incremental_sync, 16, krux_status, void*, const krux_call*, const krux_sync_store*, int64_t,
         krux_sync_step*);

/* kruxos/abi/write.h */
SIZE(krux_write, 104);
FIELD(krux_write, size, 0, uint32_t);
FIELD(krux_write, attempt, 4, uint32_t);
FIELD(krux_write, write_id, 8, krux_str);
FIELD(krux_write, operation, 24, krux_str);
FIELD(krux_write, params_json, 40, krux_str);
FIELD(krux_write, note_json, 56, krux_str);
FIELD(krux_write, point_json, 72, krux_str);
FIELD(krux_write, created_at_ms, 88, int64_t);
FIELD(krux_write, first_attempt_at_ms, 96, int64_t);

SIZE(krux_write_executor, 24);
FIELD(krux_write_executor, size, 0, uint32_t);
FIELD(krux_write_executor, reserved, 4, uint32_t);
FUNCTION(krux_write_executor, execute_write, 8, krux_status, void*, const krux_call*, const krux_write*,
         const krux_sink*);
FUNCTION(krux_write_executor, find_effect, 16, krux_status, void*, const krux_call*, const krux_write*, int32_t*,
         const krux_sink*);

/* kruxos/abi/cleanup.h */
SIZE(krux_cleanup, 16);
FIELD(krux_cleanup, size, 0, uint32_t);
FIELD(krux_cleanup, reserved, 4, uint32_t);
FUNCTION(krux_cleanup, clean_up, 8, krux_status, void*, const krux_call*, const krux_write*);

/* kruxos/abi/rollback.h */
SIZE(krux_rollback_request, 88);
FIELD(krux_rollback_request, size, 0, uint32_t);
FIELD(krux_rollback_request, force, 4, int32_t);
FIELD(krux_rollback_request, rollback_id, 8, krux_str);
FIELD(krux_rollback_request, operation, 24, krux_str);
FIELD(krux_rollback_request, params_json, 40, krux_str);
FIELD(krux_rollback_request, point_json, 56, krux_str);
FIELD(krux_rollback_request, result_json, 72, krux_str);

SIZE(krux_rollback_capable, 40);
FIELD(krux_rollback_capable, size, 0, uint32_t);
FIELD(krux_rollback_capable, reserved, 4, uint32_t);
FUNCTION(krux_rollback_capable, supports_rollback, 8, int32_t, void*, krux_str);
FUNCTION(krux_rollback_capable, create_rollback_point, 16, krux_status, void*, const krux_call*, const krux_write*,
         const krux_sink*);
FUNCTION(krux_rollback_capable, rollback, 24, krux_status, void*, const krux_call*, const krux_rollback_request*,
         const krux_sink*);
FUNCTION(krux_rollback_capable, find_rollback, 32, krux_status, void*, const krux_call*, const krux_rollback_request*,
         int32_t*);

/* kruxos/abi/account.h */
SIZE(krux_account_adapter, 24);
FIELD(krux_account_adapter, size, 0, uint32_t);
FIELD(krux_account_adapter, reserved, 4, uint32_t);
FUNCTION(krux_account_adapter, verify, 8, krux_status, void*, const krux_call*, const krux_sink*);
FUNCTION(krux_account_adapter, revoke, 16, krux_status, void*, const krux_call*);

/* Values travel as numbers: they are as fixed as the offsets. */
#define VALUE(name, number) _Static_assert((name) == (number), #name " changed")
VALUE(KRUX_OK, 0);
VALUE(KRUX_AUTH, 1);
VALUE(KRUX_RATE_LIMITED, 2);
VALUE(KRUX_NETWORK, 3);
VALUE(KRUX_REFUSED, 4);
VALUE(KRUX_INVALID, 5);
VALUE(KRUX_STORAGE, 6);
VALUE(KRUX_CANCELLED, 7);
VALUE(KRUX_UNSUPPORTED, 8);
VALUE(KRUX_INTERNAL, 9);
VALUE(KRUX_TIMEOUT, 10);
VALUE(KRUX_NOT_FOUND, 11);
VALUE(KRUX_UNAVAILABLE, 12);
VALUE(KRUX_CURSOR_EXPIRED, 13);
VALUE(KRUX_CONFLICT, 14);
VALUE(KRUX_EFFECT_MAYBE, 0);
VALUE(KRUX_EFFECT_NONE, 1);
VALUE(KRUX_LOG_DEBUG, 0);
VALUE(KRUX_LOG_INFO, 1);
VALUE(KRUX_LOG_WARN, 2);
VALUE(KRUX_LOG_ERROR, 3);
VALUE(KRUX_ALL_OF, 1);
VALUE(KRUX_ANY_OF, 2);
VALUE(KRUX_NONE_OF, 3);
VALUE(KRUX_TEXT, 4);
VALUE(KRUX_FIELD, 5);
VALUE(KRUX_EQ, 1);
VALUE(KRUX_NE, 2);
VALUE(KRUX_LT, 3);
VALUE(KRUX_LE, 4);
VALUE(KRUX_GT, 5);
VALUE(KRUX_GE, 6);
VALUE(KRUX_CONTAINS, 7);
VALUE(KRUX_ORDER_ASCENDING, 0);
VALUE(KRUX_ORDER_DESCENDING, 1);
VALUE(KRUX_SYNC_DONE, 0);
VALUE(KRUX_SYNC_MORE, 1);
VALUE(KRUX_SYNC_WAIT, 2);
VALUE(KRUX_CANNOT_TELL, 0);
VALUE(KRUX_EFFECT_FOUND, 1);
VALUE(KRUX_EFFECT_ABSENT, 2);
VALUE(KRUX_EFFECT_DISPROVED, 3);
VALUE(KRUX_MAGIC, 0x4B525558u);
VALUE(KRUX_ABI_MAJOR, 1);

/* kruxos/abi/uploads.h */
SIZE(krux_uploads, 24);
FIELD(krux_uploads, size, 0, uint32_t);
FIELD(krux_uploads, reserved, 4, uint32_t);
FIELD(krux_uploads, self, 8, void*);
FUNCTION(krux_uploads, read, 16, krux_status, void*, const krux_call*, krux_str, uint64_t, char*, size_t, size_t*);
