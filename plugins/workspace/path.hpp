// A path as agents name it, taken apart before the file system sees anything of it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace workspace {

/// What agents call their directory.
inline constexpr std::string_view kRoot = "/workspace";

/// A place in an agent's workspace: names only, none of them "." or "..".
struct Path {
  std::vector<std::string> names;

  bool is_root() const { return names.empty(); }
  std::string shown() const;     ///< "/workspace/a/b"
  std::string relative() const;  ///< "a/b"; "." of the root
  std::string parent() const;    ///< "a"; "." at the top
  Path above() const;
  const std::string& name() const { return names.back(); }
  Path child(const std::string& name) const;
};

/// "/workspace/a", "a", "./a". Throws ProxyError kInvalid with a sentence: another absolute path, "..", NUL and control
/// characters, what is no UTF-8, names above 255 bytes, more than 4,000 bytes or 64 names.
Path parse_path(std::string_view text);

}  // namespace workspace
