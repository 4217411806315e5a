#include "sender_check.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace gmail {
namespace {

constexpr std::size_t kMostBytes = 16 << 10, kMostResults = 64, kLongestWord = 20;
constexpr std::array<std::string_view, 3> kMethods{"dmarc", "dkim", "spf"};

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// What others may have had a hand in is not read at all: what is longer than anything that a server writes, and quotes
/// within comments, which some take for the beginning of a text.
bool is_odd(std::string_view value) {
  if (value.size() > kMostBytes) return true;
  int depth = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\') {
      ++i;
    } else if (value[i] == '(') {
      ++depth;
    } else if (value[i] == ')') {
      depth = std::max(0, depth - 1);
    } else if (value[i] == '"' && depth > 0) {
      return true;
    }
  }
  return depth > 0;
}

/// In small letters, comments and folding as blanks; what a quoted text holds stands there without its quotes, its
/// blanks and ";" as "?".
std::string plain(std::string_view value) {
  std::string out;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < std::min(value.size(), kMostBytes); ++i) {
    char c = value[i];
    const bool escaped = c == '\\' && (quoted || depth > 0) && i + 1 < value.size();
    if (escaped) c = value[++i];
    if (!escaped && !quoted && c == '(') ++depth;
    if (depth == 0 && !escaped && c == '"') {
      quoted = !quoted;
    } else if (depth > 0 || static_cast<unsigned char>(c) <= ' ') {
      out += quoted ? '?' : ' ';
    } else {
      out += quoted && c == ';' ? '?' : small(c);
    }
    if (!escaped && !quoted && c == ')' && depth > 0) --depth;
  }
  return out;
}

/// Words of a part between two ";". Blanks around "=" belong to none.
std::vector<std::string> words_of(std::string_view part) {
  std::vector<std::string> words;
  bool joins = false;
  for (std::size_t i = 0; i < part.size();) {
    if (part[i] == ' ') {
      ++i;
      continue;
    }
    const auto end = std::min(part.find(' ', i), part.size());
    const auto word = part.substr(i, end - i);
    if (!words.empty() && (joins || word.front() == '=')) {
      words.back() += word;
    } else {
      words.emplace_back(word);
    }
    joins = word.back() == '=';
    i = end;
  }
  return words;
}

std::string_view behind(std::string_view text, char sign) {
  const auto at = text.rfind(sign);
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

bool is_below(std::string_view domain, std::string_view above) {
  return domain.size() > above.size() && domain.ends_with(above) && domain[domain.size() - above.size() - 1] == '.' &&
         above.find('.') != std::string_view::npos;
}

struct Result {
  std::string method, says;
  std::vector<std::string> of;  ///< domains that it is about
};

Result result_of(std::string_view part) {
  Result result;
  for (const auto& word : words_of(part)) {
    const auto at = word.find('=');
    if (at == std::string::npos) continue;
    const auto name = word.substr(0, at), value = word.substr(at + 1);
    if (result.method.empty()) {
      result.method = name.substr(0, name.find('/'));
      result.says = value.substr(0, kLongestWord);
    } else if (name == "header.i" || name == "header.d" || name == "header.from" || name == "smtp.mailfrom") {
      result.of.emplace_back(behind(value, '@'));
    }
  }
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  if (!std::all_of(result.says.begin(), result.says.end(), letter)) result.says.clear();
  return result;
}

}  // namespace

std::optional<SenderCheck> sender_check(std::string_view value, std::string_view server, std::string_view domain) {
  const auto text = plain(value);
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size() && parts.size() < kMostResults;) {
    const auto end = std::min(text.find(';', from), text.size());
    parts.push_back(std::string_view(text).substr(from, end - from));
    from = end + 1;
  }
  const auto id = words_of(parts.front());
  if (id.empty() || id.front() != server) return std::nullopt;
  SenderCheck check;
  bool of_another = domain.empty();  // DMARC is about one domain, which must be that of the From field
  std::array<std::string, kMethods.size()> said;
  bool aligned = false;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto result = result_of(parts[i]);
    const auto method = std::find(kMethods.begin(), kMethods.end(), result.method);
    if (method == kMethods.end() || result.says.empty()) continue;
    auto& known = said[static_cast<std::size_t>(method - kMethods.begin())];
    // One signature of several is enough; what contradicts itself otherwise has not passed.
    if (known.empty() || (known == "pass") != (result.method == "dkim")) known = result.says;
    const auto is_of = [&](const std::string& of) {
      return !domain.empty() && (of == domain || is_below(of, domain) || is_below(domain, of));
    };
    if (result.method == "dmarc")
      of_another = of_another || (!result.of.empty() && std::count(result.of.begin(), result.of.end(), domain) == 0);
    aligned = aligned || (result.says == "pass" && result.method != "dmarc" &&
                          std::any_of(result.of.begin(), result.of.end(), is_of));
  }
  for (std::size_t i = 0; i < kMethods.size(); ++i) {
    if (!said[i].empty())
      check.results += (check.results.empty() ? "" : " ") + std::string(kMethods[i]) + "=" + said[i];
  }
  check.proven = said[0].empty() ? aligned : said[0] == "pass" && !of_another;
  if (is_odd(value) || parts.size() >= kMostResults) check.proven = false;
  return check;
}

}  // namespace gmail
