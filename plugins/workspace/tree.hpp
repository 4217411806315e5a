// Whole directories, walked by descriptors: what they hold, copies of them, taking them away.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workspace/descriptor.hpp"
#include "workspace/path.hpp"

namespace workspace {

/// Asked in every loop; it throws where the call should end.
using MayGoOn = std::function<void()>;

/// The names in a directory, sorted. Those that are no UTF-8 or have control characters are counted alone.
struct Names {
  std::vector<std::string> names;
  std::uint64_t unreadable = 0;
  bool is_cut = false;  ///< there are more than `most`
};
Names names_in(int directory, std::size_t most, const MayGoOn& may_go_on);

struct Size {
  std::uint64_t bytes = 0, entries = 0;
  bool is_whole = true;  ///< otherwise something nests too deeply to be counted, or cannot be listed
};
/// Of what stands under that name, and below it; no more than `most_entries` are counted. Gives the owner his way into
/// directories that are closed to him. Throws what `may_go_on` does, and nothing else.
Size size_of(int directory, const std::string& name, std::uint64_t most_entries, const MayGoOn& may_go_on);

/// A text that changes with what stands under the name: kind, mode and content of a file, names, kinds and sizes in a
/// directory with the times of its files. Empty where there is nothing.
std::string print_of(int directory, const std::string& name, const MayGoOn& may_go_on);

/// SHA-256 in hexadecimal.
std::string sha256_of(std::string_view bytes);

/// Copies files and directories, and refuses whatever else is among them. Throws ProxyError, also above `most`.
void copy_tree(int from, const std::string& name, int to, const std::string& as, const Path& shown, Size most,
               const MayGoOn& may_go_on);

/// Takes away whatever stands under that name; false where that is not possible.
bool remove_tree(int directory, const std::string& name);

/// Puts a new file there, complete and on the disk; nothing may be in its place. Throws ProxyError.
void put_file(int directory, const std::string& name, std::string_view bytes, mode_t mode);
/// The same in the place of what is there: whole or not at all, whenever the host is killed.
void put_durably(int directory, const std::string& name, std::string_view bytes);
void sync_directory(int directory);
/// Empty where there is none. Throws ProxyError for one above 64 KiB.
std::string small_file(int directory, const std::string& name);

}  // namespace workspace
