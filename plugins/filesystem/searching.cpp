#include "searching.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kruxos/kit/text.hpp>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "changes.hpp"
#include "glob.hpp"
#include "workspace/failure.hpp"
#include "workspace/tree.hpp"

namespace filesystem {
namespace {

using kruxos::kit::Json;
using kruxos::kit::ObjectWriter;
using kruxos::kit::text_of;
using workspace::Path;

constexpr std::int64_t kMostMs = 5'000;  ///< half of what a read has
constexpr std::uint64_t kMostEntries = 200'000, kMostBytes = 256ULL << 20;
constexpr off_t kLargestText = 8 << 20;
constexpr std::size_t kLongestLine = 300;
constexpr int kDeepest = 64;
constexpr const char* kClosed = "the permissions of a file or directory forbid to look into it";

class Search {
 public:
  Search(const kruxos::Call& call, const Json& params)
      : call_(call),
        until_ms_(std::min(call.now_ms() + kMostMs, call.deadline_ms() - 1'000)),
        name_(kruxos::kit::lower_ascii(text_of(params, "name"))),
        text_(text_of(params, "text")),
        exact_(kruxos::kit::flag_of(params, "case_sensitive")),
        limit_(static_cast<std::size_t>(kruxos::kit::integer_of(params, "limit", 100))) {
    if (!exact_) text_ = kruxos::kit::lower_ascii(text_);
  }

  void directory(int directory, const Path& path, int depth) {
    if (depth > kDeepest) return stop("directories are nested too deeply");
    const auto names = names_of(directory);
    if (names.is_cut) stop("a directory has too many entries");
    for (const auto& name : names.names) {
      if (is_over()) return;
      entry(directory, name, path.child(name), depth);
    }
  }

  std::string done() const {
    ObjectWriter out;
    out.raw("matches", matches_.done()).flag("complete", why_.empty());
    if (!why_.empty()) out.text("incomplete_because", why_);
    return out.done();
  }

 private:
  void stop(const char* why) {
    if (why_.empty()) why_ = why;
  }

  bool is_over() {
    if (entries_ >= kMostEntries) stop("too many files were looked at: name a directory in path");
    if (bytes_ >= kMostBytes) stop("too much text was looked at: name a directory in path, or a name");
    if (call_.cancelled() || call_.now_ms() >= until_ms_) stop("the time was over: name a directory in path");
    return found_ == limit_ || entries_ >= kMostEntries || bytes_ >= kMostBytes || call_.cancelled() ||
           call_.now_ms() >= until_ms_;
  }

  void entry(int directory, const std::string& name, const Path& path, int depth) {
    struct stat found {};
    if (fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return;  // gone meanwhile
    ++entries_;
    const bool named = name_.empty() || fits(name_, kruxos::kit::lower_ascii(name));
    if (named && text_.empty()) add(path, found, {}, 0);
    if (named && !text_.empty() && S_ISREG(found.st_mode)) look_into(directory, name, path, found);
    if (!S_ISDIR(found.st_mode)) return;
    const workspace::Descriptor below(openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below && errno != ENOENT) stop(kClosed);
    if (below) this->directory(below.get(), path, depth + 1);
  }

  /// One directory that may not be listed, or goes meanwhile, ends no search.
  workspace::Names names_of(int directory) {
    try {
      return workspace::names_in(directory, kMostEntries, until_cancelled(call_));
    } catch (const kruxos::ProxyError&) {
      stop(kClosed);
      return {};
    }
  }

  void look_into(int directory, const std::string& name, const Path& path, const struct stat& found) {
    if (found.st_size > kLargestText) return stop("a file is larger than 8 MiB, and was not looked into");
    struct stat opened {};
    const workspace::Descriptor file(
        openat(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    if (!file && errno != ENOENT) stop(kClosed);
    if (!file || fstat(file.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return;
    std::string text(static_cast<std::size_t>(std::min<off_t>(opened.st_size, kLargestText)), '\0');
    const auto got = pread(file.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    bytes_ += text.size();
    if (text.find('\0') == std::string::npos && kruxos::kit::is_utf8(text)) lines_of(text, path, found);
  }

  void lines_of(const std::string& text, const Path& path, const struct stat& found) {
    const auto searched = exact_ ? std::string() : kruxos::kit::lower_ascii(text);
    const std::string_view in = exact_ ? std::string_view(text) : std::string_view(searched);
    std::int64_t line = 1;
    std::size_t counted = 0;
    for (auto at = in.find(text_); at != std::string_view::npos && found_ < limit_;) {
      line += std::count(in.begin() + static_cast<std::ptrdiff_t>(counted),
                         in.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      const auto before = in.rfind('\n', at);
      const auto begin = at == 0 || before == std::string_view::npos ? 0 : before + 1;
      const auto end = std::min(in.find('\n', at), in.size());
      add(path, found, std::string_view(text).substr(begin, end - begin), line);
      counted = at;
      at = in.find(text_, end);
    }
  }

  void add(const Path& path, const struct stat& found, std::string_view line, std::int64_t number) {
    ObjectWriter match;
    match.text("path", path.shown()).text("type", workspace::type_of(found.st_mode));
    if (S_ISREG(found.st_mode)) match.integer("size", found.st_size);
    if (number > 0) match.integer("line", number).text("excerpt", kruxos::kit::printable(line, kLongestLine));
    matches_.raw(match.done());
    if (++found_ == limit_) stop("the limit is reached: narrow the search, or raise limit");
  }

  const kruxos::Call& call_;
  const std::int64_t until_ms_;
  const std::string name_;
  std::string text_;
  const bool exact_;
  const std::size_t limit_;
  std::size_t found_ = 0;
  std::uint64_t entries_ = 0, bytes_ = 0;
  std::string why_;
  kruxos::kit::ArrayWriter matches_;
};

}  // namespace

std::string search(const kruxos::Call& call, const workspace::Home& home, const Json& params) {
  const auto given = text_of(params, "path");
  const auto path = workspace::parse_path(given.empty() ? workspace::kRoot : given);
  const auto directory = workspace::open_directory(home.files.get(), path.relative(), path);
  Search searching(call, params);
  searching.directory(directory.get(), path, 0);
  return searching.done();
}

}  // namespace filesystem
