#include "core/facts/secret_forms.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace krux {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_of_key(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

std::string small(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::size_t run_from(std::string_view text, std::size_t at) {
  auto end = at;
  while (end < text.size() && is_of_key(text[end])) ++end;
  return end - at;
}

/// Keys that begin alike, whoever gave them.
struct KeyForm {
  std::string_view begins;
  std::size_t least;  ///< characters in all
};
constexpr std::array<KeyForm, 17> kKeys{{{"AKIA", 20},
                                         {"ASIA", 20},
                                         {"ghp_", 30},
                                         {"gho_", 30},
                                         {"ghs_", 30},
                                         {"github_pat_", 30},
                                         {"glpat-", 20},
                                         {"xoxb-", 20},
                                         {"xoxp-", 20},
                                         {"xoxa-", 20},
                                         {"AIza", 35},
                                         {"ya29.", 30},
                                         {"sk-", 24},
                                         {"sk_live_", 20},
                                         {"rk_live_", 20},
                                         {"krux_", 20},
                                         {"SG.", 40}}};

/// At its beginning, or behind a sign.
bool has_key(std::string_view run) {
  for (const auto& form : kKeys) {
    for (auto at = run.find(form.begins); at != std::string_view::npos; at = run.find(form.begins, at + 1)) {
      const bool begins = at == 0 || !(is_letter(run[at - 1]) || is_digit(run[at - 1]));
      if (begins && run.size() - at >= form.least) return true;
    }
  }
  return false;
}

bool is_signed_token(std::string_view run) {
  return run.starts_with("eyJ") && run.size() >= 40 && std::count(run.begin(), run.end(), '.') >= 2;
}

/// What is said before a secret, and how it looks then.
struct SaidBefore {
  std::string_view words;
  bool digits;  ///< four digits at least; else six characters with a digit or a sign among them
};
constexpr std::array<SaidBefore, 25> kSaid{{{"verification code", true},
                                            {"security code", true},
                                            {"access code", true},
                                            {"login code", true},
                                            {"sign-in code", true},
                                            {"confirmation code", true},
                                            {"authentication code", true},
                                            {"one-time code", true},
                                            {"one time code", true},
                                            {"2fa code", true},
                                            {"recovery code", true},
                                            {"door code", true},
                                            {"gate code", true},
                                            {"entry code", true},
                                            {"code is", true},
                                            {"code:", true},
                                            {"passcode", true},
                                            {"otp", true},
                                            {"pin", true},
                                            {"one-time password", true},
                                            {"password", false},
                                            {"passwd", false},
                                            {"passphrase", false},
                                            {"api key", false},
                                            {"secret key", false}}};
constexpr std::size_t kNear = 40, kLeastDigits = 4, kLeastPassword = 6;

bool is_word_at(std::string_view text, std::size_t at, std::size_t size) {
  const auto is_part = [&](std::size_t place) { return is_letter(text[place]) || is_digit(text[place]); };
  const bool begins = at == 0 || !is_part(at - 1);
  const auto end = at + size;
  return begins && (end >= text.size() || !is_part(end) || text[end - 1] == ':');
}

/// A number with so many digits, also in groups with "-" between them.
bool has_number(std::string_view near) {
  std::size_t digits = 0;
  for (const char c : near) {
    if (is_digit(c)) {
      if (++digits >= kLeastDigits) return true;
    } else if (c != '-') {
      digits = 0;
    }
  }
  return false;
}

/// What follows ":", "=" or "is".
bool has_password(std::string_view near) {
  auto at = near.find_first_not_of(" \t");
  if (at == std::string_view::npos) return false;
  near.remove_prefix(at);
  const auto sign = near.front() == ':' || near.front() == '=' ? 1U : near.starts_with("is ") ? 3U : 0U;
  if (sign == 0) return false;
  near.remove_prefix(sign);
  near.remove_prefix(std::min(near.size(), near.find_first_not_of(" \t\"'`")));
  const auto word = near.substr(0, near.find_first_of(" \t\r\n\"'`,"));
  const auto odd = std::count_if(word.begin(), word.end(), [](char c) { return !is_letter(c) && c != '.'; });
  return word.size() >= kLeastPassword && odd > 0;
}

constexpr std::array<std::string_view, 8> kOfResets{"reset",   "password", "verify", "magic",
                                                    "recover", "activate", "token=", "otp="};
constexpr std::size_t kLeastToken = 16, kLongestLink = 2048;

/// A run of letters and digits that nobody has thought up.
bool has_long_token(std::string_view link) {
  std::size_t run = 0, digits = 0;
  for (const char c : link) {
    if (is_letter(c) || is_digit(c)) {
      ++run;
      digits += is_digit(c) ? 1 : 0;
      if (run >= kLeastToken && digits > 1) return true;
    } else {
      run = digits = 0;
    }
  }
  return false;
}

}  // namespace

std::string key_in(std::string_view text) {
  constexpr std::string_view begin = "-----BEGIN ";
  for (auto at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at + begin.size())) {
    if (text.substr(at, 64).find("PRIVATE KEY") != std::string_view::npos) return "a private key";
  }
  for (std::size_t at = 0; at < text.size();) {
    const auto size = run_from(text, at);
    const auto run = text.substr(at, size);
    if (has_key(run)) return "a key or token";
    if (is_signed_token(run)) return "a signed token";
    at += size + 1;
  }
  return {};
}

std::string password_in(std::string_view text) {
  const auto letters = small(text);
  for (const auto& said : kSaid) {
    for (auto at = letters.find(said.words); at != std::string::npos; at = letters.find(said.words, at + 1)) {
      if (!is_word_at(letters, at, said.words.size())) continue;
      const auto near = std::string_view(letters).substr(at + said.words.size(), kNear);
      if (said.digits && has_number(near)) return "a code";
      if (!said.digits && has_password(near)) return "a password or key";
    }
  }
  return {};
}

std::string reset_link_in(std::string_view text) {
  std::size_t looked = 0;
  for (auto at = text.find("://"); at != std::string_view::npos; at = text.find("://", looked)) {
    // Others choose the text: a link that never ends is looked at once, in parts.
    const auto rest = text.substr(at, kLongestLink);
    const auto link = rest.substr(0, rest.find_first_of(" \t\r\n\"'<>|"));
    looked = at + std::max<std::size_t>(link.size(), 3);
    const auto letters = small(link);
    const bool resets = std::any_of(kOfResets.begin(), kOfResets.end(),
                                    [&](auto word) { return letters.find(word) != std::string::npos; });
    if (resets && has_long_token(link)) return "a link that resets or verifies something";
  }
  return {};
}

}  // namespace krux
