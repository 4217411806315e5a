#include "charset.hpp"

#include <iconv.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <utility>

#include "charset_labels.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";

// UTF-8 and ASCII are built into the C library; these are not.
constexpr std::array kCharsets = {
    "ISO-8859-1", "ISO-8859-2",  "ISO-8859-3",  "ISO-8859-4",  "ISO-8859-5",  "ISO-8859-6",  "ISO-8859-7", "ISO-8859-8",
    "ISO-8859-9", "ISO-8859-10", "ISO-8859-13", "ISO-8859-14", "ISO-8859-15", "ISO-8859-16", "CP1250",     "CP1251",
    "CP1252",     "CP1253",      "CP1254",      "CP1255",      "CP1256",      "CP1257",      "CP1258",     "KOI8-R",
    "KOI8-U",     "GBK",         "GB18030",     "EUC-CN",      "BIG5",        "BIG5-HKSCS",  "SHIFT-JIS",  "CP932",
    "EUC-JP",     "ISO-2022-JP", "EUC-KR",      "CP949",       "ISO-2022-KR", "ISO-2022-CN", "TIS-620",    "CP874",
    "UTF-7",      "MACINTOSH",   "UTF-16LE",    "UTF-16BE",    "UTF-32",      "EUC-TW",      "MAC-UK",     "IBM437",
    "IBM850",     "EUC-JP-MS",   "IBM852",      "IBM866",
};

class Converter {
 public:
  explicit Converter(const char* from) : handle_(iconv_open("UTF-8", from)) {}
  ~Converter() {
    if (ok()) iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  bool ok() const { return handle_ != reinterpret_cast<iconv_t>(-1); }  // NOLINT(performance-no-int-to-ptr)

  std::string convert(std::string_view bytes) const {
    std::string out;
    out.reserve(bytes.size() + bytes.size() / 8);
    auto* in = const_cast<char*>(bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast): iconv only reads
    auto left = bytes.size();
    std::array<char, 8192> chunk{};
    bool replaced = false;
    while (left > 0) {
      auto* to = chunk.data();
      auto room = chunk.size();
      const auto result = iconv(handle_, &in, &left, &to, &room);
      if (to != chunk.data()) replaced = false;
      out.append(chunk.data(), chunk.size() - room);
      if (result != static_cast<std::size_t>(-1) || errno == E2BIG) continue;
      // One mark for a run of bytes that make no character.
      if (!replaced) out += kReplacement;
      replaced = true;
      if (errno == EINVAL) break;  // cut off in the middle of a character
      ++in;
      --left;
    }
    // Some keep the last character back, for a mark that may follow it.
    auto* to = chunk.data();
    auto room = chunk.size();
    iconv(handle_, nullptr, nullptr, &to, &room);
    return out.append(chunk.data(), chunk.size() - room);
  }

 private:
  iconv_t handle_;
};

std::string normal_lines(std::string text) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < text.size(); ++from) {
    if (text[from] == '\r') {
      if (from + 1 < text.size() && text[from + 1] == '\n') continue;
      text[to++] = '\n';
    } else {
      text[to++] = text[from];
    }
  }
  text.resize(to);
  return text;
}

std::string valid_text(std::string_view bytes) {
  using namespace kruxos::kit::detail;
  return cleaned(bytes, [](char32_t) { return Becomes::kItself; });
}

std::string converted(std::string_view bytes, const char* from, bool& known) {
  const Converter converter(from);
  if (converter.ok()) return converter.convert(bytes);
  known = false;
  return std::string(bytes);
}

/// The charset that a mark at the beginning names, which is then left out; empty where there is none.
std::string_view take_mark(std::string_view& bytes, bool says_wide) {
  for (const auto& [mark, name] : {std::pair<std::string_view, std::string_view>{"\xef\xbb\xbf", "UTF-8"},
                                   {"\xff\xfe", "UTF-16LE"},
                                   {"\xfe\xff", "UTF-16BE"}}) {
    if (!bytes.starts_with(mark) || (name != "UTF-8" && !says_wide)) continue;
    bytes.remove_prefix(mark.size());
    return name;
  }
  return {};
}

}  // namespace

std::string to_utf8(std::string_view bytes, std::string_view charset, bool& known) {
  auto name = iconv_name(charset);
  known = charset.empty() || !name.empty();
  const auto mark = take_mark(bytes, name.empty() || name.starts_with("UTF-16"));
  if (!mark.empty()) name = mark;
  std::string japanese;
  if (name == "ISO-2022-JP" && iso_2022_jp_as_cp932(bytes, japanese)) {
    return normal_lines(valid_text(converted(japanese, "CP932", known)));
  }
  if (name == "ISO-2022-JP") name = "ISO-2022-JP-2";
  if (!name.empty() && name != "UTF-8" && name != "US-ASCII") {
    bool is_there = true;
    const auto text = converted(bytes, name.c_str(), is_there);
    if (is_there) return normal_lines(valid_text(text));
    known = false;
  }
  // Programs call mail ASCII, or nothing, that is UTF-8 or Windows-1252.
  if (name == "UTF-8" || is_utf8(bytes)) return normal_lines(valid_text(bytes));
  bool is_there = true;
  return normal_lines(valid_text(converted(bytes, "CP1252", is_there)));
}

void load_charsets() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Never closed: the C library unloads a converter that nobody uses.
    static std::array<iconv_t, kCharsets.size()> kept;
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = iconv_open("UTF-8", kCharsets[i]);
  });
}

}  // namespace gmail
