#include "reading.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kruxos/kit/text.hpp>
#include <kruxos/kit/time.hpp>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "changes.hpp"
#include "workspace/failure.hpp"
#include "workspace/tree.hpp"

namespace filesystem {
namespace {

using kruxos::kit::integer_of;
using kruxos::kit::Json;
using kruxos::kit::ObjectWriter;
using kruxos::kit::text_of;
using workspace::Path;

constexpr std::size_t kMostListed = 100'000;

Path path_in(const Json& params) {
  const auto given = text_of(params, "path");
  return workspace::parse_path(given.empty() ? workspace::kRoot : given);
}

std::string modified_at(const struct stat& found) {
  return kruxos::kit::format_rfc3339(found.st_mtim.tv_sec * 1000LL + found.st_mtim.tv_nsec / 1'000'000);
}

std::string bytes_of(int file, std::uint64_t offset, std::size_t most, const Path& path) {
  std::string bytes(most, '\0');
  std::size_t got = 0;
  while (got < most) {
    const auto piece = pread(file, bytes.data() + got, most - got, static_cast<off_t>(offset + got));
    if (piece < 0 && errno == EINTR) continue;
    if (piece < 0) throw workspace::failure_of(errno, path.shown(), "read");
    if (piece == 0) break;
    got += static_cast<std::size_t>(piece);
  }
  bytes.resize(got);
  return bytes;
}

/// Without a character that the page's end has cut.
void end_with_a_character(std::string& bytes) {
  std::size_t tail = 0;
  while (tail < 3 && tail < bytes.size() && (static_cast<unsigned char>(bytes[bytes.size() - 1 - tail]) & 0xC0) == 0x80)
    ++tail;
  if (tail >= bytes.size()) return;
  const auto first = static_cast<unsigned char>(bytes[bytes.size() - 1 - tail]);
  const std::size_t width = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (width > tail + 1) bytes.resize(bytes.size() - 1 - tail);
}

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && kruxos::kit::is_utf8(bytes);
}

std::string base64_of(std::string_view bytes) {
  constexpr int variant = sodium_base64_VARIANT_ORIGINAL;
  std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    variant);
  text.pop_back();  // the NUL
  return text;
}

void put_entry(ObjectWriter& out, const Path& path, const struct stat& found) {
  out.text("path", path.shown()).text("type", workspace::type_of(found.st_mode));
  if (S_ISREG(found.st_mode)) out.integer("size", found.st_size);
  out.text("modified_at", modified_at(found));
}

}  // namespace

std::string read_file(const workspace::Home& home, const Json& params) {
  const auto path = path_in(params);
  struct stat found {};
  const auto file = workspace::open_file(home.files.get(), path, found);
  const auto offset = static_cast<std::uint64_t>(integer_of(params, "offset"));
  const auto most = static_cast<std::size_t>(integer_of(params, "max_bytes", 65'536));
  auto bytes = bytes_of(file.get(), offset, most, path);
  const auto wanted = text_of(params, "encoding");
  auto cut = bytes;
  if (cut.size() == most) end_with_a_character(cut);
  const bool as_text = wanted != "base64" && is_text(cut);
  if (wanted == "text" && !as_text)
    throw workspace::refused(path.shown() + " is not UTF-8 text there: read it with the encoding base64.", "NotText");
  if (as_text) bytes = std::move(cut);
  const auto next = offset + bytes.size();
  ObjectWriter out;
  out.text("path", path.shown())
      .text("content", as_text ? bytes : base64_of(bytes))
      .text("encoding", as_text ? "text" : "base64")
      .integer("size", found.st_size)
      .text("modified_at", modified_at(found));
  if (!bytes.empty() && next < static_cast<std::uint64_t>(found.st_size))
    out.integer("next_offset", static_cast<std::int64_t>(next));
  return out.done();
}

std::string list(const kruxos::Call& call, const workspace::Home& home, const Json& params) {
  const auto path = path_in(params);
  const auto directory = workspace::open_directory(home.files.get(), path.relative(), path);
  const auto all = workspace::names_in(directory.get(), kMostListed, until_cancelled(call));
  const auto offset = std::min(static_cast<std::size_t>(integer_of(params, "offset")), all.names.size());
  const auto end = std::min(offset + static_cast<std::size_t>(integer_of(params, "limit", 200)), all.names.size());
  kruxos::kit::ArrayWriter entries;
  for (auto i = offset; i < end; ++i) {
    struct stat found {};
    const auto& name = all.names[i];
    if (fstatat(directory.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone meanwhile
    ObjectWriter entry;
    entry.text("name", name);
    put_entry(entry, path.child(name), found);
    entries.raw(entry.done());
  }
  ObjectWriter out;
  out.text("path", path.shown())
      .raw("entries", entries.done())
      .integer("total", static_cast<std::int64_t>(all.names.size()));
  if (end < all.names.size()) out.integer("next_offset", static_cast<std::int64_t>(end));
  if (all.is_cut) out.flag("total_is_lower_bound", true);
  if (all.unreadable > 0) out.integer("unreadable_names", static_cast<std::int64_t>(all.unreadable));
  return out.done();
}

std::string stat_of(const workspace::Home& home, const Json& params) {
  const auto path = path_in(params);
  struct stat found {};
  const auto place = workspace::open_beneath(home.files.get(), path.relative(), O_PATH | O_NOFOLLOW);
  if (!place || fstat(place.get(), &found) != 0) throw workspace::failure_of(errno, path.shown(), "looked at");
  ObjectWriter out;
  put_entry(out, path, found);
  const auto mode = static_cast<unsigned>(found.st_mode & 0777);
  const auto digit = [mode](unsigned shift) { return static_cast<char>('0' + ((mode >> shift) & 7)); };
  return out.text("mode", std::string{'0', digit(6), digit(3), digit(0)}).done();
}

}  // namespace filesystem
