#include "emulators/slack/params.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux::test::slack;

namespace {

HttpRequest post(const std::string& content_type, const std::string& body) {
  HttpRequest request;
  request.method = "POST";
  if (!content_type.empty()) request.headers["content-type"] = content_type;
  request.body = body;
  return request;
}

const std::string kForm = "application/x-www-form-urlencoded";

}  // namespace

TEST_CASE("forms, queries and JSON bodies give the same parameters") {
  HttpRequest get;
  get.method = "GET";
  get.query = "channel=C1&text=a+b%21";
  for (const HttpRequest& request :
       {get, post(kForm, "channel=C1&text=a%20b%21"),
        post("application/json; charset=utf-8", R"({"channel":"C1","text":"a b!","unset":null})")}) {
    const Call call = read_call(request, "chat.postMessage");
    CHECK(call.error.empty());
    CHECK(call.params == std::map<std::string, std::string>{{"channel", "C1"}, {"text", "a b!"}});
    CHECK(call.warnings.empty());
  }
  CHECK(read_call(post("application/json", R"({"n":5,"flag":true,"metadata":{"a":[1]}})"), "m").text("metadata") ==
        R"({"a":[1]})");
}

TEST_CASE("the token comes from the header or a form, never from a query or JSON") {
  HttpRequest request = post(kForm, "token=xoxb-form&a=1");
  CHECK(read_call(request, "m").token == "xoxb-form");
  CHECK(read_call(request, "m").token_from == "form");
  CHECK_FALSE(read_call(request, "m").has("token"));
  request.headers["authorization"] = "Bearer xoxb-header";
  CHECK(read_call(request, "m").token == "xoxb-header");
  CHECK(read_call(request, "m").token_from == "header");
  request = post("application/json", R"({"token":"xoxb-json"})");
  CHECK(read_call(request, "m").token.empty());
  request = post(kForm, "a=1");
  request.query = "token=xoxb-query";
  CHECK(read_call(request, "m").token.empty());
  CHECK(read_call(request, "m").token_from == "none");
}

TEST_CASE("requests that cannot be read are refused by Slack's names") {
  const auto error = [](const HttpRequest& request) { return read_call(request, "m").error; };
  CHECK(error(post("application/json", "{")) == "invalid_json");
  CHECK(error(post("application/json", "{\"a\":\"\xFF\"}")) == "invalid_json");
  CHECK(error(post("application/json", std::string(200000, '['))) == "invalid_json");
  CHECK(error(post("application/json", "[]")) == "json_not_object");
  CHECK(error(post("text/xml", "<a/>")) == "invalid_post_type");
  CHECK(error(post("", "a=1")) == "missing_post_type");
  CHECK(error(post("application/json; charset=utf-7", "{}")) == "invalid_charset");
  CHECK(error(post(kForm, "a=%zz")) == "invalid_form_data");
  CHECK(error(post(kForm, "a=%C3%28")) == "invalid_form_data");
  CHECK(error(post(kForm, "a[0]=1")) == "invalid_array_arg");
  CHECK(error(post(kForm, "b%20c=1")) == "invalid_arg_name");
}

TEST_CASE("charsets that are missing or superfluous are warned of") {
  CHECK(read_call(post("application/json", "{}"), "m").warnings == std::vector<std::string>{"missing_charset"});
  CHECK(read_call(post(kForm + "; charset=utf-8", ""), "m").warnings ==
        std::vector<std::string>{"superfluous_charset"});
}

}  // namespace KRUXOS_TEST_FILE
