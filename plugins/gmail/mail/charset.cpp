#include "charset.hpp"

#include <gmime/gmime.h>
#include <iconv.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <utility>

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
    "UTF-7",      "MACINTOSH",   "UTF-16",      "UTF-32",      "EUC-TW",      "MAC-UK",      "IBM437",     "IBM850",
    "IBM852",     "IBM866",
};

/// What neither GMime nor the C library knows by the name that mail programs give it.
constexpr std::array<std::pair<std::string_view, const char*>, 8> kOtherNames = {{
    {"windows-31j", "CP932"},
    {"x-sjis", "SHIFT-JIS"},
    {"x-gbk", "GBK"},
    {"gb_2312-80", "EUC-CN"},
    {"unicode-1-1-utf-7", "UTF-7"},
    {"iso-8859-8-i", "ISO-8859-8"},
    {"x-mac-roman", "MACINTOSH"},
    {"x-mac-cyrillic", "MAC-UK"},
}};

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
    return out;
  }

 private:
  iconv_t handle_;
};

/// The name that iconv knows; empty where it is no name of a charset at all.
std::string iconv_name(std::string_view charset) {
  if (charset.empty() || charset.size() > 40) return {};
  for (const char c : charset) {
    const bool fits = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                      c == '_' || c == '.' || c == ':' || c == '+';
    if (!fits) return {};
  }
  const std::string wanted(charset);
  for (const auto& [other, name] : kOtherNames) {
    if (g_ascii_strcasecmp(wanted.c_str(), std::string(other).c_str()) == 0) return name;
  }
  const auto* const name = g_mime_charset_iconv_name(wanted.c_str());
  return name ? name : "";
}

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

bool is_name(const std::string& name, const char* of) {
  return g_ascii_strcasecmp(name.c_str(), of) == 0;
}

}  // namespace

std::string to_utf8(std::string_view bytes, std::string_view charset, bool& known) {
  const auto name = iconv_name(charset);
  known = charset.empty() || !name.empty();
  const bool says_utf8 = is_name(name, "utf-8") || is_name(name, "utf8");
  const bool says_ascii = is_name(name, "us-ascii") || is_name(name, "ascii");
  if (!name.empty() && !says_utf8 && !says_ascii) {
    const Converter converter(name.c_str());
    if (converter.ok()) return normal_lines(clean_text(converter.convert(bytes)));
    known = false;
  }
  // Programs call mail ASCII, or nothing, that is UTF-8 or Windows-1252.
  if (says_utf8 || is_utf8(bytes)) return normal_lines(clean_text(bytes));
  const Converter western("CP1252");
  return normal_lines(clean_text(western.ok() ? western.convert(bytes) : std::string(bytes)));
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
