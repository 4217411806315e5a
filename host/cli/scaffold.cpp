#include "host/cli/scaffold.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "core/definition/definition_loader.hpp"
#include "core/util/descriptor.hpp"
#include "core/util/text.hpp"
#include "host/cli/control_client.hpp"

namespace krux::cli {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, std::string, std::less<>>;

[[noreturn]] void refuse(const std::string& sentence) {
  throw CliError(kUsage, sentence);
}

/// Also part of a file's, a namespace's and a host's name, and plain YAML.
void check_name(const std::string& what, const std::string& name) {
  if (!is_plain_name(name)) {
    refuse(fmt::format("The {} \"{}\" does not fit: it has small letters, digits and _, a letter first, at most 32.",
                       what, printable(name)));
  }
  if (name.ends_with('_') || name.find("__") != std::string::npos) {
    refuse(fmt::format("The {} \"{}\" does not fit: a _ stands alone and between other characters.", what, name));
  }
  for (const char* word : {"null", "true", "false", "yes", "no", "on", "off"}) {
    if (name == word)
      refuse(fmt::format("The {} \"{}\" means something else in YAML: choose another one.", what, name));
  }
}

void check_prefix(const std::string& prefix) {
  check_name("prefix", prefix);
  for (const char* taken : {"proxy", "state", "alerts", "agent"}) {
    if (prefix == taken) {
      refuse(fmt::format("The prefix \"{}\" is the host's own: choose another one with --prefix.", prefix));
    }
  }
}

void check_display_name(const std::string& text) {
  const bool plain = is_valid_utf8(text) && printable(text) == text && text.find_first_of("\"\\@") == std::string::npos;
  if (text.empty() || text.size() > 60 || !plain || text.front() == ' ' || text.back() == ' ') {
    refuse(
        "The display name has 1 to 60 bytes of text: no quotes, back slashes, @ and control characters, and no space "
        "at "
        "either end.");
  }
}

/// "my_notes": "MyNotes", or "My notes" with `separator` ' ' and only the first word capitalised.
std::string in_words(const std::string& name, bool joined) {
  std::string out;
  bool capital = true;
  for (const char c : name) {
    if (c == '_') {
      if (!joined) out += ' ';
      capital = joined;
      continue;
    }
    out += capital && c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    capital = false;
  }
  return out;
}

std::string filled(std::string_view text, const Values& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text[at] == '@' ? text.find('@', at + 1) : std::string_view::npos;
    const auto value = end == std::string_view::npos ? values.end() : values.find(text.substr(at + 1, end - at - 1));
    if (value == values.end()) {
      out += text[at++];
    } else {
      out += value->second;
      at = end + 1;
    }
  }
  return out;
}

/// Removes what was made, in the opposite order, unless it is kept.
class Undo {
 public:
  ~Undo() {
    std::error_code ignored;
    for (auto at = made_.rbegin(); at != made_.rend(); ++at) fs::remove(*at, ignored);
  }
  void add(const fs::path& path) { made_.push_back(path); }
  void keep() { made_.clear(); }

 private:
  std::vector<fs::path> made_;
};

[[noreturn]] void cannot(const char* what, const fs::path& path, int error) {
  throw CliError(kFailed, fmt::format("{} cannot be {}: {}.", printable(path.string()), what, std::strerror(error)));
}

void make_directories(const fs::path& directory, Undo& undo) {
  if (directory.empty() || fs::is_directory(directory)) return;
  make_directories(directory.parent_path(), undo);
  if (::mkdir(directory.c_str(), 0755) != 0) cannot("made", directory, errno);
  undo.add(directory);
  ::chmod(directory.c_str(), 0755);
}

void check_target(const fs::path& directory) {
  std::error_code error;
  const auto status = fs::symlink_status(directory, error);
  if (status.type() == fs::file_type::not_found) return;
  if (error) cannot("used", directory, error.value());
  if (!fs::is_directory(directory, error)) {
    throw CliError(kConflict, fmt::format("{} is there and is no directory: choose another one with --dir.",
                                          printable(directory.string())));
  }
  const bool empty = fs::is_empty(directory, error);
  if (error) cannot("read", directory, error.value());
  if (!empty) {
    throw CliError(kConflict,
                   fmt::format("The directory {} is not empty, and nothing in it is overwritten: choose another one "
                               "with --dir.",
                               printable(directory.string())));
  }
}

void write_new(const fs::path& file, std::string_view text, mode_t mode, Undo& undo) {
  const Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (out.get() < 0) cannot("written", file, errno);
  undo.add(file);
  ::fchmod(out.get(), mode);
  while (!text.empty()) {
    const auto n = ::write(out.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) cannot("written", file, n == 0 ? ENOSPC : errno);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

Scaffold scaffold_adapter(const ScaffoldPlan& plan) {
  check_name("name", plan.name);
  Scaffold made{plan.directory.empty() ? fs::path(plan.name) : plan.directory,
                plan.name,
                plan.prefix.empty() ? plan.name : plan.prefix,
                plan.display_name.empty() ? in_words(plan.name, false) : plan.display_name,
                {}};
  check_prefix(made.prefix);
  check_display_name(made.display_name);
  made.directory = fs::absolute(made.directory).lexically_normal();
  if (!made.directory.has_filename()) made.directory = made.directory.parent_path();  // of "dir/"
  check_target(made.directory);
  auto host = made.name;
  std::replace(host.begin(), host.end(), '_', '-');
  const Values values{{"NAME", made.name},
                      {"PREFIX", made.prefix},
                      {"DISPLAY_NAME", made.display_name},
                      {"CLASS", in_words(made.name, true)},
                      {"HOST", host}};
  Undo undo;
  make_directories(made.directory, undo);
  for (const auto& file : scaffold_files()) {
    std::string name(file.name);
    if (const auto at = name.find("NAME"); at != std::string::npos) name.replace(at, 4, made.name);
    write_new(made.directory / name, filled(file.text, values), name.ends_with(".py") ? 0755 : 0644, undo);
    made.files.push_back(name);
  }
  undo.keep();
  return made;
}

}  // namespace krux::cli
