#include "emulators/gmail/call.hpp"

#include <algorithm>

#include "emulators/gmail/methods.hpp"
#include "emulators/gmail/related.hpp"

namespace krux::test::gmail {
namespace {

constexpr std::string_view kRoot = "/gmail/v1/users/";
// Above it mails are to be uploaded. Google does not say where it lies; people meet it between 5 and 7 MB.
constexpr std::size_t kMaxJson = 5u << 20;

std::string bare_type(const std::string& content_type) {
  return lower(content_type.substr(0, content_type.find_first_of("; ")));
}

// Whether writing it takes no recursion that a caller chose the depth of.
bool is_flat(const rapidjson::Value& value) {
  const auto nests = [](const rapidjson::Value& item) { return item.IsObject() || item.IsArray(); };
  return !value.IsObject() && (!value.IsArray() || std::none_of(value.Begin(), value.End(), nests));
}

void read_json(std::string_view text, Call& call) {
  auto document = std::make_shared<rapidjson::Document>();
  if (!parse_json(text, *document, OddText::kRefused)) {
    call.failure = invalid_argument("Invalid JSON payload received.");
    call.failure->reason = "parseError";
    return;
  }
  if (!document->IsObject()) {
    call.failure = invalid_argument("Invalid JSON payload received. Root element must be a message.");
    return;
  }
  for (const auto& entry : document->GetObject()) {
    const std::string name(entry.name.GetString(), entry.name.GetStringLength());
    if (name == "raw" || name == "message") continue;
    if (entry.value.IsString())
      call.params[name].assign(entry.value.GetString(), entry.value.GetStringLength());
    else if (is_flat(entry.value))
      call.params[name] = to_json(entry.value);
  }
  call.body = std::move(document);
}

MaybeFailure bad_upload(std::string message, const char* reason) {
  Failure failure = invalid_argument(std::move(message));
  failure.reason = reason;
  return failure;
}

MaybeFailure check_media_type(const std::string& type) {
  if (type.rfind("message/", 0) == 0) return std::nullopt;
  return bad_upload("Media type '" + type + "' is not supported. Valid media types: [message/*]", "badContent");
}

// The resource as JSON, then the mail.
void read_multipart(const HttpRequest& request, Call& call) {
  const auto parts = split_related(request.header("content-type"), request.body);
  if (!parts) {
    call.failure = bad_upload("Malformed multipart body.", "badRequest");
  } else if (parts->size() != 2) {
    call.failure =
        bad_upload("Invalid multipart request with " + std::to_string(parts->size()) + " mime parts.", "badContent");
  } else if ((*parts)[0].type != "application/json") {
    call.failure = bad_upload("The first part of a multipart upload is JSON.", "badContent");
  } else if (auto wrong = check_media_type((*parts)[1].type)) {
    call.failure = std::move(wrong);
  } else {
    read_json((*parts)[0].body, call);
    call.media = std::make_shared<const std::string>((*parts)[1].body);
  }
}

void read_upload(const HttpRequest& request, Call& call) {
  const std::string kind = call.in_query("uploadType");
  if (kind == "media") {
    call.encoding = "media";
    call.failure = check_media_type(bare_type(request.header("content-type")));
    if (!call.failure) call.media = std::make_shared<const std::string>(request.body);
  } else if (kind == "multipart") {
    call.encoding = "multipart";
    read_multipart(request, call);
  } else {
    call.failure = bad_upload("uploadType is media or multipart", "uploadTypeNotSupported");
  }
}

void read_body(const HttpRequest& request, Call& call) {
  if (request.body.empty() || request.method == "GET") return;
  if (request.body.size() > kMaxJson) {
    call.failure = request_too_large();
    return;
  }
  const std::string type = bare_type(request.header("content-type"));
  if (type != "application/json") {
    call.failure = invalid_argument("Invalid JSON payload received. The Content-Type is not application/json.");
    return;
  }
  call.encoding = "json";
  read_json(request.body, call);
}

void read_token(const HttpRequest& request, Call& call) {
  const std::string authorization = request.header("authorization");
  if (lower(authorization.substr(0, 7)) == "bearer ") {
    call.token = authorization.substr(7);
    call.token_from = "header";
  } else if (!call.in_query("access_token").empty()) {
    call.token = call.in_query("access_token");
    call.token_from = "query";
  } else {
    call.token_from = "none";
  }
  call.query.erase("access_token");
  call.params.erase("access_token");
}

}  // namespace

bool read_query(std::string_view text, std::map<std::string, std::vector<std::string>>& into) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decode_form_component(pair.substr(0, equals));
    const auto value = decode_form_component(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return false;
    into[*name].push_back(*value);
  }
  return true;
}

Call read_call(const HttpRequest& request) {
  Call call;
  call.verb = request.method;
  call.encoding = "none";
  std::string path = request.path;
  const bool upload = path.rfind("/upload/", 0) == 0;
  if (upload) path.erase(0, std::string("/upload").size());
  if (path.rfind(kRoot, 0) == 0) call.target = route(call.verb, path.substr(kRoot.size()), call.path);
  if (upload && call.target && call.target->max_upload == 0) call.target = nullptr;
  call.method = call.target ? call.target->id : "unknown";
  if (!read_query(request.query, call.query)) call.failure = invalid_argument("The query string is malformed.");
  call.params = call.path;
  for (const auto& [name, values] : call.query) {
    std::string joined;
    for (const std::string& value : values) joined += (joined.empty() ? "" : ",") + value;
    call.params[name] = joined;
  }
  read_token(request, call);
  if (!call.failure && call.target) upload ? read_upload(request, call) : read_body(request, call);
  return call;
}

}  // namespace krux::test::gmail
