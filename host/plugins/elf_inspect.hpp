// Reads what an ELF file exports without loading it: no byte of it is mapped, let alone run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krux {

/// An entry symbol ("krux_plugin_v1") that the file exports.
struct ElfEntry {
  std::string name;
  std::uint64_t size = 0;  ///< bytes of the object behind it
  bool is_object = false;  ///< a variable, not a function
};

struct ElfReport {
  std::string problem;              ///< why this is no library for this machine, as a sentence; empty when it is one
  std::vector<ElfEntry> entries;    ///< the exported symbols that begin with "krux_plugin_v"
  std::vector<std::string> others;  ///< other exported symbols, the first 16 of them
  std::uint64_t other_count = 0;
};

/// `bytes` is the whole file. Follows the dynamic segment, as the loader does, not the section table, which it ignores.
/// Any bytes are answered with a report; nothing outside `bytes` is read.
ElfReport inspect_elf(std::string_view bytes);

}  // namespace krux
