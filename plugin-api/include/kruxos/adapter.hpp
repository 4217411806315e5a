// kruxos/adapter.hpp - what an adapter author writes against. Header-only C++20; depends on the C headers beside it
// alone.
//
// It is compiled into the adapter with the adapter's own compiler and standard library, so it may use the library
// freely: none of it crosses the boundary. Exceptions that an author's code throws stop at the edge
// (kruxos/adapter/call.hpp).
//
//   class NotesAdapter final : public kruxos::SyncAdapter, public kruxos::WriteExecutor {
//    public:
//     NotesAdapter(kruxos::Host host, const kruxos::Account& account);
//     static kruxos::Description describe();
//     ...
//   };
//   KRUXOS_PLUGIN(NotesAdapter, "notes", "notes", "1.0.0");
#pragma once
#include <kruxos/abi.h>
#include <kruxos/adapter/ask.hpp>
#include <kruxos/adapter/call.hpp>
#include <kruxos/adapter/error.hpp>
#include <kruxos/adapter/http.hpp>
#include <kruxos/adapter/replica.hpp>
#include <kruxos/adapter/roles.hpp>
#include <kruxos/adapter/tables.hpp>

/// Once in a plugin, at namespace scope: the one symbol that it exports. `Class` is constructible from (kruxos::Host,
/// const kruxos::Account&) and derives from the roles it has.
#define KRUXOS_PLUGIN(Class, service_name, prefix_name, version_text)  \
  extern "C" {                                                         \
  KRUX_EXPORT extern const krux_plugin_entry KRUX_ENTRY;               \
  const krux_plugin_entry KRUX_ENTRY{KRUX_MAGIC,                       \
                                     sizeof(krux_plugin_entry),        \
                                     KRUX_ABI_MINOR,                   \
                                     0,                                \
                                     service_name,                     \
                                     prefix_name,                      \
                                     version_text,                     \
                                     &kruxos::detail::describe<Class>, \
                                     &kruxos::detail::create<Class>};  \
  }                                                                    \
  static_assert(true)
