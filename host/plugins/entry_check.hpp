// What a plugin says of itself in its entry table, checked and copied. Used by the probe, in its own process, and once
// more after the file was loaded.
#pragma once

#include <kruxos/abi/entry.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace krux {

/// The name of the entry symbol that this host opens: "krux_plugin_v1".
inline constexpr std::string_view kEntrySymbol = "krux_plugin_v1";

struct EntryInfo {
  std::string service, prefix, version;
  std::uint32_t abi_minor = 0;
};

/// Copies the table's texts into `info` and returns an empty string, or says in a sentence what is wrong with it.
/// `bytes` is how large the symbol behind it is.
std::string check_entry(const krux_plugin_entry& entry, std::uint64_t bytes, EntryInfo& info);

/// Three decimal numbers, none above 999999, in one that compares as they do.
std::optional<std::uint64_t> parse_version(std::string_view text);

}  // namespace krux
