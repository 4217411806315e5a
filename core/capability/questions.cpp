#include "core/capability/questions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/capability/form_schema.hpp"
#include "core/definition/asks.hpp"
#include "core/net/url.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr rapidjson::SizeType kMostQuestions = 8;
constexpr std::size_t kLongestName = 64, kLongestMessage = 4096, kLongestUrl = 2048;
constexpr std::size_t kLongestPrompt = 32 << 10, kLongestSystem = 8 << 10;  // for models
constexpr std::int64_t kMostTokens = 100'000;
constexpr JsonLimits kQuestionsJson{64 << 10, 32};

bool is_name(std::string_view name) {
  const auto fits = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), fits);
}

[[noreturn]] void refuse_question(const Question& question, const std::string& why) {
  throw invalid_input(fmt::format("the question \"{}\" {}", printable(question.name), why));
}

std::uint32_t kind_named(const Question& question, std::string_view kind) {
  for (const auto& [bit, name] : kAsks) {
    if (kind == name) return bit;
  }
  refuse_question(question, "is of no known kind: form, url, model, roots");
}

bool is_https(const std::string& url) {
  try {
    return parse_url(url).scheme == "https";
  } catch (const Error&) {
    return false;
  }
}

void read_more(Question& question, const JsonValue& value) {
  if (question.kind == KRUX_ASK_FORM) {
    const auto* schema = find_member(value, "schema");
    if (!schema) refuse_question(question, "has no \"schema\"");
    question.schema_json = checked_form(*schema);
  } else if (question.kind == KRUX_ASK_URL) {
    question.url = find_string(value, "url").value_or("");
    if (question.url.empty() || question.url.size() > kLongestUrl) refuse_question(question, "has no \"url\"");
    if (!is_https(question.url)) refuse_question(question, "has a \"url\" that is no address by https");
  } else {
    question.system = printable_lines(find_string(value, "system").value_or(""));
    if (question.system.size() > kLongestSystem)
      refuse_question(question, fmt::format("has a \"system\" of more than {} bytes", kLongestSystem));
    question.max_tokens = find_int(value, "max_tokens").value_or(0);
    if (question.max_tokens < 1 || question.max_tokens > kMostTokens)
      refuse_question(question, fmt::format("needs \"max_tokens\", 1 to {}", kMostTokens));
  }
}

Question read_question(std::string_view name, const JsonValue& value) {
  Question question;
  question.name = name;
  if (!is_name(name)) refuse_question(question, "needs a name of letters, digits, '_' and '-'");
  question.kind = kind_named(question, find_string(value, "kind").value_or(""));
  if (question.kind == KRUX_ASK_ROOTS) return question;
  question.message = printable_lines(find_string(value, "message").value_or(""));
  const auto longest = question.kind == KRUX_ASK_MODEL ? kLongestPrompt : kLongestMessage;
  if (question.message.empty() || question.message.size() > longest)
    refuse_question(question, fmt::format("needs a \"message\", of at most {} bytes", longest));
  read_more(question, value);
  return question;
}

/// `host` as a definition has it: "files.notes.example", "*.notes.example", "host:8443".
bool is_at(const Url& url, const std::string& host) {
  if (host.starts_with("*.")) return url.port == 443 && url.host.ends_with(std::string_view(host).substr(1));
  return equal_ignoring_case(url.authority(), host);
}

bool is_of_service(const Url& url, const ServiceDefinition& definition) {
  const auto& hosts = definition.hosts;
  return std::any_of(hosts.begin(), hosts.end(), [&](const auto& host) { return is_at(url, host); }) ||
         (!definition.api_base_url.empty() && parse_base_url(definition.api_base_url).origin() == url.origin());
}

}  // namespace

std::uint32_t Questions::kinds() const {
  std::uint32_t kinds = 0;
  for (const auto& question : all) kinds |= question.kind;
  return kinds;
}

std::vector<Question> parse_questions(std::string_view questions_json) {
  const auto document = parse_json(questions_json, "what it asks", kQuestionsJson);
  if (!document.IsObject() || document.ObjectEmpty() || document.MemberCount() > kMostQuestions)
    throw invalid_input(fmt::format("it asks none, or more than {} questions", kMostQuestions));
  std::vector<Question> all;
  for (const auto& member : document.GetObject()) all.push_back(read_question(view(member.name), member.value));
  return all;
}

std::string why_not_asked(const std::vector<Question>& questions, const CapabilityDefinition& capability,
                          const ServiceDefinition& definition) {
  for (const auto& question : questions) {
    if (!(question.kind & capability.asks))
      return fmt::format("the question \"{}\" is of the kind {}, which the definition of {} does not list in \"asks\"",
                         question.name, asks_in_words(question.kind), capability.name);
    if (question.kind == KRUX_ASK_URL && !is_of_service(parse_url(question.url), definition))
      return fmt::format("the question \"{}\" sends a person to a host that is not among the definition's",
                         question.name);
  }
  return {};
}

}  // namespace krux
