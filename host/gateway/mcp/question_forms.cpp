#include "host/gateway/mcp/question_forms.hpp"

#include <fmt/format.h>
#include <kruxos/abi/call.h>

#include "core/capability/form_schema.hpp"
#include "core/definition/asks.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"

namespace krux::mcp {
namespace {

constexpr JsonLimits kClientsAnswer{1 << 20, 32};
constexpr std::size_t kLongestShownName = 200, kLongestUri = 2048, kRandomBytes = 16;
constexpr rapidjson::SizeType kMostRoots = 100;

/// An adapter's text may say that it is anybody's: who really asks stands in front of it.
std::string said_by(std::string_view asked_by, const std::string& text) {
  return fmt::format("{} asks: {}", asked_by, text);
}

/// A model is told whose words they are, as people are: they are neither its user's nor its program's.
void put_prompt(JsonWriter& out, const Question& question, std::string_view asked_by) {
  put_key(out, "messages");
  out.StartArray();
  out.StartObject();
  put(out, "role", "user");
  put_key(out, "content");
  out.StartObject();
  put(out, "type", "text");
  put(out, "text", said_by(asked_by, question.message));
  out.EndObject();
  out.EndObject();
  out.EndArray();
  if (!question.system.empty())
    put(out, "systemPrompt", fmt::format("The tool {} says: {}", asked_by, question.system));
  put(out, "maxTokens", question.max_tokens);
}

void put_elicitation(JsonWriter& out, const Question& question, std::string_view asked_by, Model model) {
  put(out, "message", said_by(asked_by, question.message));
  if (question.kind == KRUX_ASK_FORM) return put_raw(out, "requestedSchema", question.schema_json);
  put(out, "mode", "url");
  put(out, "url", question.url);
  if (model == Model::kWithSessions) put(out, "elicitationId", random_hex(kRandomBytes));
}

std::string filled_in(const Question& question, const JsonValue& result) {
  const auto action = find_string(result, "action").value_or("");
  if (action != "accept" && action != "decline" && action != "cancel")
    throw invalid_input("\"action\" must be accept, decline or cancel.");
  return json_object([&](JsonWriter& out) {
    put(out, "action", action);
    if (action != "accept" || question.kind != KRUX_ASK_FORM) return;
    const auto* content = find_member(result, "content");
    if (!content) throw invalid_input("\"content\" is missing.");
    put_raw(out, "content", checked_content(parse_json(question.schema_json, "the form", kClientsAnswer), *content));
  });
}

/// One block, or a list of them.
void add_text(std::string& text, const JsonValue& content) {
  if (content.IsArray()) {
    for (const auto& block : content.GetArray()) {
      if (block.IsObject()) add_text(text, block);
    }
  } else if (find_string(content, "type") == "text") {
    text += find_string(content, "text").value_or("");
  }
}

std::string said_by_model(const JsonValue& result) {
  const auto* content = find_member(result, "content");
  std::string text;
  if (content && (content->IsObject() || content->IsArray())) add_text(text, *content);
  if (text.empty()) throw invalid_input("The model's answer has no text.");
  return json_object([&](JsonWriter& out) {
    put(out, "text", text);
    if (const auto model = find_string(result, "model")) put(out, "model", model->substr(0, kLongestShownName));
  });
}

std::string roots_of(const JsonValue& result) {
  const auto* roots = find_member(result, "roots");
  if (!roots || !roots->IsArray() || roots->Size() > kMostRoots)
    throw invalid_input(fmt::format("\"roots\" must be a list of at most {}.", kMostRoots));
  return json_object([&](JsonWriter& out) {
    put_objects(out, "roots", roots->GetArray(), [&](const JsonValue& root) {
      const auto uri = root.IsObject() ? find_string(root, "uri") : std::nullopt;
      if (!uri || !uri->starts_with("file://") || uri->size() > kLongestUri)
        throw invalid_input("Each of \"roots\" needs a \"uri\" that begins with file://.");
      put(out, "uri", *uri);
      if (const auto name = find_string(root, "name")) put(out, "name", name->substr(0, kLongestShownName));
    });
  });
}

std::string read_answer(const Question& question, std::string_view result_json) {
  const auto result = parse_json(result_json, "It", kClientsAnswer);
  if (!result.IsObject()) throw invalid_input("It must be an object.");
  if (question.kind == KRUX_ASK_MODEL) return said_by_model(result);
  return question.kind == KRUX_ASK_ROOTS ? roots_of(result) : filled_in(question, result);
}

}  // namespace

void put_request(JsonWriter& out, const Question& question, std::string_view asked_by, Model model) {
  const bool asks_model = question.kind == KRUX_ASK_MODEL, asks_roots = question.kind == KRUX_ASK_ROOTS;
  put(out, "method", asks_model ? "sampling/createMessage" : asks_roots ? "roots/list" : "elicitation/create");
  put_key(out, "params");
  out.StartObject();
  if (asks_model) {
    put_prompt(out, question, asked_by);
  } else if (!asks_roots) {
    put_elicitation(out, question, asked_by, model);
  }
  out.EndObject();
}

std::string answer_json(const Question& question, std::string_view result_json) {
  try {
    return read_answer(question, result_json);
  } catch (const Error& error) {
    throw invalid_input(
        fmt::format("The answer to \"{}\" does not fit what was asked. {}", question.name, error.what()));
  }
}

std::string too_much_answered() {
  return fmt::format("The answers to what the call has asked have more than {} KiB together. Answer more briefly.",
                     kLargestAnswers >> 10);
}

std::string answers_json(const Questions& questions, const std::map<std::string, std::string>& by_name) {
  std::string out = "{";
  for (const auto& question : questions.all) {
    const auto given = by_name.find(question.name);
    if (given == by_name.end()) return {};
    if (out.size() > 1) out += ',';
    out += json_string(question.name) + ':' + answer_json(question, given->second);
  }
  if (out.size() >= kLargestAnswers) throw invalid_input(too_much_answered());
  return out + '}';
}

}  // namespace krux::mcp
