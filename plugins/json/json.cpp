#include "json.hpp"

#include <string>

namespace service_json {
namespace {

/// The iterative parser takes 16 bytes a level: a large answer of nothing but brackets would cost gigabytes.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_text = false;
      }
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

rapidjson::Document parse(std::string_view text) {
  rapidjson::Document document;
  if (too_deep(text)) text = {};  // which is no JSON value
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  return document;
}

const Json* member(const Json& object, std::string_view name) {
  if (!object.IsObject()) return nullptr;
  const auto at = object.FindMember(Json(name.data(), static_cast<rapidjson::SizeType>(name.size())));
  return at == object.MemberEnd() ? nullptr : &at->value;
}

std::string_view text_of(const Json& object, std::string_view name, std::string_view otherwise) {
  const auto* value = member(object, name);
  return value && value->IsString() ? std::string_view(value->GetString(), value->GetStringLength()) : otherwise;
}

std::int64_t integer_of(const Json& object, std::string_view name, std::int64_t otherwise) {
  const auto* value = member(object, name);
  return value && value->IsInt64() ? value->GetInt64() : otherwise;
}

bool flag_of(const Json& object, std::string_view name) {
  const auto* value = member(object, name);
  return value && value->IsBool() && value->GetBool();
}

ObjectWriter& ObjectWriter::text(std::string_view name, std::string_view value) {
  key(name);
  writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  return *this;
}

ObjectWriter& ObjectWriter::integer(std::string_view name, std::int64_t value) {
  key(name);
  writer_.Int64(value);
  return *this;
}

ObjectWriter& ObjectWriter::flag(std::string_view name, bool value) {
  key(name);
  writer_.Bool(value);
  return *this;
}

ObjectWriter& ObjectWriter::raw(std::string_view name, std::string_view json) {
  key(name);
  writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  return *this;
}

std::string ObjectWriter::done() {
  writer_.EndObject();
  return {buffer_.GetString(), buffer_.GetSize()};
}

std::string clean(std::string_view text) {
  std::string out(text);
  std::erase(out, '\0');
  return out;
}

std::string quoted(std::string_view text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace service_json
