#include "core/definition/forms.hpp"

#include <fmt/format.h>

#include <set>

namespace krux {
namespace {

constexpr std::size_t kMaxValue = 120, kMaxMember = 80;  // bytes

}  // namespace

std::string_view member_text(const JsonValue& json, std::string_view path) {
  const auto* at = &json;
  for (std::size_t begin = 0; at && begin <= path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    at = find_member(*at, path.substr(begin, end - begin));
    if (at && at->IsArray()) at = at->Empty() ? nullptr : at->Begin();
    begin = end + 1;
  }
  return at && at->IsString() ? view(*at) : std::string_view();
}

std::string filled_whole(const std::string& pattern, const JsonValue& params) {
  bool whole = true;
  auto text = filled(pattern, [&](std::string_view name) {
    const auto* value = find_member(params, name);
    whole = whole && value && !value->IsNull();
    return !value ? std::string() : value->IsString() ? std::string(view(*value)) : to_json(*value);
  });
  return whole ? text : std::string();
}

std::vector<std::string> ids_of(const std::string& pattern, const JsonValue& params) {
  const bool one_name = pattern.size() > 2 && pattern.front() == '{' && pattern.find('}') == pattern.size() - 1;
  const auto* list = one_name ? find_member(params, std::string_view(pattern).substr(1, pattern.size() - 2)) : nullptr;
  std::vector<std::string> ids;
  if (!list || !list->IsArray()) {
    ids.push_back(filled_whole(pattern, params));
  } else {
    for (const auto& id : list->GetArray()) {
      if (!id.IsNull()) ids.push_back(id.IsString() ? std::string(view(id)) : to_json(id));
    }
  }
  std::set<std::string> seen;
  std::erase_if(ids, [&](const std::string& id) { return id.empty() || !seen.insert(id).second; });
  return ids;
}

std::string target_of(const CapabilityDefinition& capability, const JsonValue& params) {
  return filled_whole(capability.target, params);
}

std::string order_of(const CapabilityDefinition& capability, const JsonValue& params) {
  return filled_whole(capability.order, params);
}

std::string cut_short(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return std::string(text.substr(0, most)) + "...";
}

std::string record_in_words(std::string_view form, const std::string& id, std::string_view record_json) {
  if (record_json.empty()) return cut_short(id, kMaxValue);
  const auto json = parse_json(record_json, "a record", {8 << 20, 64});
  bool any = false;
  const auto words = filled(form, [&](std::string_view name) {
    const auto value = member_text(json, name);
    any = any || !value.empty();
    return cut_short(value, kMaxMember);
  });
  return any ? fmt::format("{} ({})", words, cut_short(id, kMaxValue)) : cut_short(id, kMaxValue);
}

}  // namespace krux
