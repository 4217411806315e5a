#include "host/certify/spoiled_body.hpp"

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

}  // namespace

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
