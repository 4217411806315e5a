#include "adapter.hpp"

#include <kruxos/kit/json.hpp>

#include "inputs.hpp"
#include "messages.hpp"
#include "text.hpp"

namespace mcp {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;
using kruxos::kit::ObjectWriter;

constexpr std::size_t kLongestSaid = 1'000, kMostTold = 20;
constexpr int kMostComparisons = 3;
constexpr const char* kTools = "tools";  ///< the one part of a sync, so that a tool that is wrapped no more is none

/// A definition that is not that of what was agreed to: its input would not reach the server as what it is.
ProxyError not_agreed(const WrappedTool& tool, const std::string& input) {
  return ProxyError(ErrorKind::kInvalid,
                    "The definition has the input " + input + " of " + tool.capability +
                        ", and what was agreed to with the server does not: the operator compares the definition with "
                        "the one that kruxos adapter wrap has put beside it, and takes over what it says of this one.")
      .no_effect();
}

std::string arguments_of(const WrappedTool& tool, std::string_view params_json) {
  const auto params = kruxos::kit::parse(params_json);
  ObjectWriter out;
  std::string whole;
  if (!params.IsObject()) return out.done();
  for (const auto& one : params.GetObject()) {
    const std::string input(one.name.GetString(), one.name.GetStringLength());
    if (input == "account") continue;
    if (tool.whole) {
      if (input != kWhole) throw not_agreed(tool, input);
      whole = kruxos::kit::json_text(one.value);
      continue;
    }
    const auto known = tool.arguments.find(input);
    if (known == tool.arguments.end()) throw not_agreed(tool, input);
    out.raw(known->second, kruxos::kit::json_text(one.value));
  }
  return whole.empty() ? out.done() : whole;
}

Request call_of(const WrappedTool& tool, std::string_view params_json, std::string_view write_id) {
  ObjectWriter params;
  params.text("name", tool.tool).raw("arguments", arguments_of(tool, params_json));
  // Servers that look at it can tell two attempts of one write from two writes.
  if (!write_id.empty()) params.raw("_meta", ObjectWriter().text("kruxos/write_id", write_id).done());
  return {"tools/call", params.done(), write_id.empty()};
}

bool has_not_begun(const RpcError& error) {
  const auto code = error.code();
  return code == kNoRequest || code == kNoSuchMethod || code == kNoParams || code == kNoJson;
}

ProxyError tool_failed(std::string words) {
  if (words.empty()) words = "it says nothing of why";
  if (!words.ends_with('.') && !words.ends_with('!') && !words.ends_with('?')) words += '.';
  return ProxyError(ErrorKind::kRefused, "The tool failed: " + words).type("ToolFailed");
}

}  // namespace

ToolsAdapter::ToolsAdapter(kruxos::Host host, std::shared_ptr<const Wrapped> wrapped, std::unique_ptr<Link> link,
                           ToolErrors errors)
    : host_(host), wrapped_(std::move(wrapped)), link_(std::move(link)), errors_(errors), pins_(*wrapped_, *link_) {}

const WrappedTool& ToolsAdapter::tool(std::string_view capability) const {
  if (const auto* found = wrapped_->find(capability)) return *found;
  throw ProxyError(ErrorKind::kInvalid, "The definition has " + std::string(capability) + ", and " + wrapped_->service +
                                            ".mcp.json beside the adapter does not: wrap the server again.")
      .no_effect();
}

/// Sent only while the tool is what it was compared with.
ToolResult ToolsAdapter::ask(const kruxos::Call& call, const WrappedTool& called, Request request) {
  for (int comparisons = 0; comparisons < kMostComparisons; ++comparisons) {
    request.compared = pins_.must_match(call, called);
    try {
      return read_result(link_->ask(call, request));
    } catch (const NotCompared&) {
      // A session was begun for it, or the server has said that its tools have changed.
    }
  }
  throw ProxyError(ErrorKind::kUnavailable, "The server begins anew, or changes its tools, again and again.")
      .no_effect();
}

std::string ToolsAdapter::read(const kruxos::Call& call, const kruxos::Reader&, std::string_view capability,
                               std::string_view params_json) {
  const auto& called = tool(capability);
  // The definition can be edited; what a write is, is told by who agreed to it.
  if (!called.reads)
    throw ProxyError(ErrorKind::kRefused, "The server does not say that " + one_line(called.tool, 60) +
                                              " only reads: in the definition it stays a write.");
  try {
    auto result = ask(call, called, call_of(called, params_json, {}));
    if (result.failed) throw tool_failed(result.words);
    auto taken = taken_by_host(result, kLongestMessage);
    if (!taken)
      throw ProxyError(
          ErrorKind::kUnavailable,
          "The tool's answer is larger than 8 MiB, deeper than 30 levels, or has a name twice in one object: "
          "the host passes no such answer on.");
    return *std::move(taken);
  } catch (const RpcError& error) {
    throw tool_failed(one_line(error.what(), kLongestSaid));
  }
}

std::string ToolsAdapter::execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  const auto& called = tool(write.operation);
  try {
    auto result = ask(call, called, call_of(called, write.params_json, write.write_id));
    if (!result.failed) return kept_with_write(result);
    auto error = tool_failed(result.words);
    if (errors_ == ToolErrors::kRefused) throw error.no_effect();
    throw ProxyError(ErrorKind::kUnavailable, std::string(error.what()) + " Nobody knows what it had done by then.");
  } catch (const RpcError& error) {
    auto refused = tool_failed(one_line(error.what(), kLongestSaid));
    throw has_not_begun(error) ? refused.no_effect() : ProxyError(ErrorKind::kUnavailable, refused.what());
  }
}

kruxos::EffectFound ToolsAdapter::find_effect(const kruxos::Call&, const kruxos::BufferedWrite& write) {
  const auto* called = wrapped_->find(write.operation);
  return kruxos::EffectFound::cannot_tell(
      "An MCP server keeps no mark by which a write could be found: look there whether " +
      one_line(called ? called->tool : std::string(write.operation), 60) + " has happened.");
}

kruxos::SyncStep ToolsAdapter::full_sync(const kruxos::Call& call, kruxos::SyncStore& store) {
  const auto comparison = pins_.compare(call);
  if (comparison.what.empty()) {
    store.report_ok(kTools);
  } else {
    store.report_failure(kTools, ErrorKind::kConflict, comparison.what);
  }
  if (comparison.unwrapped != told_) {
    told_ = comparison.unwrapped;
    std::string names;
    for (std::size_t i = 0; i < std::min(told_.size(), kMostTold); ++i)
      names += (i == 0 ? "" : ", ") + one_line(told_[i], 60);
    if (!told_.empty())
      host_.log(KRUX_LOG_INFO,
                "The server has " + std::to_string(told_.size()) + " tools that are not wrapped: " + names);
  }
  return kruxos::SyncStep::done();
}

kruxos::SyncStep ToolsAdapter::incremental_sync(const kruxos::Call& call, kruxos::SyncStore& store, std::int64_t) {
  return full_sync(call, store);
}

kruxos::Identity ToolsAdapter::verify(const kruxos::Call& call) {
  (void)pins_.compare(call);
  // The protocol does not say whose token it is.
  return {wrapped_->service, wrapped_->service};
}

void ToolsAdapter::revoke(const kruxos::Call&) {
  throw ProxyError(ErrorKind::kUnsupported, "MCP has no way to take a token back: do that where it was made.")
      .no_effect();
}

}  // namespace mcp
