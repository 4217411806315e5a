// Files as the host accepts them: what others could write it refuses, so that neither the umask nor the mode of a
// source may count.
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

namespace support {

inline void make_safe(const std::filesystem::path& file) {
  std::filesystem::permissions(file, std::filesystem::perms(0644));
}

inline void write_safe(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
  make_safe(file);
}

inline void copy_safe(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::copy_file(from, to);
  make_safe(to);
}

}  // namespace support
