#include "host/operator/body_secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>

#include "core/util/error.hpp"
#include "core/util/json.hpp"

namespace krux {
namespace {

constexpr rapidjson::SizeType kMostSettings = 64;

/// False: this is no object of texts.
bool take_settings(const JsonValue& object, AccountOwn& own) {
  if (!object.IsObject() || object.MemberCount() > kMostSettings) return false;
  for (const auto& member : object.GetObject()) {
    if (!member.value.IsString()) return false;
    own.settings[std::string(view(member.name))] = view(member.value);
  }
  return true;
}

}  // namespace

BodySecrets::BodySecrets(std::string& body, std::span<const std::string_view> names, AccountOwn* own)
    : names_(names), secrets_(names.size()) {
  constexpr unsigned flags =
      rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  if (body.empty()) return;
  JsonDocument document;
  if (body.find('\0') == std::string::npos) document.ParseInsitu<flags>(body.data());
  bool fits = !document.HasParseError() && document.IsObject() && document.MemberCount() <= names.size() + 2;
  std::size_t found = 0, index = 0;
  for (const auto name : names) {
    const auto text = fits ? find_string(document, name) : std::nullopt;
    if (text) secrets_[index] = Secret(*text);
    if (text) ++found;
    ++index;
  }
  if (fits && own) {
    if (const auto url = find_string(document, "base_url")) {
      own->base_url = *url;
      ++found;
    }
    if (const auto* settings = find_member(document, "settings")) {
      fits = take_settings(*settings, *own);
      ++found;
    }
  }
  fits = fits && found == document.MemberCount();
  if (fits) return;
  std::string all;
  for (const auto name : names) all += fmt::format("{}\"{}\": \"...\"", all.empty() ? "" : ", ", name);
  if (own) all += R"(, "base_url": "...", "settings": {"...": "..."})";
  throw invalid_input(fmt::format("The body must be {{{}}}.", all));
}

Secret& BodySecrets::of(std::string_view name) {
  const auto at = std::find(names_.begin(), names_.end(), name);
  if (at == names_.end()) throw std::logic_error(fmt::format("The route does not name \"{}\" as a secret.", name));
  return secrets_[static_cast<std::size_t>(at - names_.begin())];
}

}  // namespace krux
