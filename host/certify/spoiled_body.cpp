#include "host/certify/spoiled_body.hpp"

#include <algorithm>

#include "core/util/error.hpp"
#include "core/util/json.hpp"

namespace krux::certify {
namespace {

constexpr std::size_t kLargestBody = 64 << 20;

void spoil(JsonValue& value, bool keep_scalars, JsonDocument::AllocatorType& memory) {
  if (value.IsObject()) {
    for (auto& member : value.GetObject()) {
      const bool scalar = !member.value.IsObject() && !member.value.IsArray();
      if (!(scalar && keep_scalars)) spoil(member.value, false, memory);
    }
    if (!keep_scalars && value.ObjectEmpty()) value.SetArray();
    return;
  }
  if (value.IsArray()) {
    // Half of the items become something else entirely, the others are spoiled inside.
    for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
      if (i % 2 == 0) {
        value[i].SetInt(7);
      } else {
        spoil(value[i], false, memory);
      }
    }
    if (value.Empty()) value.SetObject();
    return;
  }
  if (value.IsString()) {
    value.SetInt64(-1);
  } else if (value.IsNumber()) {
    value.SetString("many", memory);
  } else {
    value.SetObject();
  }
}

constexpr const char* kPlace = "kruxos-hostile-text";

std::string escaped(HostileText text) {
  if (text == HostileText::kNul) return "before\\u0000behind";
  if (text == HostileText::kHalfSurrogate) return "before\\ud800behind";
  return std::string((1 << 20) + 200'000, 'x');
}

/// Calls `visit` with every text below `value`.
template <class Value, class Visit>
void each_text(Value& value, const Visit& visit) {  // NOLINT(misc-no-recursion)
  if (value.IsObject()) {
    for (auto& member : value.GetObject()) each_text(member.value, visit);
  } else if (value.IsArray()) {
    for (auto& one : value.GetArray()) each_text(one, visit);
  } else if (value.IsString()) {
    visit(value);
  }
}

bool is_peoples(std::string_view text, const std::set<std::string>& searched) {
  return text.find(' ') != std::string_view::npos &&
         std::any_of(searched.begin(), searched.end(),
                     [&](const auto& one) { return one.find(text) != std::string::npos; });
}

}  // namespace

const char* in_words(HostileText text) {
  return text == HostileText::kNul             ? "U+0000"
         : text == HostileText::kHalfSurrogate ? "half of a surrogate pair"
                                               : "more than 1 MiB";
}

std::string peoples_text(std::string_view json, const std::set<std::string>& searched) {
  std::string found;
  try {
    const auto document = parse_json(json, "the answer", {kLargestBody, 64});
    each_text(document, [&](const JsonValue& text) {
      if (found.empty() && is_peoples(view(text), searched)) found = view(text);
    });
  } catch (const Error&) {  // then it has none
  }
  return found;
}

std::string with_hostile_text(std::string_view json, const std::string& text, HostileText hostile) {
  std::string spoiled(json);
  try {
    auto document = parse_json(json, "the answer", {kLargestBody, 64});
    bool any = false;
    each_text(document, [&](JsonValue& one) {
      if (view(one) != text) return;
      one.SetString(rapidjson::StringRef(kPlace));
      any = true;
    });
    if (!any) return spoiled;
    spoiled = to_json(document);
    const auto words = escaped(hostile);
    for (auto at = spoiled.find(kPlace); at != std::string::npos; at = spoiled.find(kPlace, at + words.size()))
      spoiled.replace(at, std::string_view(kPlace).size(), words);
  } catch (const Error&) {  // no JSON
  }
  return spoiled;
}

std::string with_wrong_types(std::string_view json, bool keep_top) {
  try {
    auto document = parse_json(json, "the answer", {kLargestBody, 64});
    if (document.IsObject() || document.IsArray()) {
      spoil(document, keep_top, document.GetAllocator());
      return to_json(document);
    }
  } catch (const Error&) {  // then there is nothing to keep
  }
  return "0";
}

}  // namespace krux::certify
