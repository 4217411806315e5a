#include "core/definition/resource_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/definition/definition_loader.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostResources = 64, kLongestAddress = 300;

bool has_scheme(std::string_view address) {
  const auto end = address.find(':');
  if (end == std::string_view::npos || end == 0 || address[0] < 'a' || address[0] > 'z') return false;
  return std::all_of(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

bool is_of_an_address(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("-._~:/?#@!$&'()*+,;={}").find(c) != std::string_view::npos;
}

/// The names in braces, in their order.
std::vector<std::string> inputs_in(const YamlValue& value, const std::string& address) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < address.size(); ++at) {
    if (address[at] == '}') value.fail("a } has no {; {input} stands for an input's value.");
    if (address[at] != '{') continue;
    const auto end = address.find('}', at);
    if (end == std::string::npos) value.fail("a { has no }; {input} stands for an input's value.");
    auto name = address.substr(at + 1, end - at - 1);
    if (std::find(names.begin(), names.end(), name) != names.end())
      value.fail(fmt::format("{{{}}} stands here twice.", printable(name)));
    names.push_back(std::move(name));
    at = end;
    if (at + 1 < address.size() && address[at + 1] == '{')
      value.fail("between two inputs something must stand, such as a /.");
  }
  return names;
}

std::string parse_address(const YamlValue& value) {
  auto address = value.line(kLongestAddress);
  if (!has_scheme(address)) value.fail("an address begins with a scheme, such as notes://.");
  if (!std::all_of(address.begin(), address.end(), is_of_an_address))
    value.fail("an address has characters of ASCII that need no escape.");
  return address;
}

void check_inputs(const YamlValue& value, const CapabilityDefinition& capability,
                  const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const auto is = [&](const InputDefinition& input) {
      return input.name == name && input.type == InputType::kString;
    };
    if (std::none_of(capability.inputs.begin(), capability.inputs.end(), is))
      value.fail(fmt::format("\"{}\" is no input of {} of type String.", printable(name), capability.name));
  }
  for (const auto& input : capability.inputs) {
    if (input.required && std::find(names.begin(), names.end(), input.name) == names.end())
      value.fail(fmt::format("{} needs \"{}\", which the address does not have.", capability.name, input.name));
  }
}

const CapabilityDefinition& parse_read(const YamlValue& value, const ServiceDefinition& definition) {
  const auto name = value.line(100);
  const auto* capability = definition.find(name);
  if (!capability || capability->kind != CapabilityKind::kRead)
    value.fail(fmt::format("\"{}\" is no read of this definition.", printable(name)));
  const auto content = content_outputs(*capability);
  if (std::none_of(content.begin(), content.end(), [](const auto& c) { return c.kind == ContentKind::kResource; }))
    value.fail(fmt::format("{} has no output with \"content: resource\", which is what is read.", name));
  return *capability;
}

ResourceDefinition parse_resource(const YamlValue& value, const ServiceDefinition& definition) {
  const YamlMap map(value, {"uri", "name", "description", "mime_type", "read"});
  ResourceDefinition resource;
  const auto uri = map.at("uri");
  resource.uri = parse_address(uri);
  const auto name = map.at("name");
  resource.name = name.text();
  if (!is_plain_name(resource.name)) name.fail("a name has small letters, digits and _, at most 32, a letter first.");
  resource.description = map.at("description").line(1000);
  if (auto v = map.find("mime_type")) resource.mime_type = v->line(100);
  const auto& capability = parse_read(map.at("read"), definition);
  resource.capability = capability.name;
  check_inputs(uri, capability, inputs_in(uri, resource.uri));
  return resource;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    const auto at =
        std::string_view("0123456789abcdef").find(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = digit(text[i + 1]), low = digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (!is_valid_utf8(out) || out.find('\0') != std::string::npos) return std::nullopt;
  return out;
}

}  // namespace

bool has_inputs(std::string_view address) {
  return address.find('{') != std::string_view::npos;
}

std::optional<ResourceInputs> match_resource(std::string_view address, std::string_view uri) {
  ResourceInputs inputs;
  for (std::size_t at = 0; at < address.size(); ++at) {
    if (address[at] != '{') {
      if (uri.empty() || uri[0] != address[at]) return std::nullopt;
      uri.remove_prefix(1);
      continue;
    }
    const auto end = address.find('}', at);
    const auto stop = end + 1 < address.size() ? uri.find(address[end + 1]) : uri.size();
    const auto value = uri.substr(0, std::min(stop, uri.size()));
    auto decoded = percent_decoded(value);
    if (value.empty() || value.find('/') != std::string_view::npos || !decoded) return std::nullopt;
    inputs.emplace_back(address.substr(at + 1, end - at - 1), *std::move(decoded));
    uri.remove_prefix(value.size());
    at = end;
  }
  if (!uri.empty()) return std::nullopt;
  return inputs;
}

std::vector<ResourceDefinition> parse_resources(const YamlValue& value, const ServiceDefinition& definition) {
  std::vector<ResourceDefinition> all;
  for (const auto& item : value.list(kMostResources)) {
    auto resource = parse_resource(item, definition);
    for (const auto& other : all) {
      if (other.uri == resource.uri) item.fail(fmt::format("the address {} stands here twice.", other.uri));
    }
    all.push_back(std::move(resource));
  }
  return all;
}

}  // namespace krux
