#include "host/gateway/mcp/prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/util/text.hpp"

namespace krux::mcp {
namespace {

void put_list(JsonWriter& out, const std::vector<OfferedPrompt>& prompts, const Knows& knows) {
  out.StartArray();
  for (const auto& [definition, prompt] : prompts) {
    out.StartObject();
    put(out, "name", tool_name(prompt->name));
    put(out, "title", prompt->title);
    put(out, "description", with_tool_names(prompt->description, knows));
    if (!prompt->arguments.empty())
      put_objects(out, "arguments", prompt->arguments, [&](const PromptArgument& argument) {
        put(out, "name", argument.name);
        put(out, "description", argument.description);
        put(out, "required", argument.required);
      });
    out.EndObject();
  }
  out.EndArray();
}

struct Filling {
  const PromptDefinition& prompt;
  const PromptArguments& given;
  const Knows& knows;

  std::string operator()(const TextTemplate& text) const {
    return filled(text, prompt, given, [&](std::string_view own) { return with_tool_names(own, knows); });
  }
  /// Of an address no word is a tool's name.
  std::string address(const TextTemplate& text) const {
    return filled(text, prompt, given, [](std::string_view own) { return std::string(own); });
  }
};

void put_resource(JsonWriter& out, const PromptMessage& message, const Filling& fill) {
  put_key(out, "resource");
  out.StartObject();
  put(out, "uri", fill.address(message.uri));
  put(out, "mimeType", message.mime_type);
  if (message.data.empty()) {
    put(out, "text", fill(message.text));
  } else {
    put(out, "blob", message.data);
  }
  out.EndObject();
}

void put_content(JsonWriter& out, const PromptMessage& message, const Filling& fill) {
  put(out, "type", to_string(message.kind));
  if (message.kind == ContentKind::kText) return put(out, "text", fill(message.text));
  if (message.kind == ContentKind::kResource) return put_resource(out, message, fill);
  put(out, "data", message.data);
  put(out, "mimeType", message.mime_type);
}

}  // namespace

std::vector<OfferedPrompt> offered_prompts(const std::vector<Offered>& offered) {
  std::set<std::string_view> names;
  for (const auto& one : offered) names.insert(one.listed.capability->name);
  std::vector<OfferedPrompt> all;
  const ServiceDefinition* last = nullptr;
  for (const auto& one : offered) {
    const auto& definition = one.listed.definition;
    if (definition.get() == last) continue;
    last = definition.get();
    for (const auto& prompt : definition->prompts) {
      const auto& needs = prompt.needs;
      if (std::all_of(needs.begin(), needs.end(), [&](const auto& name) { return names.count(name) > 0; }))
        all.push_back({definition, &prompt});
    }
  }
  return all;
}

std::optional<OfferedPrompt> prompt_named(const std::vector<Offered>& offered, std::string_view name) {
  const auto all = offered_prompts(offered);
  const auto find = [&](const std::string& dotted) {
    return std::find_if(all.begin(), all.end(), [&](const OfferedPrompt& one) { return one.prompt->name == dotted; });
  };
  const auto found = capability_named(name, [&](const std::string& dotted) { return find(dotted) != all.end(); });
  return found ? std::optional(*find(*found)) : std::nullopt;
}

std::string prompts_json(const std::vector<Offered>& offered, const Knows& knows) {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  put_list(out, offered_prompts(offered), knows);
  return {buffer.GetString(), buffer.GetSize()};
}

std::variant<PromptArguments, std::string> prompt_arguments(const JsonSpan* span) {
  if (!span || span->kind == JsonKind::kNull) return PromptArguments();
  std::string why = "no object";
  const auto parts = span->kind == JsonKind::kObject ? take_apart(span->raw, {}, why) : std::nullopt;
  if (!parts) return fmt::format("\"arguments\" must be an object of texts ({}).", why);
  PromptArguments given;
  for (const auto& [name, value] : parts->members) {
    if (value.kind == JsonKind::kNull) continue;
    if (value.kind != JsonKind::kString)
      return fmt::format("\"{}\" must be a text.", printable(std::string_view(name).substr(0, 60)));
    given.emplace(name, value.text);
  }
  return given;
}

void put_prompt(JsonWriter& out, const PromptDefinition& prompt, const PromptArguments& given, const Knows& knows) {
  const Filling fill{prompt, given, knows};
  put(out, "description", with_tool_names(prompt.description, knows));
  put_objects(out, "messages", prompt.messages, [&](const PromptMessage& message) {
    put(out, "role", message.role == PromptMessage::Role::kUser ? "user" : "assistant");
    put_key(out, "content");
    out.StartObject();
    put_content(out, message, fill);
    out.EndObject();
  });
}

std::string question_for(const PromptDefinition& prompt, const std::vector<const PromptArgument*>& missing) {
  return json_object([&](JsonWriter& out) {
    put(out, "method", "elicitation/create");
    put_key(out, "params");
    out.StartObject();
    put(out, "mode", "form");
    put(out, "message",
        missing.size() == 1 ? missing[0]->description : fmt::format("{} needs to know more.", prompt.title));
    put_key(out, "requestedSchema");
    out.StartObject();
    put(out, "type", "object");
    put_key(out, "properties");
    out.StartObject();
    std::vector<std::string> names;
    for (const auto* argument : missing) {
      put_key(out, argument->name);
      out.StartObject();
      put(out, "type", "string");
      put(out, "description", argument->description);
      if (!argument->one_of.empty()) put(out, "enum", argument->one_of);
      out.EndObject();
      names.push_back(argument->name);
    }
    out.EndObject();
    put(out, "required", names);
    out.EndObject();
    out.EndObject();
  });
}

std::variant<PromptArguments, std::string> arguments_answered(const JsonSpan& answer) {
  std::string why;
  const auto parts = answer.kind == JsonKind::kObject ? take_apart(answer.raw, {}, why) : std::nullopt;
  const auto* action = parts ? parts->find("action") : nullptr;
  if (!action || action->kind != JsonKind::kString)
    return "An answer among \"inputResponses\" is an object with \"action\": accept, decline or cancel.";
  if (action->text != "accept") return PromptArguments();
  return prompt_arguments(parts->find("content"));
}

}  // namespace krux::mcp
