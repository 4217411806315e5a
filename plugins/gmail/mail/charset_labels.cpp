#include "charset_labels.hpp"

#include <gmime/gmime.h>

#include <algorithm>

#include "html_tokens.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

struct Labels {
  const char* name;
  std::string_view labels;  ///< each between blanks
};

/// WHATWG's Encoding Standard, and some that only mail has. Its "replacement" charsets (ISO-2022-KR and the like) are
/// forbidden to browsers for the sake of scripts, and are those of the C library here.
constexpr Labels kLabels[] = {
    {"UTF-8", " unicode-1-1-utf-8 utf-8 utf8 unicode11utf8 unicode20utf8 x-unicode20utf8 "},
    {"IBM866", " 866 cp866 csibm866 ibm866 "},
    {"ISO-8859-2", " csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2 "},
    {"ISO-8859-3", " csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3 "},
    {"ISO-8859-4", " csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4 "},
    {"ISO-8859-5", " csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 "},
    {"ISO-8859-6",
     " arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i "
     "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 "},
    {"ISO-8859-7",
     " csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
     "iso_8859-7:1987 sun_eu_greek "},
    {"ISO-8859-8",
     " csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
     "iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical "},
    {"ISO-8859-10", " csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6 "},
    {"ISO-8859-13", " iso-8859-13 iso8859-13 iso885913 "},
    {"ISO-8859-14", " iso-8859-14 iso8859-14 iso885914 "},
    {"ISO-8859-15", " csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 "},
    {"ISO-8859-16", " iso-8859-16 "},
    {"KOI8-R", " cskoi8r koi koi8 koi8-r koi8_r "},
    {"KOI8-U", " koi8-ru koi8-u "},
    {"MACINTOSH", " csmacintosh mac macintosh x-mac-roman "},
    {"CP874", " dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874 "},
    {"CP1250", " cp1250 windows-1250 x-cp1250 "},
    {"CP1251", " cp1251 windows-1251 x-cp1251 "},
    {"US-ASCII", " ansi_x3.4-1968 ascii us-ascii "},
    {"CP1252",
     " cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 "
     "windows-1252 x-cp1252 "},
    {"CP1253", " cp1253 windows-1253 x-cp1253 "},
    {"CP1254",
     " cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 "
     "x-cp1254 "},
    {"CP1255", " cp1255 windows-1255 x-cp1255 "},
    {"CP1256", " cp1256 windows-1256 x-cp1256 "},
    {"CP1257", " cp1257 windows-1257 x-cp1257 "},
    {"CP1258", " cp1258 windows-1258 x-cp1258 "},
    {"MAC-UK", " x-mac-cyrillic x-mac-ukrainian "},
    {"GB18030", " chinese csgb2312 csiso58gb231280 gb18030 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk "},
    {"BIG5-HKSCS", " big5 big5-hkscs cn-big5 csbig5 x-x-big5 "},
    {"EUC-JP-MS", " cseucpkdfmtjapanese euc-jp x-euc-jp "},
    {"ISO-2022-JP", " csiso2022jp iso-2022-jp "},
    {"CP932", " csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis "},
    {"CP949",
     " cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 "},
    {"UTF-16BE", " unicodefffe utf-16be "},
    {"UTF-16LE", " csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le "},
    {"UTF-7", " unicode-1-1-utf-7 "},
};

/// A row and a cell of JIS X 0208 in Shift_JIS.
void append_shift_jis(std::string& out, unsigned char first, unsigned char second) {
  const unsigned row = first - 0x21U, cell = second - 0x21U;
  const unsigned lead = row / 2 + 0x81, trail = row % 2 != 0 ? cell + 0x9f : cell + 0x40 + (cell >= 63 ? 1U : 0U);
  out += static_cast<char>(lead >= 0xa0 ? lead + 0x40 : lead);
  out += static_cast<char>(trail);
}

/// "text/html; charset=koi8-r".
std::string charset_of_content(std::string_view content) {
  const auto lower = lower_ascii(content);
  auto at = lower.find("charset");
  if (at == std::string::npos) return {};
  at = lower.find_first_not_of(" \t\r\n", at + 7);
  if (at == std::string::npos || lower[at] != '=') return {};
  at = lower.find_first_not_of(" \t\r\n\"'", at + 1);
  return at == std::string::npos ? std::string() : lower.substr(at, lower.find_first_of(" \t\r\n\"';", at) - at);
}

}  // namespace

std::string iconv_name(std::string_view label) {
  label = without_blanks(label);
  if (label.empty() || label.size() > 40) return {};
  const bool fits = std::all_of(label.begin(), label.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-_.:+").find(c) != std::string_view::npos;
  });
  if (!fits) return {};
  const auto wanted = lower_ascii(label);
  for (const auto& one : kLabels) {
    if (one.labels.find(' ' + wanted + ' ') != std::string_view::npos) return one.name;
  }
  const auto* const name = g_mime_charset_iconv_name(wanted.c_str());
  return name ? name : "";
}

bool iso_2022_jp_as_cp932(std::string_view bytes, std::string& out) {
  enum class Set { kAscii, kKatakana, kKanji } set = Set::kAscii;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto c = static_cast<unsigned char>(bytes[at]);
    if (c == 0x1b) {
      const auto escape = bytes.substr(at + 1, 2);
      if (escape == "(B" || escape == "(J") {
        set = Set::kAscii;
      } else if (escape == "(I") {
        set = Set::kKatakana;
      } else if (escape == "$B" || escape == "$@") {
        set = Set::kKanji;
      } else {
        return false;
      }
      at += 3;
    } else if (c <= 0x20 || c >= 0x7f) {
      if (c == '\n') set = Set::kAscii;  // a line that was cut ends its kanji
      out += bytes[at++];
    } else if (set == Set::kKanji && at + 1 < bytes.size() && bytes[at + 1] > 0x20 && bytes[at + 1] < 0x7f) {
      append_shift_jis(out, c, static_cast<unsigned char>(bytes[at + 1]));
      at += 2;
    } else {
      out += set == Set::kKatakana && c < 0x60 ? static_cast<char>(c + 0x80) : bytes[at];
      ++at;
    }
  }
  return true;
}

std::string charset_in_html(std::string_view html) {
  constexpr std::size_t kLookedAt = 1024;
  HtmlTokens tokens(html.substr(0, kLookedAt));
  for (auto token = tokens.next(false); token.kind != HtmlToken::Kind::kNothingMore; token = tokens.next(false)) {
    if (token.kind != HtmlToken::Kind::kStart || token.name != "meta") continue;
    auto found = token.attribute("charset", 40);
    if (found.empty()) found = charset_of_content(token.attribute("content", 200));
    if (found.empty()) continue;
    // What could be read up to here is not in two bytes a character.
    return iconv_name(found).starts_with("UTF-16") ? "utf-8" : found;
  }
  return {};
}

}  // namespace gmail
