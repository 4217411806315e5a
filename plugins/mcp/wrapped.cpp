#include "wrapped.hpp"

#include <kruxos/kit/json.hpp>

#include <algorithm>
#include <stdexcept>

#include "text.hpp"

namespace mcp {
namespace {

using kruxos::kit::Json;
using kruxos::kit::member;

constexpr std::size_t kMostWrapped = 256, kPinDigits = 64;
constexpr std::int64_t kSchema = 1;

[[noreturn]] void misfit(const std::string& what) {
  throw std::runtime_error(what);
}

std::string required_text(const Json& object, const char* name) {
  std::string text(kruxos::kit::text_of(object, name));
  if (text.empty()) misfit(std::string("it has no \"") + name + "\"");
  return text;
}

WrappedTool tool_of(const Json& object, const std::string& service) {
  WrappedTool tool;
  tool.capability = required_text(object, "capability");
  const auto begins = service + '.';
  if (!tool.capability.starts_with(begins) || !is_plain(std::string_view(tool.capability).substr(begins.size())))
    misfit("\"" + one_line(tool.capability, 60) + "\" is no capability of " + service);
  tool.tool = required_text(object, "tool");
  tool.pin = required_text(object, "pin");
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (tool.pin.size() != kPinDigits || !std::all_of(tool.pin.begin(), tool.pin.end(), is_digit))
    misfit("the pin of " + tool.capability + " is not 64 hexadecimal digits");
  tool.reads = kruxos::kit::flag_of(object, "reads");
  tool.whole = kruxos::kit::flag_of(object, "whole");
  if (const auto* arguments = member(object, "arguments")) {
    if (!arguments->IsObject()) misfit("the arguments of " + tool.capability + " are no object");
    for (const auto& one : arguments->GetObject()) {
      if (!one.value.IsString()) misfit("an argument of " + tool.capability + " is no text");
      tool.arguments.emplace(one.name.GetString(), std::string(one.value.GetString(), one.value.GetStringLength()));
    }
  }
  return tool;
}

}  // namespace

bool is_plain(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= 32 && name[0] >= 'a' && name[0] <= 'z' &&
         std::all_of(name.begin(), name.end(), fits);
}

const WrappedTool* Wrapped::find(std::string_view capability) const {
  const auto at =
      std::find_if(tools.begin(), tools.end(), [&](const auto& one) { return one.capability == capability; });
  return at == tools.end() ? nullptr : &*at;
}

Wrapped read_wrapped(std::string_view json) {
  const auto document = kruxos::kit::parse(json);
  if (document.HasParseError() || !document.IsObject()) misfit("it is no JSON object");
  if (kruxos::kit::integer_of(document, "schema") != kSchema) misfit("its \"schema\" is not 1");
  Wrapped wrapped;
  wrapped.service = required_text(document, "service");
  if (!is_plain(wrapped.service)) misfit("its service is no plain name");
  wrapped.version = required_text(document, "version");
  wrapped.url = kruxos::kit::text_of(document, "url");
  wrapped.command = kruxos::kit::texts_of(document, "command");
  for (const auto& word : wrapped.command) {
    // The system would start what stands before it.
    if (word.find('\0') != std::string::npos) misfit("a word of its command has a NUL");
  }
  if (wrapped.url.empty() == wrapped.command.empty()) misfit("it has either a \"url\" or a \"command\"");
  if (!wrapped.url.empty()) (void)address_of(wrapped.url);
  const auto* tools = kruxos::kit::objects_of(document, "tools");
  if (!tools || tools->Empty() || tools->Size() > kMostWrapped) misfit("it has 1 to 256 \"tools\"");
  for (const auto& one : tools->GetArray()) {
    auto tool = tool_of(one, wrapped.service);
    if (wrapped.find(tool.capability)) misfit(tool.capability + " stands there twice");
    wrapped.tools.push_back(std::move(tool));
  }
  return wrapped;
}

std::string json_of(const WrappedTool& tool) {
  kruxos::kit::ObjectWriter one;
  one.text("capability", tool.capability).text("tool", tool.tool).text("pin", tool.pin);
  if (tool.reads) one.flag("reads", true);
  if (tool.whole) one.flag("whole", true);
  if (!tool.arguments.empty()) {
    kruxos::kit::ObjectWriter arguments;
    for (const auto& [input, argument] : tool.arguments) arguments.text(input, argument);
    one.raw("arguments", arguments.done());
  }
  return one.done();
}

std::string json_of(const Wrapped& wrapped) {
  std::string out = "{\n  \"schema\": 1,\n";
  const auto line = [&](const char* name, const std::string& json) {
    out += std::string("  \"") + name + "\": " + json + ",\n";
  };
  line("service", kruxos::kit::quoted(wrapped.service));
  line("version", kruxos::kit::quoted(wrapped.version));
  if (wrapped.is_program()) {
    line("command", kruxos::kit::quoted_list(wrapped.command));
  } else {
    line("url", kruxos::kit::quoted(wrapped.url));
  }
  out += "  \"tools\": [";
  for (const auto& tool : wrapped.tools) {
    out += (&tool == &wrapped.tools.front() ? "\n    " : ",\n    ") + json_of(tool);
  }
  return out + "\n  ]\n}\n";
}

Address address_of(std::string_view url) {
  const auto scheme = url.substr(0, url.find("://"));
  if (scheme != "https" && scheme != "http") misfit("the address does not begin with https://");
  const auto begins = scheme.size() + 3;
  const auto ends = std::min(url.find_first_of("/?#", begins), url.size());
  const auto host = url.substr(begins, ends - begins);
  const auto rest = url.substr(ends);
  const auto stands = [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (host.empty() || host.find('@') != std::string_view::npos || rest.find('#') != std::string_view::npos ||
      !std::all_of(url.begin(), url.end(), stands))
    misfit("the address has no host, or a user, a fragment or characters that have no place in one");
  return {std::string(url.substr(0, ends)) + '/', std::string(rest.starts_with('/') ? rest.substr(1) : rest)};
}

}  // namespace mcp
