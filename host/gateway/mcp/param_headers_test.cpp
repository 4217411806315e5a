#include "host/gateway/mcp/param_headers.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::vector<InputDefinition> inputs() {
  std::vector<InputDefinition> all(3);
  all[0].name = "region";
  all[0].header = "Region";
  all[1].name = "size";
  all[1].type = InputType::kInteger;
  all[1].header = "Size";
  all[2].name = "fast";
  all[2].type = InputType::kBoolean;
  all[2].header = "X-Fast";
  return all;
}

std::string why(const mcp::ParamHeaders& headers, const std::string& arguments) {
  const auto error = mcp::why_unlike_arguments(inputs(), headers, arguments);
  if (!error) return "";
  CHECK(error->code == -32020);
  CHECK(error->data_json == R"({"headers":{"Region":"region","Size":"size","X-Fast":"fast"}})");
  return error->message;
}

}  // namespace

TEST_CASE("what a tool's head repeats must be what its body gives") {
  CHECK(why({}, "{}").empty());
  CHECK(why({}, "").empty());
  CHECK(why({}, R"({"region":null,"other":1})").empty());
  CHECK(why({{"region", "eu"}, {"other", "x"}}, R"({"region":"eu"})").empty());
  CHECK(why({{"region", "=?base64?SGVsbG8=?="}}, R"({"region":"Hello"})").empty());
  CHECK(why({{"region", "SGVsbG8="}}, R"({"region":"SGVsbG8="})").empty());
  CHECK(why({{"region", "=?base64?SGVsbG8="}}, R"({"region":"=?base64?SGVsbG8="})").empty());
  CHECK(why({{"size", "42"}, {"x-fast", "true"}}, R"({"size":42.0,"fast":true})").empty());
  const std::string missing = "The header Mcp-Param-Region is missing: it repeats \"region\".";
  const std::string other = "Mcp-Param-Region is not \"region\" of the body.";
  CHECK(why({}, R"({"region":"eu"})") == missing);
  CHECK(why({}, R"({"region":""})") == missing);
  CHECK(why({{"region", "us"}}, R"({"region":"eu"})") == other);
  CHECK(why({{"region", "EU"}}, R"({"region":"eu"})") == other);
  CHECK(why({{"region", "eu"}}, "{}") == other);
  CHECK(why({{"region", "eu"}, {"region", "eu"}}, R"({"region":"eu"})") == other);
  CHECK(why({{"region", "=?base64?SGVsbG8?="}}, R"({"region":"Hello"})") == other);
  CHECK(why({{"region", "=?base64?SGVs!!!bG8=?="}}, R"({"region":"Hello"})") == other);
  CHECK_FALSE(why({{"size", "042x"}}, R"({"size":42})").empty());
  CHECK_FALSE(why({{"x-fast", "True"}}, R"({"fast":true})").empty());
  CHECK_FALSE(mcp::why_unlike_arguments({}, {}, R"({"region":"eu"})"));
  CHECK_FALSE(mcp::why_unlike_arguments(inputs(), {}, "[1]"));
}

}  // namespace KRUXOS_TEST_FILE
