#include "workspace/path.hpp"

#include <kruxos/kit/text.hpp>

#include <algorithm>

#include "workspace/failure.hpp"

namespace workspace {
namespace {

constexpr std::size_t kLongestPath = 4000, kLongestName = 255, kMostNames = 64;

std::string joined(const std::vector<std::string>& names, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += (out.empty() ? "" : "/") + names[i];
  return out.empty() ? "." : out;
}

void check_text(std::string_view text) {
  if (text.empty()) throw invalid("The path is empty: name a file such as /workspace/notes.txt.");
  if (text.size() > kLongestPath) throw invalid("The path is too long: 4,000 bytes are accepted.");
  if (!kruxos::kit::is_utf8(text)) throw invalid("The path is not UTF-8 text.");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control))
    throw invalid("The path has a control character (a NUL, a line feed): names with them are not accepted.");
}

/// What follows "/workspace"; a path that begins with no '/' is meant from there.
std::string_view below_root(std::string_view text) {
  if (!text.starts_with('/')) return text;
  if (text.starts_with(kRoot) && (text.size() == kRoot.size() || text[kRoot.size()] == '/'))
    return text.substr(kRoot.size());
  throw invalid(kruxos::kit::printable(text, 300) +
                " is not in the workspace: paths begin with /workspace/, or are relative to it.");
}

}  // namespace

std::string Path::shown() const {
  return is_root() ? std::string(kRoot) : std::string(kRoot) + "/" + relative();
}
std::string Path::relative() const {
  return joined(names, names.size());
}
std::string Path::parent() const {
  return joined(names, names.empty() ? 0 : names.size() - 1);
}
Path Path::above() const {
  return {{names.begin(), names.end() - (names.empty() ? 0 : 1)}};
}
Path Path::child(const std::string& name) const {
  auto longer = *this;
  longer.names.push_back(name);
  return longer;
}

Path parse_path(std::string_view text) {
  check_text(text);
  auto rest = below_root(text);
  Path path;
  while (!rest.empty()) {
    const auto name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") throw invalid("The path has \"..\": name the file from /workspace/ on.");
    if (name.size() > kLongestName) throw invalid("A name in the path is too long: 255 bytes are accepted.");
    if (path.names.size() == kMostNames) throw invalid("The path is too deep: 64 directories are accepted.");
    path.names.emplace_back(name);
  }
  return path;
}

}  // namespace workspace
