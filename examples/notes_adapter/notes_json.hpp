// The little JSON that the adapter needs. RapidJSON stays inside the adapter: nothing of it crosses the boundary.
#pragma once
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <initializer_list>
#include <kruxos/adapter.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace notes {

/// Iterative, since the recursive parser can be made to overflow the stack by an answer that is nested deeply enough.
inline rapidjson::Document parse(std::string_view text) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject()) {
    throw kruxos::ProxyError(kruxos::ErrorKind::kNetwork,
                             "The notes service answered with something that is no JSON object.");
  }
  return document;
}

inline std::string text_of(const rapidjson::Value& object, const char* name) {
  const auto found = object.FindMember(name);
  if (found == object.MemberEnd() || !found->value.IsString()) return {};
  return {found->value.GetString(), found->value.GetStringLength()};
}

inline std::int64_t number_of(const rapidjson::Value& object, const char* name) {
  const auto found = object.FindMember(name);
  return found != object.MemberEnd() && found->value.IsInt64() ? found->value.GetInt64() : 0;
}

/// {"name": "value", ...} of texts.
inline std::string object(std::initializer_list<std::pair<const char*, std::string_view>> members) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.StartObject();
  for (const auto& [name, value] : members) {
    writer.Key(name);
    writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  writer.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

/// A text as part of an address.
inline std::string escaped(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const unsigned char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (plain) {
      out += static_cast<char>(c);
    } else {
      out += {'%', digits[c >> 4], digits[c & 15]};
    }
  }
  return out;
}

}  // namespace notes
