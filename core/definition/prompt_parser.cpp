#include "core/definition/prompt_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/definition/definition_loader.hpp"
#include "core/util/json.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostPrompts = 64, kMostArguments = 16, kMostMessages = 16, kMostNeeds = 32;
constexpr std::size_t kLongestText = 8'000, kLongestData = 64 * 1024, kLongestNameShown = 60;
constexpr std::size_t kLongestArgument = 4'000;  // bytes

bool is_argument_name(std::string_view text) {
  if (text.empty() || text.size() > 32 || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

const PromptArgument* argument_of(const PromptDefinition& prompt, std::string_view name) {
  const auto at = std::find_if(prompt.arguments.begin(), prompt.arguments.end(),
                               [&](const PromptArgument& argument) { return argument.name == name; });
  return at == prompt.arguments.end() ? nullptr : &*at;
}

std::vector<std::string> names_of(const PromptDefinition& prompt) {
  std::vector<std::string> names;
  for (const auto& argument : prompt.arguments) names.push_back(argument.name);
  return names;
}

PromptArgument parse_argument(const YamlValue& value, const PromptDefinition& prompt) {
  const YamlMap map(value, {"name", "description", "required", "default", "one_of", "values_from"});
  PromptArgument argument;
  const auto name = map.at("name");
  argument.name = name.text();
  if (!is_argument_name(argument.name))
    name.fail(
        fmt::format("\"{}\" is no name for an argument: letters, digits and _ are accepted, at most 32, a letter "
                    "first.",
                    printable(argument.name)));
  if (argument_of(prompt, argument.name)) name.fail(fmt::format("\"{}\" stands here twice.", argument.name));
  argument.description = map.at("description").line(1000);
  if (auto v = map.find("required")) argument.required = v->boolean();
  if (auto v = map.find("one_of")) {
    argument.one_of = v->lines(100);
    if (argument.one_of.empty()) v->fail("the list is empty; leave the key out to allow any text.");
  }
  if (auto v = map.find("default")) {
    if (argument.required) v->fail("an argument that is required has no default; remove one of the two.");
    argument.default_text = v->text(1000);
  }
  if (auto v = map.find("values_from")) {
    if (!argument.one_of.empty()) v->fail("the values are those of one_of; remove one of the two.");
    argument.values_from = parse_replica_values(*v);
  }
  return argument;
}

void add_text(TextTemplate& all, std::string_view text) {
  if (!text.empty()) all.push_back({std::string(text), false});
}

TextTemplate parse_template(const YamlValue& value, const PromptDefinition& prompt) {
  const auto whole = value.text(kLongestText);
  if (whole.empty()) value.fail("the text is empty.");
  TextTemplate parts;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const auto open = rest.find_first_of("{}");
    if (open == std::string_view::npos) break;
    const auto close = rest.find('}', open);
    if (rest[open] == '}' || close == std::string_view::npos)
      value.fail("a brace stands alone; {argument} stands for an argument's text, and there are no other braces.");
    const auto name = rest.substr(open + 1, close - open - 1);
    if (!argument_of(prompt, name))
      value.fail(fmt::format("\"{}\" is no argument of {}{}.", printable(name.substr(0, kLongestNameShown)),
                             prompt.name, did_you_mean(name, names_of(prompt))));
    add_text(parts, rest.substr(0, open));
    parts.push_back({std::string(name), true});
    rest.remove_prefix(close + 1);
  }
  add_text(parts, rest);
  return parts;
}

std::string parse_data(const YamlValue& value) {
  auto data = value.line(kLongestData);
  if (!is_base64(data)) value.fail("this is no Base64 (RFC 4648, with its padding).");
  return data;
}

void parse_bytes(const YamlValue& value, ContentKind kind, PromptMessage& message) {
  const YamlMap map(value, {"mime_type", "data"});
  message.kind = kind;
  message.mime_type = map.at("mime_type").line(100);
  message.data = parse_data(map.at("data"));
}

void parse_embedded(const YamlValue& value, const PromptDefinition& prompt, PromptMessage& message) {
  const YamlMap map(value, {"uri", "mime_type", "text", "data"});
  message.kind = ContentKind::kResource;
  message.uri = parse_template(map.at("uri"), prompt);
  message.mime_type = map.at("mime_type").line(100);
  const auto text = map.find("text"), data = map.find("data");
  if (text.has_value() == data.has_value()) value.fail("a resource has either \"text\" or \"data\".");
  if (text) message.text = parse_template(*text, prompt);
  if (data) message.data = parse_data(*data);
}

PromptMessage parse_message(const YamlValue& value, const PromptDefinition& prompt) {
  const YamlMap map(value, {"role", "text", "image", "audio", "resource"});
  PromptMessage message;
  if (auto v = map.find("role"))
    message.role = v->choice_of<PromptMessage::Role>(
        {{"user", PromptMessage::Role::kUser}, {"assistant", PromptMessage::Role::kAssistant}});
  int parts = 0;
  for (const char* key : {"text", "image", "audio", "resource"}) parts += map.find(key) ? 1 : 0;
  if (parts != 1) value.fail("a message has one of \"text\", \"image\", \"audio\" and \"resource\".");
  if (auto v = map.find("text")) message.text = parse_template(*v, prompt);
  if (auto v = map.find("image")) parse_bytes(*v, ContentKind::kImage, message);
  if (auto v = map.find("audio")) parse_bytes(*v, ContentKind::kAudio, message);
  if (auto v = map.find("resource")) parse_embedded(*v, prompt, message);
  return message;
}

/// What is offered from the replica is what these reads would show anyway.
void check_sources(const YamlValue& value, const PromptDefinition& prompt, const ServiceDefinition& definition) {
  const bool reads = std::any_of(prompt.needs.begin(), prompt.needs.end(), [&](const std::string& name) {
    return definition.find(name)->kind == CapabilityKind::kRead;
  });
  const bool offers = std::any_of(prompt.arguments.begin(), prompt.arguments.end(),
                                  [](const PromptArgument& argument) { return argument.values_from.has_value(); });
  if (offers && !reads)
    value.fail("values_from shows what is in the replica: \"needs\" must name a read that the agent may make.");
}

PromptDefinition parse_prompt(const YamlValue& value, const ServiceDefinition& definition) {
  const YamlMap map(value, {"name", "title", "description", "needs", "arguments", "messages"});
  PromptDefinition prompt;
  const auto name = map.at("name");
  prompt.name = name.text();
  const auto begins = definition.prefix + ".";
  if (!prompt.name.starts_with(begins) || !is_plain_name(std::string_view(prompt.name).substr(begins.size())))
    name.fail(fmt::format("\"{0}\" is no name for a prompt here: {1}<name> is expected, such as {1}summary.",
                          printable(prompt.name), begins));
  prompt.title = map.at("title").line(100);
  prompt.description = map.at("description").line(1000);
  if (auto v = map.find("needs")) {
    for (const auto& item : v->list(kMostNeeds)) {
      prompt.needs.push_back(item.line(100));
      if (!definition.find(prompt.needs.back()))
        item.fail(fmt::format("\"{}\" is no capability of this definition.", printable(prompt.needs.back())));
    }
  }
  if (auto v = map.find("arguments")) {
    for (const auto& item : v->list(kMostArguments)) prompt.arguments.push_back(parse_argument(item, prompt));
  }
  check_sources(value, prompt, definition);
  const auto messages = map.at("messages");
  for (const auto& item : messages.list(kMostMessages)) prompt.messages.push_back(parse_message(item, prompt));
  if (prompt.messages.empty()) messages.fail("the list is empty; a prompt has one message at least.");
  return prompt;
}

std::string why_not_argument(const PromptArgument& argument, const std::string& text) {
  if (const auto odd = why_odd_text(text); !odd.empty()) return fmt::format("\"{}\" {}.", argument.name, odd);
  if (text.size() > kLongestArgument)
    return fmt::format("\"{}\" has {} bytes, at most {} are accepted.", argument.name, text.size(), kLongestArgument);
  const auto& values = argument.one_of;
  if (values.empty() || std::find(values.begin(), values.end(), text) != values.end()) return {};
  return fmt::format("\"{}\" must be one of {}, not \"{}\".", argument.name, fmt::join(values, ", "),
                     printable(std::string_view(text).substr(0, kLongestNameShown)));
}

}  // namespace

ReplicaValues parse_replica_values(const YamlValue& value) {
  const YamlMap map(value, {"collection", "member"});
  ReplicaValues values;
  for (auto [key, into] : {std::pair{"collection", &values.collection}, {"member", &values.member}}) {
    const auto name = map.at(key);
    *into = name.text();
    if (!is_plain_name(*into)) name.fail("a name has small letters, digits and _, at most 32, a letter first.");
  }
  return values;
}

std::vector<PromptDefinition> parse_prompts(const YamlValue& value, const ServiceDefinition& definition) {
  std::vector<PromptDefinition> all;
  for (const auto& item : value.list(kMostPrompts)) {
    auto prompt = parse_prompt(item, definition);
    for (const auto& other : all) {
      if (other.name == prompt.name) item.fail(fmt::format("the prompt {} stands here twice.", prompt.name));
    }
    all.push_back(std::move(prompt));
  }
  return all;
}

std::string why_not_arguments(const PromptDefinition& prompt, const PromptArguments& given) {
  for (const auto& [name, text] : given) {
    const auto* argument = argument_of(prompt, name);
    if (!argument)
      return fmt::format("There is no argument \"{}\"{}.",
                         printable(std::string_view(name).substr(0, kLongestNameShown)),
                         did_you_mean(name, names_of(prompt)));
    if (auto why = why_not_argument(*argument, text); !why.empty()) return why;
  }
  return {};
}

std::vector<const PromptArgument*> missing_arguments(const PromptDefinition& prompt, const PromptArguments& given) {
  std::vector<const PromptArgument*> missing;
  for (const auto& argument : prompt.arguments) {
    const auto at = given.find(argument.name);
    if (argument.required && (at == given.end() || at->second.empty())) missing.push_back(&argument);
  }
  return missing;
}

std::string filled(const TextTemplate& text, const PromptDefinition& prompt, const PromptArguments& given,
                   const std::function<std::string(std::string_view)>& own) {
  std::string out;
  for (const auto& part : text) {
    if (!part.is_argument) {
      out += own(part.text);
      continue;
    }
    const auto at = given.find(part.text);
    const auto* argument = argument_of(prompt, part.text);
    if (at != given.end() && !at->second.empty()) {
      out += at->second;
    } else if (argument) {
      out += argument->default_text;
    }
  }
  return out;
}

}  // namespace krux
