#include "tools.hpp"

#include <sodium.h>
#include <kruxos/kit/text.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace mcp {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;
using kruxos::kit::Json;
using kruxos::kit::member;
using kruxos::kit::ObjectWriter;
using kruxos::kit::text_of;

constexpr std::size_t kMostListed = 1'000, kMostPages = 200, kLongestTool = 256;

ProxyError unclear(const std::string& what) {
  return ProxyError(ErrorKind::kUnavailable, "The server's list of tools was not understood: " + what).no_effect();
}

/// The value with the members of its objects in order, so that two texts of the same value are the same.
std::string ordered(const Json& value) {  // NOLINT(misc-no-recursion): the parser bounds the depth
  if (value.IsArray()) {
    kruxos::kit::ArrayWriter out;
    for (const auto& item : value.GetArray()) out.raw(ordered(item));
    return out.done();
  }
  if (!value.IsObject()) return kruxos::kit::json_text(value);
  std::vector<std::pair<std::string_view, const Json*>> members;
  for (const auto& one : value.GetObject())
    members.emplace_back(std::string_view(one.name.GetString(), one.name.GetStringLength()), &one.value);
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ObjectWriter out;
  for (const auto& [name, one] : members) out.raw(name, ordered(*one));
  return out.done();
}

std::string pin_of(const Json& tool) {
  ObjectWriter out;
  for (const auto* name : {"annotations", "description", "inputSchema", "name", "outputSchema", "title"}) {
    if (const auto* value = member(tool, name)) out.raw(name, ordered(*value));
  }
  return sha256_hex(out.done());
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::array<char, crypto_hash_sha256_BYTES * 2 + 1> text{};
  sodium_bin2hex(text.data(), text.size(), hash.data(), hash.size());
  return {text.data(), text.size() - 1};
}

Tool read_tool(const Json& object) {
  Tool tool;
  tool.name = text_of(object, "name");
  if (tool.name.empty() || tool.name.size() > kLongestTool) throw unclear("a tool has no name of at most 256 bytes.");
  const auto* input = member(object, "inputSchema");
  if (!input || !input->IsObject())
    throw unclear("the tool " + kruxos::kit::printable(tool.name, 60) + " has no inputSchema.");
  tool.input_schema_json = kruxos::kit::json_text(*input);
  tool.title = text_of(object, "title");
  tool.description = text_of(object, "description");
  if (const auto* hints = member(object, "annotations")) {
    const auto hint = [&](const char* name, bool otherwise) {
      const auto* value = member(*hints, name);
      return value && value->IsBool() ? value->GetBool() : otherwise;
    };
    if (tool.title.empty()) tool.title = text_of(*hints, "title");
    tool.reads_only = hint("readOnlyHint", false);
    tool.destroys = hint("destructiveHint", true);
    tool.can_repeat = hint("idempotentHint", false);
  }
  tool.pin = pin_of(object);
  return tool;
}

std::vector<Tool> list_tools(const kruxos::Call& call, Link& link) {
  std::vector<Tool> tools;
  std::set<std::string> names;
  std::string cursor;
  for (std::size_t page = 0; page < kMostPages; ++page) {
    ObjectWriter params;
    if (!cursor.empty()) params.text("cursor", cursor);
    const auto answer = kruxos::kit::parse_object(link.ask(call, {"tools/list", params.done(), true}),
                                                  "The server's list of tools is no object.");
    const auto* listed = kruxos::kit::objects_of(answer, "tools");
    if (!listed) throw unclear("it has no tools.");
    for (const auto& one : listed->GetArray()) {
      tools.push_back(read_tool(one));
      if (tools.size() > kMostListed) throw unclear("there are more than 1,000.");
      if (!names.insert(tools.back().name).second)
        throw unclear("the tool " + kruxos::kit::printable(tools.back().name, 60) + " stands there twice.");
    }
    const std::string next(text_of(answer, "nextCursor"));
    if (next.empty()) return tools;
    if (next == cursor) throw unclear("its pages lead in circles.");
    cursor = next;
  }
  throw unclear("it has more than 200 pages.");
}

}  // namespace mcp
