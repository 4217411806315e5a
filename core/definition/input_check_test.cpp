#include "core/definition/input_check.hpp"

#include <catch2/catch.hpp>

#include "core/definition/capability_parser.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

InputDefinition input(const char* name, InputType type, bool required = false) {
  InputDefinition i;
  i.name = name;
  i.type = type;
  i.required = required;
  i.description = "What it is.";
  return i;
}

CapabilityDefinition sample() {
  CapabilityDefinition c;
  c.name = "notes.add";
  c.kind = CapabilityKind::kWrite;
  auto title = input("title", InputType::kString, true);
  title.min_length = 1;
  title.max_length = 5;
  title.aliases = {"name", "subject"};
  auto count = input("count", InputType::kInteger);
  count.minimum = 1;
  count.maximum = 100;
  count.default_json = "20";
  auto colour = input("colour", InputType::kString);
  colour.one_of = {"red", "green"};
  auto list = input("list", InputType::kArray);
  list.max_length = 2;
  c.inputs = {title,
              count,
              colour,
              list,
              input("flag", InputType::kBoolean),
              input("extra", InputType::kObject),
              input("when", InputType::kDateTime)};
  return c;
}

std::string params(const std::string& arguments) {
  return check_arguments(sample(), arguments).params_json;
}

std::string refusal(const std::string& arguments) {
  try {
    return "accepted: " + params(arguments);
  } catch (const Error& e) {
    CHECK(e.type() == ErrorCode::kInvalidInput);
    CHECK_FALSE(e.retryable());
    return e.what();
  }
}

}  // namespace

TEST_CASE("arguments become canonical parameters with defaults, under the inputs' own names") {
  CHECK(params(R"({"title":"a"})") == R"({"count":20,"title":"a"})");
  CHECK(params(R"({"subject":"a","count":3})") == R"({"count":3,"title":"a"})");
  CHECK(params(R"({"title":"a","count":3.0})") == R"({"count":3,"title":"a"})");
  CHECK(params(R"({"title":"a","count":null,"flag":null})") == R"({"count":20,"title":"a"})");
  CHECK(params(R"({"title":"a","name":"a"})") == R"({"count":20,"title":"a"})");
  CHECK(params(R"({"extra":{"b":1,"a":[true]},"title":"\u00e4\u20ac"})") ==
        "{\"count\":20,\"extra\":{\"a\":[true],\"b\":1},\"title\":\"\xC3\xA4\xE2\x82\xAC\"}");
}

TEST_CASE("lengths are counted in code points") {
  CHECK(params("{\"title\":\"\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xF0\x9F\x98\x80\"}").find("title") != std::string::npos);
  CHECK(refusal(R"({"title":"abcdef"})") == "notes.add: \"title\" has 6 characters, at most 5 are accepted.");
}

TEST_CASE("times are RFC 3339 or a message's timestamp") {
  for (const char* good : {"2026-11-21T09:30:00Z", "2026-11-21T09:30:00.123+01:00", "2026-11-21", "1700000001.000001",
                           "1700000001", "0"}) {
    INFO(good);
    CHECK(params(std::string(R"({"title":"a","when":")") + good + "\"}").find(good) != std::string::npos);
  }
  for (const char* bad : {"", "yesterday", "2026-13-01", "1700000001.", ".5", "1700000001.0000001", "1234567890123",
                          "-1", "1e9", "2026-11-21T25:00:00Z"}) {
    INFO(bad);
    CHECK(refusal(std::string(R"({"title":"a","when":")") + bad + "\"}").find("must be a time") != std::string::npos);
  }
}

TEST_CASE("a time without its zone is refused with what is missing") {
  CHECK(refusal(R"({"title":"a","when":"2026-11-22T10:00:00"})") ==
        "notes.add: \"when\" lacks its time zone: write 2026-11-22T10:00:00Z for UTC, or an offset, such as "
        "2026-11-22T10:00:00+02:00.");
  CHECK(refusal(R"({"title":"a","when":"2026-11-22 10:00:00.5"})").find("2026-11-22 10:00:00.5Z") != std::string::npos);
  const auto long_one = "2026-11-22T10:00:00." + std::string(5'000, '1');
  for (const auto& other : {std::string("2026-11-22T25:00:00"), std::string("2026-11-22T10:00"), long_one}) {
    CHECK(refusal(R"({"title":"a","when":")" + other + "\"}").find("must be a time") != std::string::npos);
  }
}

TEST_CASE("what the host takes for itself is not among the parameters") {
  const auto checked =
      check_arguments(sample(), R"({"title":"a","account":"T1","idempotency_key":"k","allow_duplicate":true})");
  CHECK(checked.params_json == R"({"count":20,"title":"a"})");
  CHECK(checked.account == "T1");
  CHECK(checked.idempotency_key == "k");
  CHECK(checked.allow_duplicate);
  CHECK(checked.send_at_ms == 0);
  for (const auto* time : {"2026-11-21T09:30:00Z", "2026-11-21T11:30:00.000+02:00"}) {
    const auto scheduled = check_arguments(sample(), std::string(R"({"title":"a","send_at":")") + time + "\"}");
    CHECK(scheduled.send_at_ms == 1'795'253'400'000);
    CHECK(scheduled.params_json == R"({"count":20,"title":"a"})");
  }
  CHECK(check_arguments(sample(), R"({"title":"a","send_at":null})").send_at_ms == 0);
  auto read = sample();
  read.kind = CapabilityKind::kRead;
  CHECK(check_arguments(read, R"({"title":"a","account":"T1"})").account == "T1");
  CHECK_THROWS_AS(check_arguments(read, R"({"title":"a","send_at":"2026-11-21T09:30:00Z"})"), Error);
  CHECK_THROWS_AS(check_arguments(read, R"({"title":"a","allow_duplicate":true})"), Error);
}

TEST_CASE("bad arguments are refused with a sentence") {
  struct Row {
    std::string arguments;
    const char* says;
  };
  const Row rows[] = {
      {R"({})", "notes.add: \"title\" is missing: What it is."},
      {R"({"title":null})", "\"title\" is missing"},
      {R"({"title":7})", "\"title\" must be a text, not 7"},
      {R"({"title":""})", "\"title\" must not be empty"},
      {R"({"title":"a","name":"b"})", "\"title\" and \"name\" mean the same"},
      {R"({"title":"a","count":"20"})", "\"count\" must be a whole number, not the text \"20\""},
      {R"({"title":"a","count":20.5})", "\"count\" must be a whole number, not 20.5"},
      {R"({"title":"a","count":0})", "\"count\" must be from 1 to 100, not 0"},
      {R"({"title":"a","count":101})", "\"count\" must be from 1 to 100, not 101"},
      {R"({"title":"a","count":1e300})", "\"count\" must be a whole number"},
      {R"({"title":"a","count":99999999999999999999})", "\"count\" must be a whole number"},
      {R"({"title":"a","colour":"blue"})", "\"colour\" must be one of red, green, not \"blue\""},
      {R"({"title":"a","list":[1,2,3]})", "\"list\" has 3 entries, at most 2"},
      {R"({"title":"a","list":{}})", "\"list\" must be a list, not an object"},
      {R"({"title":"a","flag":"true"})", "\"flag\" must be true or false"},
      {R"({"title":"a","extra":[]})", "\"extra\" must be an object, not a list"},
      {R"({"title":"a","when":1700000001})", "\"when\" must be a time"},
      {R"({"title":"a","colur":"red"})", "there is no parameter \"colur\" (did you mean \"colour\"?)"},
      {R"({"title":"a","zzzzzz":1})", "there is no parameter \"zzzzzz\"; it takes title, name, subject, count"},
      {R"({"title":"a","account":7})", "\"account\" must be a text"},
      {R"({"title":"a","account":""})", "\"account\" must be a text"},
      {R"({"title":"a","allow_duplicate":"yes"})", "\"allow_duplicate\" must be true or false"},
      {R"({"title":"a","idempotency_key":")" + std::string(201, 'k') + "\"}", "\"idempotency_key\" must be a text"},
      {R"({"title":"a","send_at":"2026-11-21"})", "\"send_at\" must be a time with its zone, RFC 3339"},
      {R"({"title":"a","send_at":"2026-11-21T09:30:00"})", "not the text \"2026-11-21T09:30:00\""},
      {R"({"title":"a","send_at":"1700000001.000001"})", "\"send_at\" must be a time"},
      {R"({"title":"a","send_at":"1969-12-31T23:59:59Z"})", "\"send_at\" must be a time"},
      {R"({"title":"a","send_at":1700000001})", "not 1700000001"},
      {R"({"title":"a","send_at":""})", "\"send_at\" must be a time"},
      {R"({"title":"a\u0000b"})", "\"title\" holds the character U+0000 (NUL)"},
      {R"({"name":"a\u0000b"})", "\"title\" holds the character U+0000"},
      {R"({"title":"a \ud83d b"})", "\"title\" holds half of a surrogate pair"},
      {R"({"title":"\udc00"})", "\"title\" holds half of a surrogate pair"},
      {R"({"title":"a","list":["b","c\u0000"]})", "\"list[1]\" holds the character U+0000"},
      {R"({"title":"a","extra":{"b":{"c":"\u0000"}}})", "\"extra.b.c\" holds the character U+0000"},
      {R"({"title":"a","extra":{"b\u0000":1}})", "as a key holds the character U+0000"},
      {R"({"title":"a","idempotency_key":"k\u0000"})", "\"idempotency_key\" holds the character U+0000"},
      {R"({"title":"a","account":"\ud800"})", "\"account\" holds half of a surrogate pair"},
      {R"({"title":"a","colour":"\u0000"})", "\"colour\" holds the character U+0000"},
      {R"({"titl\u0000":"a"})", "there is no parameter \"titl\\x00\""},
      {"{\"title\":\"\xff\"}", "not valid JSON"},
      {R"({"title":"a","title":"b"})", "stands twice"},
      {R"(["title"])", "must be one JSON object"},
      {"7", "must be one JSON object"},
      {R"({"title":"a")", "not valid JSON"},
      {R"({"title":"a"} x)", "not valid JSON"},
      {R"({"title":"a","extra":)" + std::string(100, '[') + std::string(100, ']') + "}", "nested deeper"},
      {R"({"title":")" + std::string(2 << 20, 'a') + "\"}", "at most"},
      {R"({"title":"a","extra":{"n":9007199254740993}})", "2^53"},
  };
  for (const auto& row : rows) {
    INFO(row.arguments.substr(0, 100));
    CHECK_THAT(refusal(row.arguments), Catch::Contains(row.says));
  }
}

TEST_CASE("of a group one input must be given") {
  auto c = sample();
  c.one_input_of = {{"flag", "list"}};
  CHECK_THROWS_WITH(check_arguments(c, R"({"title":"a"})"), "notes.add: give at least one of flag, list.");
  CHECK_NOTHROW(check_arguments(c, R"({"title":"a","list":[]})"));
  c.one_input_of = {{"due", "flag"}, {"due", "list"}};
  CHECK_THROWS_WITH(check_arguments(c, R"({"title":"a","flag":true})"), "notes.add: give due, or else flag and list.");
}

TEST_CASE("control characters of an argument do not reach the sentence") {
  CHECK(refusal("{\"title\":\"a\",\"\\u001b[31m\":1}").find('\x1b') == std::string::npos);
  CHECK(refusal("{\"title\":\"a\",\"colour\":\"\\u001b[31m\"}").find('\x1b') == std::string::npos);
}

TEST_CASE("an object among the arguments has at most 256 keys") {
  const auto keys = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":0";
    return text;
  };
  const auto many = Catch::Contains("more than 256 keys");
  CHECK_THROWS_WITH(check_arguments(sample(), "{" + keys(257) + "}"), many);
  CHECK_THROWS_WITH(check_arguments(sample(), R"({"title":"a","x":[{"y":{)" + keys(257) + "}}]}"), many);
  CHECK_THROWS_WITH(check_arguments(sample(), "{" + keys(256) + "}"), !many);
}

TEST_CASE("null is a value of what is nullable, and not given elsewhere") {
  auto c = sample();
  auto due = input("due", InputType::kDateTime);
  due.nullable = true;
  due.aliases = {"deadline"};
  auto list = input("labels", InputType::kArray);
  list.nullable = true;
  c.inputs = {input("title", InputType::kString, true), due, list};
  c.one_input_of = {{"due", "labels"}};
  CHECK(check_arguments(c, R"({"title":"a","due":null})").params_json == R"({"due":null,"title":"a"})");
  CHECK(check_arguments(c, R"({"title":"a","deadline":null})").params_json == R"({"due":null,"title":"a"})");
  CHECK(check_arguments(c, R"({"title":"a","labels":null})").params_json == R"({"labels":null,"title":"a"})");
  CHECK_THROWS_WITH(check_arguments(c, R"({"title":null,"due":null})"), Catch::Contains("\"title\" is missing"));
  CHECK_THROWS_WITH(check_arguments(c, R"({"title":"a"})"), Catch::Contains("give at least one of"));
  CHECK_THROWS_WITH(check_arguments(c, R"({"title":"a","due":null,"deadline":"2026-01-01"})"),
                    Catch::Contains("different values"));
}

TEST_CASE("each entry of a list is what its definition says") {
  auto c = sample();
  auto labels = input("labels", InputType::kArray);
  labels.items = {input("", InputType::kString)};
  labels.items[0].max_length = 3;
  auto numbers = input("numbers", InputType::kArray);
  numbers.items = {input("", InputType::kInteger)};
  numbers.items[0].minimum = 1;
  c.inputs = {labels, numbers};
  c.one_input_of = {};
  CHECK(check_arguments(c, R"({"labels":["a","b"],"numbers":[2.0,3]})").params_json ==
        R"({"labels":["a","b"],"numbers":[2,3]})");
  CHECK(check_arguments(c, R"({"labels":[]})").params_json == R"({"labels":[]})");
  for (const auto& [arguments, why] : {std::pair{R"({"labels":["a",2]})", "\"labels\" entry 2 must be a text, not 2"},
                                       {R"({"labels":[null]})", "entry 1 must be a text, not null"},
                                       {R"({"labels":[["a"]]})", "entry 1 must be a text, not a list"},
                                       {R"({"labels":["abcd"]})", "entry 1 has 4 characters, at most 3 are accepted"},
                                       {R"({"numbers":[1,0]})", "entry 2 must be at least 1, not 0"},
                                       {R"({"numbers":["1"]})", "entry 1 must be a whole number"}}) {
    CHECK_THROWS_WITH(check_arguments(c, arguments), Catch::Contains(why));
  }
}

}  // namespace KRUXOS_TEST_FILE
