// What a tool hands a model beside its values: texts, images, sound, resources.
#pragma once

#include <string>
#include <vector>

#include "core/definition/definition.hpp"

namespace krux::mcp {

struct ToolContent {
  std::string values_json;         ///< what stays
  std::vector<std::string> parts;  ///< each one JSON object of an answer's `content`
};

/// Takes the members of `data_json` that `outputs` names out of it and makes parts of them, in that order. A member
/// that is not what its kind is made of, or is missing, stays as it is.
ToolContent content_of(std::string data_json, const std::vector<ContentOutput>& outputs);

/// The resources alone, each as one of `contents`. `_meta` of each says what the size of answers has left out.
std::vector<std::string> resources_of(const std::string& data_json, const std::vector<ContentOutput>& outputs);

}  // namespace krux::mcp
