#include "emulators/gmail/batch.hpp"

#include <fmt/format.h>

#include "emulators/common/text.hpp"
#include "emulators/gmail/failure.hpp"
#include "emulators/gmail/mime.hpp"

namespace krux::test::gmail {
namespace {

struct Inner {
  HttpRequest request;
  std::string content_id;
};

// "GET /gmail/v1/users/me/messages/5?x=1 HTTP/1.1", headers, an empty line, a body. Outer headers hold for every part
// that does not set them itself, those of the content apart.
std::optional<Inner> read_part(const Part& part, const HttpRequest& outer) {
  if (part.mime_type != "application/http") return std::nullopt;
  Inner inner;
  if (const std::string* id = part.header("Content-ID")) inner.content_id = *id;
  std::string_view text = part.body;
  while (!text.empty() && (text[0] == '\r' || text[0] == '\n')) text.remove_prefix(1);
  const std::size_t end = text.find('\n');
  std::string line(text.substr(0, end));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  const std::size_t space = line.find(' ');
  if (space == std::string::npos) return std::nullopt;
  inner.request.method = line.substr(0, space);
  std::string target = line.substr(space + 1);
  target = target.substr(0, target.find(' '));
  if (target.empty() || target[0] != '/') return std::nullopt;
  const std::size_t query = target.find('?');
  inner.request.path = target.substr(0, query);
  if (query != std::string::npos) inner.request.query = target.substr(query + 1);
  for (const auto& [name, value] : outer.headers) {
    if (name.rfind("content-", 0) != 0) inner.request.headers[name] = value;
  }
  std::string_view body;
  for (const Header& header : parse_headers(text, &body)) inner.request.headers[lower(header.name)] = header.value;
  while (!body.empty() && (body.back() == '\r' || body.back() == '\n')) body.remove_suffix(1);
  inner.request.body = std::string(body);
  return inner;
}

HttpAnswer refused(const std::string& message) {
  Failure failure = invalid_argument(message);
  failure.reason = "badRequest";
  return to_answer(failure);
}

std::string response_id(std::string id) {
  if (!id.empty() && id.front() == '<') id.erase(0, 1);
  if (!id.empty() && id.back() == '>') id.pop_back();
  return "<response-" + id + ">";
}

}  // namespace

HttpAnswer answer_batch(const HttpRequest& request, const std::function<HttpAnswer(const HttpRequest&)>& run) {
  if (request.method != "POST") return to_answer(not_found("Method not found."));
  const Part whole = parse_mail("Content-Type: " + request.header("content-type") + "\r\n\r\n" + request.body);
  if (whole.mime_type != "multipart/mixed" || whole.parts.empty()) {
    return refused("Failed to parse batch request, error: Failed in parsing HTTP headers: no multipart/mixed parts");
  }
  if (whole.parts.size() > kMaxBatchCalls) {
    return refused(fmt::format("The batch request has too many calls: at most {}.", kMaxBatchCalls));
  }
  std::vector<Inner> calls;
  for (const Part& part : whole.parts) {
    const auto inner = read_part(part, request);
    if (!inner) return refused("Failed to parse batch request, error: Failed in parsing a part");
    calls.push_back(*inner);
  }
  HttpAnswer answer;
  const std::string boundary = "batch_kruxEmulatorAnswer";
  answer.content_type = "multipart/mixed; boundary=" + boundary;
  for (const Inner& call : calls) {
    answer.body += "--" + boundary + "\r\nContent-Type: application/http\r\n";
    if (!call.content_id.empty()) answer.body += "Content-ID: " + response_id(call.content_id) + "\r\n";
    answer.body += "\r\n" + serialize(run(call.request)) + "\r\n";
  }
  answer.body += "--" + boundary + "--\r\n";
  return answer;
}

}  // namespace krux::test::gmail
