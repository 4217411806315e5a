#include "core/oauth/token_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "core/util/json.hpp"
#include "core/util/json_numbers.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestToken = 8 << 10, kLongestError = 64, kLongestDescription = 300;
constexpr std::size_t kMostScopes = 500, kLongestScope = 500;
constexpr std::int64_t kLongestLifeS = 10LL * 366 * 24 * 3600;

/// What does not pass by itself, in the words of RFC 6749 and of services that have their own. Any other word may come
/// from something on the way, and an account that is given up for it has to be connected anew.
constexpr std::array<std::string_view, 9> kForGood{"invalid_grant",         "invalid_client",    "unauthorized_client",
                                                   "invalid_refresh_token", "invalid_client_id", "bad_client_secret",
                                                   "account_inactive",      "token_revoked",     "token_expired"};

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kLongestToken &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string word_of(std::string_view text) {
  const bool plain = !text.empty() && text.size() <= kLongestError && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
  return plain ? std::string(text) : std::string();
}

TokenFailure not_understood(const char* why) {
  return {false, "", fmt::format("The service's answer was not understood: {}.", why), std::nullopt};
}

/// A number, or a text of digits.
std::optional<std::int64_t> seconds_of(const JsonValue& value) {
  std::int64_t seconds = -1;
  if (value.IsInt64()) {
    seconds = value.GetInt64();
  } else if (value.IsDouble()) {
    const double given = value.GetDouble();
    seconds = given >= 0 && given <= static_cast<double>(kLongestLifeS) ? static_cast<std::int64_t>(given) : -1;
  } else if (value.IsString()) {
    const auto text = view(value);
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) seconds = -1;
  }
  if (seconds < 0) return std::nullopt;
  return std::min(seconds, kLongestLifeS);
}

std::vector<std::string> scopes_of(std::string_view text) {
  std::vector<std::string> scopes;
  while (!text.empty() && scopes.size() < kMostScopes) {
    const auto end = std::min(text.find_first_of(" ,"), text.size());
    const auto scope = text.substr(0, end);
    if (!scope.empty() && scope.size() <= kLongestScope && is_valid_utf8(scope)) scopes.emplace_back(scope);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return scopes;
}

TokenFailure refused(int status, const JsonValue& answer) {
  TokenFailure failure;
  failure.error = word_of(find_string(answer, "error").value_or(""));
  const bool stays = std::find(kForGood.begin(), kForGood.end(), failure.error) != kForGood.end();
  const bool in_fault = status >= 500 || status == 429 || status == 408 || status == 425;
  failure.for_good = stays && !in_fault;
  const auto description = find_string(answer, "error_description").value_or("").substr(0, kLongestDescription);
  failure.message = fmt::format("{}{}{}", failure.error.empty() ? "an error without a name" : failure.error,
                                description.empty() ? "" : ": ", printable(description));
  return failure;
}

TokenResult tokens_of(const JsonValue& holder, const JsonValue& top, const TokenAnswerRules& rules) {
  const auto token = find_string(holder, "access_token");
  if (!token || !is_token(*token)) return not_understood("it holds no access token");
  const auto type = find_string(holder, "token_type");
  const auto fits = [&](std::string_view accepted) { return equal_ignoring_case(*type, accepted); };
  if (type && !rules.any_type && !fits("Bearer") &&
      std::none_of(rules.token_types.begin(), rules.token_types.end(), fits))
    return not_understood("its token is of a type that the host does not use");
  TokenAnswer answer;
  answer.access_token = Secret(*token);
  if (const auto* refresh = find_member(holder, "refresh_token"); refresh && !refresh->IsNull()) {
    if (!refresh->IsString() || !is_token(view(*refresh))) return not_understood("its refresh token is none");
    answer.refresh_token = Secret(view(*refresh));
  }
  if (const auto* expires = find_member(holder, "expires_in"); expires && !expires->IsNull()) {
    const auto seconds = seconds_of(*expires);
    if (!seconds) return not_understood("expires_in is no number of seconds");
    answer.expires_in_ms = *seconds * 1000;
  }
  auto scope = find_string(holder, "scope");
  if (!scope && rules.token_at.empty()) scope = find_string(top, "scope");
  if (scope) answer.scopes = scopes_of(*scope);
  return answer;
}

bool says_error(int status, const JsonValue& answer) {
  return status < 200 || status >= 300 || !find_bool(answer, "ok").value_or(true) ||
         (find_member(answer, "error") && !find_member(answer, "access_token"));
}

}  // namespace

TokenResult parse_token_answer(int status, SecretBytes& body, const TokenAnswerRules& rules) {
  constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                             rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  const bool is_error = status < 200 || status >= 300;
  JsonDocument document;
  bool parsed = false;
  if (body.size() <= kLargestTokenAnswer && std::find(body.begin(), body.end(), '\0') == body.end()) {
    replace_odd_escapes(body);
    body.push_back('\0');
    rapidjson::InsituStringStream stream(body.data());
    const auto read = [&](JsonDocument& to) {
      WithNumbers<JsonDocument> numbers(to);
      rapidjson::Reader reader;
      return parsed = !reader.Parse<flags>(stream, numbers).IsError();
    };
    document.Populate(read);
  }
  if (!parsed || !document.IsObject()) {
    // A proxy's page, perhaps: it says nothing of the token.
    if (is_error) return TokenFailure{false, "", fmt::format("it answered with status {}", status), std::nullopt};
    return not_understood("it is no JSON object");
  }
  if (says_error(status, document)) return refused(status, document);
  const JsonValue* holder = &document;
  if (!rules.token_at.empty()) {
    holder = find_member(document, rules.token_at);
    const bool holds = holder && holder->IsObject() && find_member(*holder, "access_token");
    if (!holds && rules.at_top_too) holder = &document;
    if (!holder || !holder->IsObject()) return not_understood("the member that holds the tokens is missing");
  }
  return tokens_of(*holder, document, rules);
}

}  // namespace krux
