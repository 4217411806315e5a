// Whatever a server calls its tools and says of them: what wrapping writes is read by the host, or wrapping refuses.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <map>
#include <random>

#include "core/definition/definition_loader.hpp"
#include "core/util/error.hpp"
#include "mcp/definition_text.hpp"
#include "mcp/names.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using namespace mcp;

namespace {

const std::vector<std::string> kNames{
    "null",           "~",    "true",  "no",  "y",   "on",  "1e3", ".inf", "0x1f", "account",   "send_at",
    "name",           "type", "a: b",  "- a", "# a", "{a}", "[a]", "*a",   "&a",   "!a",        "%a",
    "\"a\"",          "'a'",  "größe", "A_B", "aB",  "a_b", "a-b", "a b",  "_",    "__proto__", "idempotency_key",
    "allow_duplicate"};
const std::vector<std::string> kPieces{"a",
                                       "word ",
                                       ": ",
                                       "# ",
                                       "\"",
                                       "\\",
                                       "{",
                                       "}",
                                       "{a}",
                                       "[",
                                       "]",
                                       ", ",
                                       "\n",
                                       "\t",
                                       "\r",
                                       "\\u0085",
                                       "\\u2028",
                                       "\\u202e",
                                       "\\ufeff",
                                       "\\ufffe",
                                       "\\uffff",
                                       "\\u007f",
                                       "\\u009b",
                                       "%",
                                       "---\n",
                                       "\\ud83d\\ude00",
                                       "\\udbff\\udfff",
                                       "\\u0001",
                                       "'",
                                       "&a",
                                       "*a",
                                       "!!",
                                       "\\u00e9",
                                       "ß",
                                       ". ",
                                       "\xe2\x80\x8b"};

class Servers {
 public:
  explicit Servers(unsigned seed) : random_(seed) {}

  std::size_t upto(std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(random_); }
  bool often() { return upto(2) > 0; }

  /// A JSON text.
  std::string text() {
    std::string raw = "\"";
    const auto count = upto(9) == 0 ? 300 + upto(1'200) : upto(12);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& piece = kPieces[upto(kPieces.size() - 1)];
      for (const char c : piece) {
        if (c == '"' || (c == '\\' && piece.size() == 1)) raw += '\\';
        raw += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : std::string(1, c);
      }
    }
    return raw + '"';
  }
  std::string name() {
    if (often()) return kruxos::kit::quoted(kNames[upto(kNames.size() - 1)]);
    if (upto(3) == 0) return kruxos::kit::quoted(std::string(1 + upto(80), static_cast<char>('a' + upto(2))));
    return text();
  }
  std::string number() {
    static const std::vector<std::string> odd{"0",
                                              "-1",
                                              "5",
                                              "100",
                                              "1000000",
                                              "1000001",
                                              "9007199254740993",
                                              "-9223372036854775808",
                                              "18446744073709551615",
                                              "1e300",
                                              "2.5",
                                              "-0.0",
                                              "\"7\"",
                                              "null",
                                              "true"};
    return odd[upto(odd.size() - 1)];
  }
  std::string values() {
    std::string list;
    const auto count = upto(7) == 0 ? 99 + upto(3) : upto(4);
    for (std::size_t i = 0; i < count; ++i)
      list += (i == 0 ? "" : ",") + (upto(20) == 0 ? number() : upto(3) == 0 ? text() : name());
    return '[' + list + ']';
  }
  std::string schema(int depth) {  // NOLINT(misc-no-recursion): the depth ends it
    static const std::vector<std::string> types{R"("string")",
                                                R"("integer")",
                                                R"("number")",
                                                R"("boolean")",
                                                R"("array")",
                                                R"("object")",
                                                R"("null")",
                                                R"(["string","null"])",
                                                R"(["integer","string"])",
                                                R"("odd")",
                                                "7",
                                                "[]"};
    if (upto(30) == 0) return upto(1) == 0 ? "true" : "[]";
    std::string out = R"({"type":)" + types[upto(types.size() - 1)];
    if (upto(12) == 0) out = R"({"x":1)";
    for (const auto* bound : {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}) {
      if (upto(3) == 0) out += fmt::format(R"(,"{}":{})", bound, number());
    }
    if (upto(3) == 0) out += R"(,"enum":)" + values();
    if (often()) out += R"(,"description":)" + text();
    if (upto(2) == 0) out += R"(,"default":)" + (upto(1) == 0 ? text() : number());
    if (upto(3) == 0) out += R"(,"title":)" + text();
    if (upto(9) == 0) out += R"(,"$ref":"#/$defs/X")";
    if (depth > 0 && upto(2) == 0) out += R"(,"items":)" + schema(depth - 1);
    if (depth > 0 && upto(2) == 0) out += R"(,"properties":)" + properties(depth - 1);
    if (depth > 0 && upto(5) == 0) out += R"(,"anyOf":[)" + schema(depth - 1) + R"(,{"type":"null"}])";
    return out + '}';
  }
  std::string properties(int depth) {  // NOLINT(misc-no-recursion)
    std::string out;
    const auto count = upto(40) == 0 ? 58 + upto(5) : upto(6);
    for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + name() + ':' + schema(depth);
    return '{' + out + '}';
  }
  Tool tool() {
    std::string json = R"({"name":)" + (often() ? name() : text());
    if (often()) json += R"(,"description":)" + text();
    if (upto(2) == 0) json += R"(,"title":)" + text();
    if (often())
      json += fmt::format(R"(,"annotations":{{"readOnlyHint":{},"destructiveHint":{},"idempotentHint":{}}})",
                          upto(1) == 0, number(), upto(1) == 0);
    json += R"(,"inputSchema":{"properties":)" + properties(3) + R"(,"required":)" + values() + R"(,"$defs":{"X":)" +
            schema(1) + "}}}";
    const auto document = kruxos::kit::parse(json);
    if (document.HasParseError()) throw std::logic_error("no JSON: " + json);
    return read_tool(document);
  }
  std::vector<Tool> tools(std::size_t most) {
    std::map<std::string, Tool> all;
    while (all.empty() || upto(most) > 0) {
      try {
        auto one = tool();
        all.emplace(one.name, one);
      } catch (const kruxos::ProxyError&) {  // no name of 256 bytes
      }
    }
    std::vector<Tool> listed;
    for (auto& [name, one] : all) listed.push_back(std::move(one));
    return listed;
  }
  Plan plan() {
    Plan plan;
    plan.service = "tracker";
    plan.display_name = kruxos::kit::text_of(kruxos::kit::parse(R"({"t":)" + text() + "}"), "t");
    plan.url = "https://mcp.tracker.example/mcp";
    return plan;
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("whatever tools a server names, the definition is one that the host takes") {
  for (unsigned seed = 0; seed < 25; ++seed) {
    Servers servers(seed);
    const auto plan = servers.plan();
    const auto tools = servers.tools(7);
    const auto wrapping = wrap(plan, tools, nullptr);
    std::string why;
    try {
      const auto definition = krux::parse_definition(wrapping.definition, "tracker");
      if (definition.capabilities.size() != tools.size()) why = "a tool is missing";
      if (json_of(read_wrapped(json_of(wrapping.wrapped))) != json_of(wrapping.wrapped)) why = "not read again";
    } catch (const std::exception& error) {
      why = error.what();
    }
    if (why.empty()) continue;
    UNSCOPED_INFO("seed " << seed << ": " << why);
    FAIL_CHECK();
  }
}

TEST_CASE("names that are the host's, and addresses that it would not ask, are refused") {
  Servers servers(1);
  const auto simple = read_tool(kruxos::kit::parse(R"({"name":"list","inputSchema":{}})"));
  const auto why = [&](const std::string& service, const std::string& url) {
    auto plan = servers.plan();
    plan.service = service;
    plan.url = url;
    try {
      const auto made = wrap(plan, {simple}, nullptr);
      krux::parse_definition(made.definition, service);
      return std::string();
    } catch (const krux::ConfigError& error) {
      return std::string("the host refuses: ") + error.what();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
  };
  for (const auto* taken : {"proxy", "state", "alerts", "agent", "null"})
    CHECK_THAT(why(taken, "https://mcp.example/mcp"), Contains("choose another one") && !Contains("refuses"));
  for (const auto* path : {"mcp", "v1/mcp", "mcp/", "", "mcp?a=b:c%20;", "~x/*y"})
    CHECK(why("tracker", std::string("https://mcp.example/") + path).empty());
  for (const auto* path : {"/mcp", "a%2fb", "a;b", "a/../b", ".", "https://other.example/mcp", "mcp:v1"})
    CHECK_THAT(why("tracker", std::string("https://mcp.example/") + path),
               Contains("another path") && !Contains("refuses"));
}

TEST_CASE("a server that says as much as it can is wrapped as far as the host reads it") {
  const std::string long_text(700, 'x');
  std::string properties, values;
  for (int i = 0; i < 100; ++i) values += fmt::format("{}\"{}{}\"", i == 0 ? "" : ",", std::string(390, 'v'), i % 99);
  for (int i = 0; i < 60; ++i)
    properties += fmt::format(
        R"({}"p{}":{{"type":"object","description":"{}","default":{{"d":"{}"}},"properties":{{"{}":{{}}}}}})",
        i == 0 ? "" : ",", i, long_text, long_text, long_text);
  const auto tool = [](const std::string& name, const std::string& inputs) {
    const auto document =
        kruxos::kit::parse(R"({"name":")" + name + R"(","inputSchema":{"properties":{)" + inputs + "}}}");
    return read_tool(document);
  };
  std::vector<Tool> tools{tool("one", R"("x":{"enum":[)" + values + R"(]},"n":{"enum":[1,2]})"),
                          tool("two", R"("x":{"type":"string","enum":[")" + long_text + R"("]})"),
                          tool("three", "\"" + long_text + R"(":{"type":"string"})"),
                          tool("four", R"("x":{"enum":["a","b","a"]},"null":{"type":"string"})")};
  for (int i = 0; i < 150; ++i) tools.push_back(tool("many" + std::to_string(i), properties));
  Servers servers(1);
  const auto made = wrap(servers.plan(), tools, nullptr);
  const auto definition = krux::parse_definition(made.definition, "tracker");
  CHECK(definition.capabilities.size() + made.left_out.size() == tools.size());
  CHECK(definition.capabilities.size() > 100);
  CHECK(made.wrapped.tools[0].whole);  // one of its inputs is a number that is not said to be one
  CHECK(definition.capabilities[1].inputs.at(0).one_of.empty());
  CHECK(made.wrapped.tools[2].whole);
  CHECK(definition.capabilities[3].inputs.at(0).one_of == std::vector<std::string>{"a", "b"});
  CHECK(definition.capabilities[3].inputs.at(1).name == "null");
}

TEST_CASE("names that were chosen to be the same are told apart") {
  const auto tool = [](const std::string& name) {
    const auto document = kruxos::kit::parse(R"({"name":)" + kruxos::kit::quoted(name) + R"(,"inputSchema":{}})");
    return read_tool(document);
  };
  std::map<std::string, std::string> known;
  std::vector<Tool> two;
  for (int i = 0; two.empty(); ++i) {
    const auto name = std::string(40, 'a') + std::to_string(i);
    const auto [at, first] = known.emplace(plain_name(name, 28), name);
    if (!first) two = {tool(at->second), tool(name)};
  }
  Servers servers(1);
  const auto made = wrap(servers.plan(), two, nullptr);
  CHECK(made.wrapped.tools[0].capability != made.wrapped.tools[1].capability);
  CHECK_NOTHROW(read_wrapped(json_of(made.wrapped)));
}

TEST_CASE("an input stays that of its argument, in whatever order and company the server names it") {
  const auto tool = [](const std::string& properties) {
    const auto document = kruxos::kit::parse(R"({"name":"pay","inputSchema":{"properties":{)" + properties + "}}}");
    return read_tool(document);
  };
  const std::string camel = R"("fromAccount":{"type":"string"})", snake = R"("from_account":{"type":"string"})";
  Servers servers(1);
  const auto plan = servers.plan();
  const auto one = wrap(plan, {tool(camel + "," + snake)}, nullptr).wrapped;
  const auto other = wrap(plan, {tool(snake + "," + camel)}, nullptr).wrapped;
  CHECK(one.tools[0].arguments == other.tools[0].arguments);
  CHECK(one.tools[0].arguments.at("from_account") == "from_account");
  const auto before = wrap(plan, {tool(camel)}, nullptr).wrapped;
  const auto now = wrap(plan, {tool(snake + "," + camel)}, &before).wrapped;
  CHECK(now.tools[0].arguments.at("from_account") == "fromAccount");
  CHECK(now.tools[0].arguments.size() == 2);
}

}  // namespace KRUXOS_TEST_FILE
