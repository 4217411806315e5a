#include "host/gateway/mcp/resources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/resource_parser.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/gateway/mcp/content.hpp"

namespace krux::mcp {
namespace {

constexpr int kNotFoundWithSessions = -32002;  // of the versions before 2026-07-28, which has -32602
constexpr std::size_t kLongestAddressShown = 300;
constexpr std::size_t kLongestAddress = 4096;  // who waits for its changes has it in memory, several times

/// `take(resource, its capability)` of each that the agent may read, until it returns true.
template <class Take>
void each_resource(const std::vector<Offered>& offered, Take take) {
  for (const auto& one : offered) {
    for (const auto& resource : one.listed.definition->resources) {
      if (resource.capability == one.listed.capability->name && take(resource, one)) return;
    }
  }
}

std::string list_json(const std::vector<Offered>& offered, bool templates) {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  out.StartArray();
  each_resource(offered, [&](const ResourceDefinition& resource, const Offered&) {
    if (has_inputs(resource.uri) != templates) return false;
    out.StartObject();
    put(out, templates ? "uriTemplate" : "uri", resource.uri);
    put(out, "name", resource.name);
    put(out, "description", resource.description);
    if (!resource.mime_type.empty()) put(out, "mimeType", resource.mime_type);
    out.EndObject();
    return false;
  });
  out.EndArray();
  return {buffer.GetString(), buffer.GetSize()};
}

/// A record's id, with what stands in the address in its places.
std::string with_inputs(std::string_view id, const ResourceInputs& inputs) {
  std::string out;
  while (!id.empty()) {
    const auto open = id.find('{');
    const auto close = open == std::string_view::npos ? open : id.find('}', open);
    out += id.substr(0, open);
    if (close == std::string_view::npos) break;
    const auto name = id.substr(open + 1, close - open - 1);
    const auto at = std::find_if(inputs.begin(), inputs.end(), [&](const auto& input) { return input.first == name; });
    if (at != inputs.end()) out += at->second;
    id.remove_prefix(close + 1);
  }
  return out;
}

std::optional<ResourceRead> read_of(const ResourceDefinition& resource, const Offered& offered, std::string_view uri) {
  const auto inputs = match_resource(resource.uri, uri);
  if (!inputs) return std::nullopt;
  auto arguments = json_object([&](JsonWriter& out) {
    for (const auto& [name, value] : *inputs) put(out, name, value);
  });
  auto changes_with = resource.changes_with;
  if (changes_with) changes_with->id = with_inputs(changes_with->id, *inputs);
  return ResourceRead{std::string(uri),
                      resource.capability,
                      std::move(arguments),
                      offered.several_accounts,
                      offered.listed.definition->service,
                      std::move(changes_with)};
}

RpcError failed_read(const std::string& error_json, const ResourceRead& read, bool stateless) {
  const auto error = parse_json(error_json, "an error");
  const auto type = find_string(error, "type").value_or("");
  // An adapter's own types of what is not there end as the host's do: NoteNotFound.
  if (type.ends_with(ErrorType(ErrorCode::kNotFound).name())) return no_such_resource(read.uri, stateless);
  std::string message(find_string(error, "message").value_or(""));
  if (read.several_accounts && type == ErrorType(ErrorCode::kInvalidInput).name())
    message += fmt::format(" An address names no account: call the tool {}, which takes \"account\".",
                           tool_name(read.capability));
  return {rpc_code::kInternal, std::move(message), error_json};
}

}  // namespace

std::string resources_json(const std::vector<Offered>& offered) {
  return list_json(offered, false);
}

std::string resource_templates_json(const std::vector<Offered>& offered) {
  return list_json(offered, true);
}

std::optional<ResourceRead> resource_at(const std::vector<Offered>& offered, std::string_view uri) {
  std::optional<ResourceRead> found;
  if (uri.size() > kLongestAddress) return found;
  for (const bool templates : {false, true}) {
    each_resource(offered, [&](const ResourceDefinition& resource, const Offered& one) {
      if (!found && has_inputs(resource.uri) == templates) found = read_of(resource, one, uri);
      return found.has_value();
    });
  }
  return found;
}

std::optional<std::pair<const ResourceDefinition*, Offered>> resource_template(const std::vector<Offered>& offered,
                                                                               std::string_view uri) {
  std::optional<std::pair<const ResourceDefinition*, Offered>> found;
  each_resource(offered, [&](const ResourceDefinition& resource, const Offered& one) {
    if (resource.uri == uri && has_inputs(uri)) found.emplace(&resource, one);
    return found.has_value();
  });
  return found;
}

RpcError no_such_resource(std::string_view uri, bool stateless) {
  const auto shown = printable(uri.substr(0, kLongestAddressShown));
  return {stateless ? rpc_code::kInvalidParams : kNotFoundWithSessions,
          fmt::format("There is no resource \"{}\". resources/list and resources/templates/list show all.", shown),
          json_object([&](JsonWriter& out) { put(out, "uri", shown); })};
}

RpcOutcome resource_result(const InvocationResult& result, const ResourceRead& read, const ResultForm& form) {
  if (!result.success) return failed_read(with_tool_names(result.error_json, form.knows), read, form.stateless);
  const auto contents = resources_of(result.data_json, result.content);
  if (contents.empty())
    return RpcError{
        rpc_code::kInternal,
        fmt::format("What was read cannot be shown as a resource: the adapter gave another form than its definition "
                    "says, or it is too large. Call the tool {} instead, which tells what there is.",
                    tool_name(read.capability)),
        {}};
  return json_object([&](JsonWriter& out) {
    if (form.stateless) put(out, "resultType", "complete");
    put_result_meta(out, result, form);
    put_key(out, "contents");
    out.StartArray();
    for (const auto& one : contents) out.RawValue(one.data(), one.size(), rapidjson::kObjectType);
    out.EndArray();
    if (!form.stateless) return;
    put(out, "ttlMs", std::int64_t{0});  // the next read may show more: nobody is told of it
    put(out, "cacheScope", "private");
  });
}

}  // namespace krux::mcp
