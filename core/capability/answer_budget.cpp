#include "core/capability/answer_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr JsonLimits kStored{64 << 20, 64};
constexpr std::size_t kLongestText = 16'384, kShortestText = 64;  // bytes, when texts are cut

JsonValue text_value(std::string_view text, JsonDocument& document) {
  return {text.data(), static_cast<rapidjson::SizeType>(text.size()), document.GetAllocator()};
}

void set(JsonDocument& document, std::string_view name, JsonValue value) {
  if (auto found = document.FindMember(text_value(name, document)); found != document.MemberEnd()) {
    found->value = value;
  } else {
    document.AddMember(text_value(name, document), value, document.GetAllocator());
  }
}

JsonValue* first_list(JsonDocument& document, const CapabilityDefinition& capability) {
  for (const auto& output : capability.outputs) {
    if (output.type != InputType::kArray) continue;
    const auto found = document.FindMember(text_value(output.name, document));
    if (found != document.MemberEnd() && found->value.IsArray() && found->value.Size() > 1) return &found->value;
  }
  return nullptr;
}

bool takes(const CapabilityDefinition& capability, std::string_view input) {
  return std::any_of(capability.inputs.begin(), capability.inputs.end(),
                     [&](const InputDefinition& i) { return i.name == input; });
}

/// How many tokens it has then.
std::size_t end_page(JsonDocument& document, std::size_t tokens, const CapabilityDefinition& capability,
                     const JsonValue& params) {
  auto* list = first_list(document, capability);
  if (!list) return tokens;
  while (tokens > kPageTokens && list->Size() > 1) {
    tokens -= std::min(tokens, estimated_tokens(to_json((*list)[list->Size() - 1])));
    list->PopBack();
  }
  const auto shown = list->Size();
  set(document, "page_is_cut", JsonValue(true));
  if (takes(capability, "offset"))
    set(document, "next_offset", JsonValue(find_int(params, "offset").value_or(0) + shown));
  if (find_bool(document, "more")) set(document, "more", JsonValue(true));
  return tokens;
}

/// Pointers to all texts in `value`; they hold as long as nothing is added to it.
void texts_in(JsonValue& value, std::vector<JsonValue*>& texts) {  // NOLINT(misc-no-recursion)
  if (value.IsString()) texts.push_back(&value);
  if (value.IsArray()) {
    for (auto& item : value.GetArray()) texts_in(item, texts);
  }
  if (value.IsObject()) {
    for (auto& member : value.GetObject()) texts_in(member.value, texts);
  }
}

void cut_texts(JsonDocument& document, std::size_t most_bytes) {
  std::vector<JsonValue*> texts;
  texts_in(document, texts);
  for (auto* text : texts) {
    const auto whole = view(*text);
    if (whole.size() <= most_bytes) continue;
    auto end = most_bytes;
    while (end > 0 && (static_cast<unsigned char>(whole[end]) & 0xc0) == 0x80) --end;
    *text = text_value(std::string(whole.substr(0, end)) + "…", document);
  }
}

}  // namespace

std::size_t estimated_tokens(std::string_view text) {
  std::size_t plain = 0, others = 0;
  for (const unsigned char c : text) {
    plain += c < 0x80 ? 1 : 0;
    others += c >= 0xc0 ? 1 : 0;
  }
  return (plain + 3) / 4 + others;
}

std::string within_budget(std::string result_json, const CapabilityDefinition& capability, const JsonValue& params) {
  // No text has more tokens than bytes.
  if (result_json.size() <= kPageTokens) return result_json;
  auto tokens = estimated_tokens(result_json);
  if (tokens <= kPageTokens) return result_json;
  auto document = parse_json(result_json, "the result", kStored);
  tokens = end_page(document, tokens, capability, params);
  result_json = to_json(document);
  if (tokens <= kMostTokens) return result_json;
  set(document, "texts_are_cut", JsonValue(true));
  for (auto most = kLongestText; most >= kShortestText; most /= 2) {
    cut_texts(document, most);
    result_json = to_json(document);
    if (estimated_tokens(result_json) <= kMostTokens) return result_json;
  }
  throw Error(ErrorCode::kInvalidInput,
              fmt::format("The answer of {} has about {} tokens, and {} at most are answered: ask for less at a time.",
                          capability.name, tokens, kMostTokens));
}

}  // namespace krux
