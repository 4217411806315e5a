#include "core/definition/resource_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/definition/definition_loader.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostResources = 64, kLongestAddress = 300;

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

/// Schemes have no "_".
std::string scheme_of(const ServiceDefinition& definition) {
  auto scheme = definition.prefix;
  std::replace(scheme.begin(), scheme.end(), '_', '-');
  return scheme;
}

/// Prefixes are each service's own, so that no definition can stand under an address of another one.
std::string parse_address(const YamlValue& value, const ServiceDefinition& definition) {
  auto address = value.line(kLongestAddress);
  const auto scheme = scheme_of(definition);
  if (!address.starts_with(scheme + ":"))
    value.fail(fmt::format("an address begins with the definition's prefix as its scheme: {}://.", scheme));
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

/// Whose change is the resource's.
RecordAddress parse_changes(const YamlValue& value, const std::vector<std::string>& inputs) {
  const YamlMap map(value, {"collection", "id"});
  RecordAddress record;
  const auto collection = map.at("collection");
  record.collection = collection.text();
  if (!is_plain_name(record.collection))
    collection.fail("a name has small letters, digits and _, at most 32, a letter first.");
  const auto id = map.find("id");
  if (!id) return record;
  record.id = id->line(kLongestAddress);
  for (const auto& name : inputs_in(*id, record.id)) {
    if (std::find(inputs.begin(), inputs.end(), name) == inputs.end())
      id->fail(fmt::format("\"{}\" is no input that stands in the address.", printable(name)));
  }
  return record;
}

ResourceDefinition parse_resource(const YamlValue& value, const ServiceDefinition& definition) {
  const YamlMap map(value, {"uri", "name", "description", "mime_type", "read", "changes_with"});
  ResourceDefinition resource;
  const auto uri = map.at("uri");
  resource.uri = parse_address(uri, definition);
  const auto name = map.at("name");
  resource.name = name.text();
  if (!is_plain_name(resource.name)) name.fail("a name has small letters, digits and _, at most 32, a letter first.");
  resource.description = map.at("description").line(1000);
  if (auto v = map.find("mime_type")) resource.mime_type = v->line(100);
  const auto& capability = parse_read(map.at("read"), definition);
  resource.capability = capability.name;
  const auto inputs = inputs_in(uri, resource.uri);
  check_inputs(uri, capability, inputs);
  if (auto v = map.find("changes_with")) resource.changes_with = parse_changes(*v, inputs);
  return resource;
}

/// Whether something that has no "/" may be both. Two with inputs are taken for that where only what stands before the
/// first and behind the last input could tell them apart, and does not.
bool parts_may_be_one(std::string_view a, std::string_view b) {
  if (!has_inputs(a)) return !has_inputs(b) ? a == b : match_resource(b, a).has_value();
  if (!has_inputs(b)) return match_resource(a, b).has_value();
  const auto before_a = a.substr(0, a.find('{')), before_b = b.substr(0, b.find('{'));
  const auto behind_a = a.substr(a.rfind('}') + 1), behind_b = b.substr(b.rfind('}') + 1);
  return (before_a.starts_with(before_b) || before_b.starts_with(before_a)) &&
         (behind_a.ends_with(behind_b) || behind_b.ends_with(behind_a));
}

/// Takes the part up to the next "/" from `rest`; nothing is left behind the last one.
std::string_view take_part(std::optional<std::string_view>& rest) {
  const auto slash = rest->find('/');
  const auto part = rest->substr(0, slash);
  if (slash == std::string_view::npos) {
    rest.reset();
  } else {
    rest->remove_prefix(slash + 1);
  }
  return part;
}

/// Whether an address may be one of both. Inputs have no "/", so that it falls into its parts.
bool may_be_one(std::string_view a, std::string_view b) {
  std::optional<std::string_view> rest_a = a, rest_b = b;
  while (rest_a && rest_b) {
    if (!parts_may_be_one(take_part(rest_a), take_part(rest_b))) return false;
  }
  return !rest_a && !rest_b;
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
      if (has_inputs(other.uri) && has_inputs(resource.uri) && may_be_one(other.uri, resource.uri))
        item.fail(fmt::format("an address could be one of {} and of {}: let them differ in a part between two /.",
                              other.uri, resource.uri));
    }
    all.push_back(std::move(resource));
  }
  return all;
}

}  // namespace krux
