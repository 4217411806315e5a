#include "tool_result.hpp"

#include <kruxos/adapter/error.hpp>
#include <kruxos/kit/json.hpp>

#include <algorithm>
#include <set>

#include "text.hpp"

namespace mcp {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;
using kruxos::kit::member;
using kruxos::kit::text_of;

constexpr std::size_t kLongestWords = 1'000, kLargestKept = 900'000, kLongestKeptText = 4'000;
constexpr int kDeepestKept = 30;

bool can_be_kept(const kruxos::kit::Json& value, int depth) {  // NOLINT(misc-no-recursion): the depth ends it
  if (depth > kDeepestKept) return false;
  if (value.IsArray())
    return std::all_of(value.Begin(), value.End(), [&](const auto& item) { return can_be_kept(item, depth + 1); });
  if (!value.IsObject()) return true;
  std::set<std::string_view> names;
  return std::all_of(value.MemberBegin(), value.MemberEnd(), [&](const auto& one) {
    return names.emplace(one.name.GetString(), one.name.GetStringLength()).second && can_be_kept(one.value, depth + 1);
  });
}

}  // namespace

ToolResult read_result(std::string_view result_json) {
  const auto document = kruxos::kit::parse(result_json);
  if (document.HasParseError() || !document.IsObject())
    throw ProxyError(ErrorKind::kUnavailable, "The tool's answer was not understood.");
  const auto kind = text_of(document, "resultType", "complete");
  if (kind != "complete")
    throw ProxyError(ErrorKind::kRefused,
                     "The tool wants more than its input: the server answered with a result of type \"" +
                         one_line(kind, 40) + "\", which is not offered through the host.")
        .type("ToolAsks");
  const auto* structured = member(document, "structuredContent");
  const auto* content = kruxos::kit::objects_of(document, "content");
  if (!content && !(structured && structured->IsObject()))
    throw ProxyError(ErrorKind::kUnavailable, "The tool's answer has neither content nor structured content.");
  std::string text;
  kruxos::kit::ArrayWriter others;
  if (content) {
    for (const auto& part : content->GetArray()) {
      if (text_of(part, "type") != "text") {
        others.raw(kruxos::kit::json_text(part));
        continue;
      }
      if (!text.empty()) text += '\n';
      text += text_of(part, "text");
    }
  }
  const auto* failed = member(document, "isError");
  if (failed && !failed->IsBool() && !failed->IsNull())
    throw ProxyError(ErrorKind::kUnavailable, "The tool's answer does not say by true or false whether it failed.");
  ToolResult result;
  result.failed = failed && failed->IsTrue();
  if (result.failed) result.words = one_line(text, kLongestWords);
  kruxos::kit::ObjectWriter out;
  // Beside a structured answer the text is the same once more.
  if (structured && structured->IsObject()) {
    out.raw("structured", kruxos::kit::json_text(*structured));
  } else {
    // Later versions know structured answers that are no objects.
    const bool other = text.empty() && structured && !structured->IsNull();
    out.text("text", other ? kruxos::kit::json_text(*structured) : text);
  }
  if (others.size() > 0) out.raw("content", others.done());
  result.json = out.done();
  return result;
}

std::optional<std::string> taken_by_host(const ToolResult& result, std::size_t most_bytes) {
  const bool taken = result.json.size() <= most_bytes && can_be_kept(kruxos::kit::parse(result.json), 1);
  return taken ? std::optional(result.json) : std::nullopt;
}

std::string kept_with_write(const ToolResult& result) {
  if (auto whole = taken_by_host(result, kLargestKept)) return *std::move(whole);
  const auto document = kruxos::kit::parse(result.json);
  std::string said(text_of(document, "text"));
  (void)kruxos::kit::cut_text(said, kLongestKeptText);
  if (!said.empty()) said += '\n';
  return kruxos::kit::ObjectWriter()
      .text("text", said +
                        "(The tool has answered. The answer is not kept: it is larger than 900,000 bytes, deeper than "
                        "30 levels, or has a name twice in one object.)")
      .done();
}

}  // namespace mcp
