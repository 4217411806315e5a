// Breaks the rules that kruxos/adapter.hpp keeps for its users: odd tables, unknown statuses, output after the end,
// null pointers.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "entry.hpp"

namespace {

const krux_host* lent_host = nullptr;
const krux_call* kept_call = nullptr;

bool is(krux_str text, const char* other) {
  return text.len == std::strlen(other) && std::memcmp(text.ptr, other, text.len) == 0;
}

krux_str str(const char* text) {
  return {text, std::strlen(text)};
}

krux_status reader_mischief(const krux_reader* reader, const krux_sink* out) {
  krux_query query{};
  krux_query_result result{};
  krux_row_sink rows{nullptr, [](void*, const krux_row*) noexcept -> int32_t { return 0; }};
  const auto nothing = reader->query(reader->self, nullptr, &rows, &result);
  query.size = sizeof(query) - 1;
  result.size = sizeof(result);
  const auto short_query = reader->query(reader->self, &query, &rows, &result);
  query.size = sizeof(query);
  const auto no_rows = reader->query(reader->self, &query, nullptr, &result);
  krux_condition self{};
  const krux_condition* children[] = {&self};
  self = {sizeof(self), KRUX_ALL_OF, 0, 0, {}, {}, 0, children, 1};  // contains itself
  query.where = &self;
  const auto circle = reader->query(reader->self, &query, &rows, &result);
  const auto null_text = reader->get(reader->self, {nullptr, 5}, str("x"), &rows);
  char text[100];
  const int length =
      std::snprintf(text, sizeof(text), "{\"all\":[%d,%d,%d,%d,%d]}", nothing, short_query, no_rows, circle, null_text);
  out->write(out->self, {text, static_cast<size_t>(length)});
  return KRUX_OK;
}

krux_status http_mischief(const krux_call* call, const krux_sink* out) {
  const auto* http = static_cast<const krux_http_client*>(lent_host->query(lent_host->self, KRUX_IID_HTTP_CLIENT));
  krux_http_request request{};
  request.size = sizeof(request);
  request.method = str("POST");
  request.url = str("things");
  krux_http_answer answer{sizeof(krux_http_answer),
                          0,
                          nullptr,
                          [](void*, int32_t, const krux_header*, size_t) noexcept -> int32_t { return 0; },
                          [](void*, krux_str) noexcept -> int32_t { return 0; },
                          [](void*, krux_str, int64_t) noexcept {}};
  const auto stale = kept_call ? http->send(http->self, kept_call, &request, &answer) : -1;
  const auto no_request = http->send(http->self, call, nullptr, &answer);
  const auto no_answer = http->send(http->self, call, &request, nullptr);
  request.url = {"a\0b", 3};
  const auto nul = http->send(http->self, call, &request, &answer);
  const auto unknown = lent_host->query(lent_host->self, "krux.no-such/1") == nullptr;
  const auto null_iid = lent_host->query(lent_host->self, nullptr) == nullptr;
  char text[100];
  const int length = std::snprintf(text, sizeof(text), "{\"all\":[%d,%d,%d,%d,%d,%d]}", stale, no_request, no_answer,
                                   nul, unknown, null_iid);
  out->write(out->self, {text, static_cast<size_t>(length)});
  return KRUX_OK;
}

krux_status read(void*, const krux_call* call, const krux_reader* reader, krux_str capability, krux_str,
                 const krux_sink* out) noexcept {
  if (is(capability, "stray.status")) return 4711;
  if (is(capability, "stray.negative")) return -1;
  if (is(capability, "stray.silent")) return KRUX_REFUSED;
  if (is(capability, "stray.null_bytes")) {
    out->write(out->self, {nullptr, 10});
    return KRUX_OK;
  }
  if (is(capability, "stray.null_failure")) {
    call->fail(call->self, nullptr);
    return KRUX_REFUSED;
  }
  if (is(capability, "stray.long_failure")) {
    static char long_text[10000];
    std::memset(long_text, 'm', sizeof(long_text));
    const krux_failure first{
        sizeof(krux_failure), KRUX_REFUSED, 7, 0, str("bad type!"), {long_text, sizeof(long_text)}, -5};
    const krux_failure second{sizeof(krux_failure), KRUX_AUTH, KRUX_EFFECT_NONE, 0, str("Second"), str("second"), 1};
    call->fail(call->self, &first);
    call->fail(call->self, &second);
    return KRUX_AUTH;
  }
  if (is(capability, "stray.keep_call")) {
    kept_call = call;
    out->write(out->self, str("{}"));
    return KRUX_OK;
  }
  if (is(capability, "stray.reader")) return reader_mischief(reader, out);
  if (is(capability, "stray.http")) return http_mischief(call, out);
  return KRUX_UNSUPPORTED;
}

// Ends before `resolve`, as a table of a smaller minor would: the host must not look behind its end.
struct ShortReadTable {
  uint32_t size, reserved;
  decltype(&read) read_function;
  uintptr_t behind;  // not a function
};
#if defined(STRAY_NULL_RESOLVE)
const krux_read_adapter read_table{sizeof(krux_read_adapter), 0, &read, nullptr};
#else
const ShortReadTable read_table{offsetof(krux_read_adapter, resolve), 0, &read, 0x1};
#endif

#if defined(STRAY_TRUNCATED_WRITE)
const krux_write_executor write_table{16, 0, nullptr, nullptr};
#elif defined(STRAY_NULL_WRITE)
const krux_write_executor write_table{sizeof(krux_write_executor), 0, nullptr, nullptr};
#endif

bool connected = false;  // the latest adapter: it has an account
#if defined(STRAY_ONCE_CONNECTED)
[[maybe_unused]] constexpr bool kOnceConnected = true;
#else
[[maybe_unused]] constexpr bool kOnceConnected = false;
#endif

const void* query(void*, const char* iid) noexcept {
  if (std::strcmp(iid, KRUX_IID_READ_ADAPTER) == 0) return &read_table;
#if defined(STRAY_TRUNCATED_WRITE) || defined(STRAY_NULL_WRITE)
  if (std::strcmp(iid, KRUX_IID_WRITE_EXECUTOR) == 0 && (connected || !kOnceConnected)) return &write_table;
#endif
  return nullptr;
}

krux_adapter adapter{sizeof(krux_adapter), 0, nullptr, &query, [](krux_adapter*) noexcept {}};

krux_adapter* create(const krux_host* host, const krux_call*, const krux_account* account) noexcept {
  connected = account->account_id.len > 0;
#if defined(STRAY_NEEDS_ACCOUNT)
  if (!connected) return nullptr;
#elif defined(STRAY_NULL_QUERY)
  adapter.query = nullptr;
#elif defined(STRAY_CRASHES)
  if (!connected) std::abort();
#endif
  lent_host = host;
  return &adapter;
}

}  // namespace

#ifndef STRAY_SERVICE
#define STRAY_SERVICE "stray"
#endif

extern "C" {
KRUX_EXPORT extern const krux_plugin_entry KRUX_ENTRY;
const krux_plugin_entry KRUX_ENTRY{
    KRUX_MAGIC, sizeof(krux_plugin_entry), KRUX_ABI_MINOR, 0, STRAY_SERVICE, STRAY_SERVICE,
    "0.1.0",    &broken::describe,         &create};
}
