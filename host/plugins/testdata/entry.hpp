// The smallest entry table that is in order, for plugins that are broken elsewhere. They are written against the C
// headers, so that they can break what kruxos/adapter.hpp would not let them.
#pragma once
#include <kruxos/abi.h>

namespace broken {

inline krux_status describe(const krux_sink* out) noexcept {
  static const char text[] = "{\"collections\":[]}";
  return out->write(out->self, {text, sizeof(text) - 1}) == 0 ? KRUX_OK : KRUX_INTERNAL;
}

inline krux_adapter* create(const krux_host*, const krux_call*, const krux_account*) noexcept {
  return nullptr;
}

}  // namespace broken

#define BROKEN_PLUGIN(magic, size, service, prefix, version, describe_function)                      \
  extern "C" {                                                                                       \
  KRUX_EXPORT extern const krux_plugin_entry KRUX_ENTRY;                                             \
  const krux_plugin_entry KRUX_ENTRY{                                                                \
      magic, size, KRUX_ABI_MINOR, 0, service, prefix, version, describe_function, &broken::create}; \
  }                                                                                                  \
  static_assert(true)
