#include "emulators/slack/params.hpp"

#include <algorithm>
#include <cctype>

#include "emulators/common/json_out.hpp"

namespace krux::test::slack {
namespace {

std::string check_name(const std::string& name) {
  if (name.find('[') != std::string::npos) return "invalid_array_arg";
  const bool plain =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
  return plain && !name.empty() && name.size() <= 64 ? "" : "invalid_arg_name";
}

void read_pairs(std::string_view text, const char* malformed, Call& call) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decode_form_component(pair.substr(0, equals));
    const auto value = decode_form_component(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) {
      call.error = malformed;
      return;
    }
    if (const std::string wrong = check_name(*name); !wrong.empty()) {
      call.error = wrong;
      return;
    }
    call.params[*name] = *value;
  }
}

void read_json_body(const std::string& body, Call& call) {
  rapidjson::Document document;
  if (!parse_json(body, document, OddText::kRefused)) {
    call.error = "invalid_json";
    return;
  }
  if (!document.IsObject()) {
    call.error = "json_not_object";
    return;
  }
  for (const auto& entry : document.GetObject()) {
    if (entry.value.IsNull()) continue;
    const std::string name(entry.name.GetString(), entry.name.GetStringLength());
    if (entry.value.IsString())
      call.params[name].assign(entry.value.GetString(), entry.value.GetStringLength());
    else
      call.params[name] = to_json(entry.value);
  }
}

// The charset of a Content-Type, in lower case and without quotes.
std::string charset_of(const std::string& content_type) {
  const std::size_t at = content_type.find("charset=");
  if (at == std::string::npos) return "";
  std::string charset = content_type.substr(at + 8, content_type.find(';', at) - at - 8);
  charset.erase(std::remove_if(charset.begin(), charset.end(), [](char c) { return c == '"' || c == ' '; }),
                charset.end());
  return charset;
}

void read_post(const HttpRequest& request, Call& call) {
  const std::string content_type = lower(request.header("content-type"));
  const std::string type = content_type.substr(0, content_type.find_first_of("; "));
  const std::string charset = charset_of(content_type);
  if (!charset.empty() && charset != "utf-8" && charset != "iso-8859-1") {
    call.error = "invalid_charset";
  } else if (type == "application/json") {
    call.encoding = "json";
    if (charset.empty()) call.warnings.push_back("missing_charset");
    read_json_body(request.body, call);
  } else if (type == "application/x-www-form-urlencoded") {
    call.encoding = "form";
    if (!charset.empty()) call.warnings.push_back("superfluous_charset");
    read_pairs(request.body, "invalid_form_data", call);
  } else if (type.empty() && !request.body.empty()) {
    call.error = "missing_post_type";
  } else if (!type.empty()) {
    call.error = "invalid_post_type";
  }
}

// From the Authorization header or a form's `token`. One in the query string or in a JSON body is not looked at.
void take_token(const HttpRequest& request, const Call& from_query, Call& call) {
  const std::string authorization = request.header("authorization");
  const bool bearer = lower(authorization.substr(0, 7)) == "bearer ";
  if (bearer)
    call.token = authorization.substr(7);
  else if (call.encoding == "form" && !from_query.has("token"))
    call.token = call.text("token");
  call.token_from = bearer ? "header" : call.token.empty() ? "none" : "form";
  call.params.erase("token");
}

}  // namespace

Call read_call(const HttpRequest& request, const std::string& method) {
  Call call;
  call.verb = request.method;
  call.method = method;
  call.encoding = "query";
  read_pairs(request.query, "invalid_form_data", call);
  const Call from_query = call;
  if (request.method == "POST" && call.error.empty()) read_post(request, call);
  take_token(request, from_query, call);
  return call;
}

}  // namespace krux::test::slack
