#include "tool_result.hpp"

#include <kruxos/adapter/error.hpp>
#include <kruxos/kit/json.hpp>

#include "text.hpp"

namespace mcp {
namespace {

using kruxos::ErrorKind;
using kruxos::ProxyError;
using kruxos::kit::member;
using kruxos::kit::text_of;

constexpr std::size_t kLongestWords = 1'000;

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
  ToolResult result;
  result.failed = kruxos::kit::flag_of(document, "isError");
  if (result.failed) result.words = one_line(text, kLongestWords);
  kruxos::kit::ObjectWriter out;
  // Beside a structured answer the text is the same once more.
  if (structured && structured->IsObject()) {
    out.raw("structured", kruxos::kit::json_text(*structured));
  } else {
    out.text("text", text);
  }
  if (others.size() > 0) out.raw("content", others.done());
  result.json = out.done();
  return result;
}

}  // namespace mcp
