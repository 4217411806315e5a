#include "host/gateway/mcp/head.hpp"

#include <sodium.h>

#include "host/gateway/foreign_requests.hpp"

namespace krux::mcp {
namespace {

std::optional<std::string> value_of(const ServerRequest& request, std::string_view name) {
  const auto value = request.header(name);
  return value ? std::optional(std::string(*value)) : std::nullopt;
}

ParamHeaders parameters_of(const ServerRequest& request) {
  constexpr std::string_view begins = "mcp-param-";
  ParamHeaders all;
  for (const auto& [name, value] : request.headers) {
    if (name.starts_with(begins)) all.emplace_back(name.substr(begins.size()), value);
  }
  return all;
}

}  // namespace

Head::Head(const ServerRequest& request)
    : version(value_of(request, "mcp-protocol-version")),
      method(value_of(request, "mcp-method")),
      name(value_of(request, "mcp-name")),
      session(value_of(request, "mcp-session-id")),
      last_event(value_of(request, "last-event-id")),
      parameters(parameters_of(request)),
      tools(query_value(request.query, "tools").value_or("")),
      takes_events(request.header("accept").value_or("").find("text/event-stream") != std::string_view::npos),
      on_this_machine(is_of_this_machine(request)) {}

std::string session_key(const Head& head) {
  return head.conversation ? head.conversation->key() : head.session.value_or("");
}

bool goes_on_elsewhere(const Head& head) {
  return !head.conversation && head.session && head.version == kSessionVersions[0];
}

std::optional<std::string> decoded(std::string_view value) {
  constexpr std::string_view begins = "=?base64?", ends = "?=";
  if (value.size() < begins.size() + ends.size() || !value.starts_with(begins) || !value.ends_with(ends))
    return std::string(value);
  value.remove_prefix(begins.size());
  value.remove_suffix(ends.size());
  std::string bytes(value.size(), '\0');
  std::size_t size = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), value.data(), value.size(),
                        nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL) != 0)
    return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace krux::mcp
