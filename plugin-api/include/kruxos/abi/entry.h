/* kruxos/abi/entry.h - what the host gives when it opens a plugin, and the one symbol that a plugin exports. */
#ifndef KRUXOS_ABI_ENTRY_H
#define KRUXOS_ABI_ENTRY_H
#include <kruxos/abi/call.h>
KRUX_BEGIN_DECLS

#define KRUX_IID_LOG "krux.log/1"

enum { KRUX_LOG_DEBUG = 0, KRUX_LOG_INFO = 1, KRUX_LOG_WARN = 2, KRUX_LOG_ERROR = 3 };

/* Valid as long as the adapter. [any thread] */
typedef struct krux_log {
  uint32_t size;
  uint32_t reserved;
  void* self;
  /* One line, cut at 8 KiB, labelled with the service and the account; control characters are escaped. Never a
   * credential, nor what a message says. */
  void (*write)(void* self, int32_t level, krux_str message) KRUX_NOEXCEPT;
} krux_log;

/* Lives as long as the adapter that was created with it. */
typedef struct krux_host {
  uint32_t size;
  uint32_t abi_minor;
  void* self;
  /* The table of that interface id, valid as long as this one; NULL: this host has none. [any thread] */
  const void* (*query)(void* self, const char* iid)KRUX_NOEXCEPT;
} krux_host;

/* The account that an adapter instance works for; one instance an account. Borrowed for create(). */
typedef struct krux_account {
  uint32_t size;
  uint32_t generation; /* of the connection: 1 for the first, more after each reconnect; 0 while it is being verified */
  krux_str account_id; /* empty while it is being verified */
  krux_str scopes_json;   /* JSON array of the scopes that were granted; empty when unknown */
  krux_str config_json;   /* the service's `adapter:` section of the configuration, checked against config_schema */
  krux_str base_url;      /* since 1.2: what relative addresses of requests are relative to, with its "/" */
  krux_str settings_json; /* since 1.2: what the operator has set of this account, by the names that the definition's
                             `accounts` section gives: one JSON object of texts, checked against it. Not secret */
} krux_account;

/* One adapter at work for one account. Made by create(), owned by the host, which calls destroy() once, when no other
 * call is running. */
typedef struct krux_adapter {
  uint32_t size;
  uint32_t reserved;
  void* self; /* the first argument of the roles' functions */
  /* A role's table, valid as long as the adapter; NULL: it does not have that role. Asked right after create().
   * [any thread] */
  const void* (*query)(void* self, const char* iid)KRUX_NOEXCEPT;
  /* Frees the adapter. All its threads are joined on return, within 2 s. [any thread] */
  void (*destroy)(struct krux_adapter* adapter) KRUX_NOEXCEPT;
} krux_adapter;

/* The one symbol that a plugin exports, constant and valid as long as the process. */
typedef struct krux_plugin_entry {
  uint32_t magic; /* KRUX_MAGIC */
  uint32_t size;
  uint32_t abi_minor;
  uint32_t reserved;
  const char* service; /* "notes": names definitions/notes.yaml; [a-z][a-z0-9_]{0,31} */
  const char* prefix;  /* of its capabilities: "notes" in notes.create; the same alphabet */
  const char* version; /* MAJOR.MINOR.PATCH */
  /* JSON: {"collections": [{"name", "version", "order": "time"|"key", "searchable": true|false,
   *                         "fields": [{"name", "type": "text"|"integer"}],
   *                         "cursors": what the names of its own cursors begin with, or left out,
   *                         "tags": true where its records have tags (since 1.2; searchable collections alone, as
   *                                 texts), or left out,
   *                         "texts": [{"name", "exact": true where its bytes are compared as they are, or left out}],
   *                                  texts that are searched by their names (since 1.2), or left out}],
   *        "config_schema": {JSON Schema draft 4 of the adapter's configuration, of at most 64 KiB, of the rules
   *                          that docs/adapter-guide.md lists: no $ref, pattern, anyOf and the like},
   *        "acts_by_http": false where writes act otherwise than by the host's HTTP: nothing sent proves nothing then,
   *        "mock": true where it stands in for the service's adapter in tests; what is connected through the one is not
   *        served through the other}
   * At most 256 KiB, 32 collections, 16 fields and 16 named texts each; names are [a-z][a-z0-9_]{0,31}. A collection
   * whose version has changed is built anew by a full pass, and until that has ended reads are shown what the version
   * before has put: docs/definitions.md has the rules. Where it fails, what it wrote is a sentence for people that says
   * why. Called in another process first. No I/O. [any thread] */
  krux_status (*describe)(const krux_sink* out) KRUX_NOEXCEPT;
  /* Makes an adapter for one account; `host` outlives it, `call` and `account` are borrowed. NULL: it cannot work, and
   * call->fail says why. [worker] */
  krux_adapter* (*create)(const krux_host* host, const krux_call* call, const krux_account* account)KRUX_NOEXCEPT;
} krux_plugin_entry;

#define KRUX_MAGIC 0x4B525558u /* "KRUX" */
#define KRUX_CONCAT_(a, b) a##b
#define KRUX_CONCAT(a, b) KRUX_CONCAT_(a, b)
#define KRUX_ENTRY KRUX_CONCAT(krux_plugin_v, KRUX_ABI_MAJOR)
#define KRUX_EXPORT __attribute__((visibility("default")))

KRUX_END_DECLS
#endif
