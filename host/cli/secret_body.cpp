#include "host/cli/secret_body.hpp"

#include "core/util/text.hpp"
#include "host/cli/control_client.hpp"

namespace krux::cli {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

void append_string(SecretBytes& body, std::string_view text) {
  body.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      append(body, "\\u00");
      body.push_back(kHex[byte >> 4]);
      body.push_back(kHex[byte & 15]);
      continue;
    }
    if (c == '"' || c == '\\') body.push_back('\\');
    body.push_back(c);
  }
  body.push_back('"');
}

}  // namespace

SecretBytes secret_body(std::initializer_list<std::pair<std::string_view, std::string_view>> members,
                        const std::map<std::string, std::string>& settings) {
  SecretBytes body;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!is_valid_utf8(value) || value.find('\0') != std::string_view::npos)
      throw CliError(kFailed, "This is no text in UTF-8. Nothing was changed.");
    if (body.back() != '{') body.push_back(',');
    append_string(body, name);
    body.push_back(':');
    append_string(body, value);
  };
  body.push_back('{');
  for (const auto& [name, value] : members) {
    if (!value.empty()) add(name, value);
  }
  if (!settings.empty()) {
    append(body, body.size() > 1 ? ",\"settings\":{" : "\"settings\":{");
    for (const auto& [name, value] : settings) add(name, value);
    body.push_back('}');
  }
  body.push_back('}');
  return body;
}

}  // namespace krux::cli
