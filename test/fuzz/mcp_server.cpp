// What an upstream MCP server says: messages, streams of them, its tools and their answers. Whatever tools it names,
// the definition that is made of them is one that the host takes.
#include <kruxos/kit/json.hpp>

#include <set>

#include "core/definition/definition_loader.hpp"
#include "fuzz/fuzz.hpp"
#include "mcp/definition_text.hpp"
#include "mcp/events.hpp"
#include "mcp/messages.hpp"
#include "mcp/tool_result.hpp"

namespace {

using krux::fuzz::require;

constexpr std::size_t kMostKept = 8u << 20;

bool is_object(const std::string& json) {
  const auto document = kruxos::kit::parse(json);
  return !document.HasParseError() && document.IsObject();
}

void read_answer(const std::string& result) {
  try {
    const auto answer = mcp::read_result(result);
    require(is_object(answer.json), "an answer is one object");
    require(is_object(mcp::kept_with_write(answer)), "so is what is kept of it");
    if (const auto taken = mcp::taken_by_host(answer, kMostKept))
      require(is_object(*taken), "so is what the host takes");
    require(answer.words.find('\n') == std::string::npos, "its words are one line");
  } catch (const kruxos::ProxyError&) {
  }
}

void read_message(std::string_view bytes) {
  for (const auto& one : mcp::read_messages(bytes)) {
    if (one.is_request()) require(is_object(mcp::reply_to(one)), "a request is answered by one object");
    if (one.answer && std::holds_alternative<std::string>(*one.answer)) read_answer(std::get<std::string>(*one.answer));
    if (!one.answer) continue;
    mcp::Handshake handshake;
    try {
      for (auto next = handshake.take(*one.answer); next; next = handshake.take(*one.answer))
        require(is_object(next->params_json), "parameters are one object");
    } catch (const kruxos::ProxyError&) {
    } catch (const mcp::RpcError&) {
    }
  }
}

void wrap_tools(std::string_view bytes) {
  const auto document = kruxos::kit::parse(bytes);
  if (document.HasParseError()) return;
  const auto* listed = kruxos::kit::objects_of(document, "tools");
  if (!listed) return;
  std::vector<mcp::Tool> tools;
  std::set<std::string> names;
  for (const auto& one : listed->GetArray()) {
    try {
      auto tool = mcp::read_tool(one);
      if (names.insert(tool.name).second) tools.push_back(std::move(tool));
    } catch (const kruxos::ProxyError&) {
    }
  }
  if (tools.empty()) return;
  mcp::Plan plan;
  plan.service = "server";
  plan.display_name = tools[0].name;
  plan.url = "https://mcp.example/mcp";
  const auto first = mcp::wrap(plan, tools, nullptr);
  (void)krux::parse_definition(first.definition, "server");
  const auto read = mcp::read_wrapped(mcp::json_of(first.wrapped));
  require(mcp::json_of(read) == mcp::json_of(first.wrapped), "what was agreed to is read as it was written");
  const auto again = mcp::wrap(plan, tools, &read);
  for (std::size_t i = 0; i < read.tools.size(); ++i)
    require(again.wrapped.tools.at(i).capability == read.tools[i].capability, "tools keep their names");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_message(bytes);
  read_answer(std::string(bytes));
  wrap_tools(bytes);
  // However a stream is cut, its events are the same.
  mcp::Events whole, cut;
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < size; at += 3) {
    for (auto& one : cut.add(bytes.substr(at, 3))) parts.push_back(std::move(one));
  }
  require(whole.add(bytes) == parts, "events do not depend on how they arrive");
  for (const auto& one : parts) read_message(one);
  return 0;
}
