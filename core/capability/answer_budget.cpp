#include "core/capability/answer_budget.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "core/capability/content_part.hpp"
#include "core/capability/cut_members.hpp"

namespace krux {
namespace {

constexpr JsonLimits kStored{64 << 20, 64};
constexpr rapidjson::SizeType kFewestPending = 5;
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

bool takes(const CapabilityDefinition& capability, std::string_view input) {
  return std::any_of(capability.inputs.begin(), capability.inputs.end(),
                     [&](const InputDefinition& i) { return i.name == input; });
}

JsonValue* list_of(JsonDocument& document, std::string_view name) {
  const auto found = document.FindMember(text_value(name, document));
  return found != document.MemberEnd() && found->value.IsArray() ? &found->value : nullptr;
}

/// The list that makes most of the answer, among those that `capability` promises; nothing where none makes half of it:
/// ending that would not help.
JsonValue* longest_list(JsonDocument& document, std::size_t tokens, const CapabilityDefinition& capability) {
  JsonValue* longest = nullptr;
  auto most = tokens / 2;
  for (const auto& output : capability.outputs) {
    auto* list = output.type == InputType::kArray ? list_of(document, output.name) : nullptr;
    const auto size = list && list->Size() > 1 ? estimated_tokens(to_json(*list)) : 0;
    if (size <= most) continue;
    most = size;
    longest = list;
  }
  return longest;
}

/// Takes entries away from the end until the answer has kPageTokens, or `least` entries are left.
void shorten(JsonValue& list, std::size_t& tokens, rapidjson::SizeType least) {
  while (tokens > kPageTokens && list.Size() > least) {
    tokens -= std::min(tokens, estimated_tokens(to_json(list[list.Size() - 1])));
    list.PopBack();
  }
}

void end_page(JsonDocument& document, std::size_t tokens, const CapabilityDefinition& capability,
              const JsonValue& params) {
  // What the agent has written itself, which proxy.list_writes lists, makes way for what it asked for.
  if (auto* pending = list_of(document, "pending_writes"); pending && pending->Size() > kFewestPending) {
    const auto before = pending->Size();
    shorten(*pending, tokens, kFewestPending);
    if (pending->Size() < before) set(document, "pending_writes_cut", JsonValue(true));
  }
  auto* list = tokens > kPageTokens ? longest_list(document, tokens, capability) : nullptr;
  if (!list) return;
  shorten(*list, tokens, 1);
  const auto shown = list->Size();
  set(document, cut_members::kPageIsCut, JsonValue(true));
  if (takes(capability, "offset") && takes(capability, "limit"))
    set(document, cut_members::kNextOffset, JsonValue(find_int(params, "offset").value_or(0) + shown));
  if (!find_bool(document, cut_members::kMore)) return;
  // Nothing points into the list from here on: what is set may move it.
  const auto last = std::string(find_string((*list)[shown - 1], "write_id").value_or(""));
  set(document, cut_members::kMore, JsonValue(true));
  if (takes(capability, "before") && !last.empty()) set(document, cut_members::kNextBefore, text_value(last, document));
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

void name_as_left_out(JsonDocument& document, const std::vector<std::string>& gone) {
  JsonValue names(rapidjson::kArrayType);
  for (const auto& name : gone) names.PushBack(text_value(name, document), document.GetAllocator());
  set(document, cut_members::kMembersLeftOut, std::move(names));
}

/// Without its longest members, which it names instead.
std::string without_longest(JsonDocument& document) {
  std::vector<std::string> gone;
  for (;;) {
    auto longest = document.MemberBegin();
    std::size_t most = 0;
    for (auto member = document.MemberBegin(); member != document.MemberEnd(); ++member) {
      const auto size = estimated_tokens(to_json(member->value));
      if (size > most) std::tie(longest, most) = std::pair(member, size);
    }
    gone.emplace_back(view(longest->name));
    document.EraseMember(longest);
    name_as_left_out(document, gone);
    auto text = to_json(document);
    if (estimated_tokens(text) <= kMostTokens) return text;
  }
}

/// A member that holds bytes, as JSON.
struct Bytes {
  std::string name, json;
};

/// Takes the members that `capability` hands over as bytes out of `document`.
std::vector<Bytes> take_bytes(JsonDocument& document, const CapabilityDefinition& capability) {
  std::vector<Bytes> all;
  for (const auto& output : content_outputs(capability)) {
    const auto found = document.FindMember(text_value(output.name, document));
    if (found == document.MemberEnd() || !is_bytes_part(found->value, output.kind)) continue;
    all.push_back({output.name, to_json(found->value)});
    document.EraseMember(found);
  }
  return all;
}

/// `result_json`, one object with members, and as many of `all` as may be.
std::string with_bytes(std::string result_json, const std::vector<Bytes>& all) {
  std::vector<std::string> gone;
  std::size_t taken = 0;
  result_json.pop_back();
  for (const auto& one : all) {
    if (taken + one.json.size() > kMostContentBytes) {
      gone.push_back(one.name);
      continue;
    }
    taken += one.json.size();
    if (result_json.size() > 1) result_json += ',';
    result_json.append(json_string(one.name)).append(":").append(one.json);
  }
  result_json += '}';
  if (gone.empty()) return result_json;
  auto document = parse_json(result_json, "the result", kStored);
  if (const auto* names = find_member(document, cut_members::kMembersLeftOut); names && names->IsArray()) {
    for (const auto& name : names->GetArray()) gone.emplace_back(view(name));
  }
  name_as_left_out(document, gone);
  return to_json(document);
}

/// See within_budget().
std::string texts_within_budget(std::string result_json, const CapabilityDefinition& capability,
                                const JsonValue& params) {
  const auto tokens = estimated_tokens(result_json);
  if (tokens <= kPageTokens) return result_json;
  auto document = parse_json(result_json, "the result", kStored);
  end_page(document, tokens, capability, params);
  result_json = to_json(document);
  if (estimated_tokens(result_json) <= kMostTokens) return result_json;
  set(document, cut_members::kTextsAreCut, JsonValue(true));
  for (auto most = kLongestText; most >= kShortestText; most /= 2) {
    cut_texts(document, most);
    result_json = to_json(document);
    if (estimated_tokens(result_json) <= kMostTokens) return result_json;
  }
  return without_longest(document);
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
  if (content_outputs(capability).empty()) return texts_within_budget(std::move(result_json), capability, params);
  auto document = parse_json(result_json, "the result", kStored);
  const auto bytes = take_bytes(document, capability);
  return with_bytes(texts_within_budget(to_json(document), capability, params), bytes);
}

}  // namespace krux
