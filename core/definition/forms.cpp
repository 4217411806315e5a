#include "core/definition/forms.hpp"

namespace krux {

std::string filled_whole(const std::string& pattern, const JsonValue& params) {
  bool whole = true;
  auto text = filled(pattern, [&](std::string_view name) {
    const auto* value = find_member(params, name);
    whole = whole && value && !value->IsNull();
    return !value ? std::string() : value->IsString() ? std::string(view(*value)) : to_json(*value);
  });
  return whole ? text : std::string();
}

std::string target_of(const CapabilityDefinition& capability, const JsonValue& params) {
  return filled_whole(capability.target, params);
}

std::string order_of(const CapabilityDefinition& capability, const JsonValue& params) {
  return filled_whole(capability.order, params);
}

}  // namespace krux
