/* kruxos/abi/entry.h - what the host gives when it opens a plugin, and the one symbol that a plugin exports. */
#ifndef KRUXOS_ABI_ENTRY_H
#define KRUXOS_ABI_ENTRY_H
#include <kruxos/abi/call.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_LOG "krux.log/1"

enum { KRUX_LOG_DEBUG = 0, KRUX_LOG_INFO = 1, KRUX_LOG_WARN = 2, KRUX_LOG_ERROR = 3 };

/* [any thread] Lines are labelled with the service and the account; control characters are escaped. */
typedef struct krux_log {
  uint32_t size;
  uint32_t reserved;
  void* self;
  void (*write)(void* self, int32_t level, krux_str message) KRUX_NOEXCEPT;
} krux_log;

/* Lives as long as the adapter that was created with it. */
typedef struct krux_host {
  uint32_t size;
  uint32_t abi_minor;
  void* self;
  const void* (*query)(void* self, const char* iid)KRUX_NOEXCEPT; /* NULL: this host has none. [any thread] */
} krux_host;

/* The account that an adapter instance works for; one instance an account. Borrowed for create(). */
typedef struct krux_account {
  uint32_t size;
  uint32_t generation; /* of the connection: 1 for the first, more after each reconnect; 0 while it is being verified */
  krux_str account_id; /* empty while it is being verified */
  krux_str scopes_json; /* JSON array of the scopes that were granted; empty when unknown */
  krux_str config_json; /* the service's `adapter:` section of the configuration, checked against config_schema */
} krux_account;

typedef struct krux_adapter {
  uint32_t size;
  uint32_t reserved;
  void* self;
  const void* (*query)(void* self,
                       const char* iid)KRUX_NOEXCEPT; /* a role's table, valid as long as the adapter. [any thread] */
  void (*destroy)(struct krux_adapter* adapter) KRUX_NOEXCEPT; /* all its threads are joined on return. [any thread] */
} krux_adapter;

typedef struct krux_plugin_entry {
  uint32_t magic; /* KRUX_MAGIC */
  uint32_t size;
  uint32_t abi_minor;
  uint32_t reserved;
  const char* service; /* "notes": names definitions/notes.yaml; [a-z][a-z0-9_]{0,31} */
  const char* prefix;  /* of its capabilities: "notes" in notes.create; the same alphabet */
  const char* version; /* MAJOR.MINOR.PATCH */
  /* JSON: {"collections": [{"name", "version", "order": "time"|"key", "searchable": true|false,
   *                         "fields": [{"name", "type": "text"|"integer"}]}],
   *        "config_schema": {JSON Schema draft 4 of the adapter's configuration}}
   * A collection whose version has changed is emptied and synced anew. No I/O. */
  krux_status (*describe)(const krux_sink* out) KRUX_NOEXCEPT;
  krux_adapter* (*create)(const krux_host* host, const krux_call* call,
                          const krux_account* account)KRUX_NOEXCEPT; /* NULL: see call.fail */
} krux_plugin_entry;

#define KRUX_MAGIC 0x4B525558u /* "KRUX" */
#define KRUX_CONCAT_(a, b) a##b
#define KRUX_CONCAT(a, b) KRUX_CONCAT_(a, b)
#define KRUX_ENTRY KRUX_CONCAT(krux_plugin_v, KRUX_ABI_MAJOR)
#define KRUX_EXPORT __attribute__((visibility("default")))

KRUX_END_DECLS
#endif
