#include "script.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using mock::Script;

namespace {

struct Fixture {
  support::Scratch scratch;
  std::filesystem::path file = scratch.path() / "x.mock.json";
  void write(const std::string& text) { std::ofstream(file) << text; }
  std::string refusal(const std::string& text) {
    write(text);
    try {
      Script script(file);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "accepted";
  }
};

}  // namespace

TEST_CASE("a script that makes no sense is refused with its file and what is wrong") {
  Fixture f;
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", "In line 1, at byte 0"},
      {"{\n\n", "In line 3"},
      {"[]", "needs a \"service\""},
      {"{}", "needs a \"service\""},
      {R"({"service":"x","ruels":[]})", "no key \"ruels\""},
      {R"({"service":"x","rules":{}})", "must be a list"},
      {R"({"service":"x","rules":[{"call":"nonsense"}]})", "rule 1: it needs a \"call\" of the interface"},
      {R"({"service":"x","rules":[{"call":"read"},{"call":"read","anwser":1}]})",
       "rule 2: a rule has no key \"anwser\""},
      {R"({"service":"x","rules":[{"call":"read","when":[]}]})", "\"when\" must be"},
      {R"({"service":"x","rules":[{"call":"read","error":"no"}]})", "\"error\" must be"}};
  for (const auto& [text, why] : rows) {
    INFO(text);
    const auto refused = f.refusal(text);
    CHECK_THAT(refused, Catch::Contains(why) && Catch::Contains("x.mock.json"));
  }
  std::filesystem::remove(f.file);
  CHECK_THROWS_WITH(Script(f.file), Catch::Contains("needs its script"));
}

TEST_CASE("the first rule that fits decides, and only as often as it says") {
  Fixture f;
  f.write(R"({"service":"x","rules":[
    {"call":"execute_write","operation":"x.send","when":{"text":"a"},"skip":1,"times":1,"answer":{"n":1}},
    {"call":"execute_write","operation":"x.send","when":{"text":"a"},"answer":{"n":2}},
    {"call":"execute_write","error":{"status":"network"}}]})");
  Script script(f.file);
  const auto answer = [&](const char* params, const char* operation = "x.send") {
    return script.act_on({"execute_write", operation, "w_1", params}).answer.value_or("none");
  };
  CHECK(answer(R"({"text":"a"})") == R"({"n":2})");
  CHECK(answer(R"({"text":"a"})") == R"({"n":1})");
  CHECK(answer(R"({"text":"a"})") == R"({"n":2})");
  CHECK(answer(R"({"text":"b"})") == "none");
  CHECK(answer("nonsense") == "none");
  CHECK(script.act_on({"execute_write", "x.other", "", "{}"}).error->status == "network");
  CHECK_FALSE(script.act_on({"read", "x.search", "", "{}"}).error);
}

TEST_CASE("a changed script counts from then on, a broken one does not") {
  Fixture f;
  f.write(R"({"service":"x","rules":[{"call":"read","answer":1}]})");
  Script script(f.file);
  const auto answer = [&] { return script.act_on({"read", "", "", "{}"}).answer.value_or("none"); };
  const auto changed_later = [&] {
    std::filesystem::last_write_time(f.file, std::filesystem::last_write_time(f.file) + std::chrono::seconds(1));
  };
  CHECK(answer() == "1");
  f.write(R"({"service":"x","rules":[{"call":"read","answer":2}]})");
  changed_later();
  CHECK(answer() == "2");
  f.write("{");
  changed_later();
  CHECK(answer() == "2");
}

TEST_CASE("the journal outlives the script, and its latest effect of an id counts") {
  Fixture f;
  f.write(R"({"service":"x"})");
  mock::Act lost, garbage;
  lost.error = mock::Failure{"network", "", "Gone.", false, -1};
  garbage.answer = "no JSON";
  {
    Script script(f.file);
    script.note({"execute_write", "x.send", "w_1", "{}"}, lost, false, "{}");
    CHECK_FALSE(script.effect_of("w_1"));
    script.note({"execute_write", "x.send", "w_1", "{}"}, {}, true, R"({"id":1})");
    script.note({"execute_write", "x.send", "w_2", "{}"}, {}, true, "\"two\"");
    script.note({"execute_write", "x.send", "w_3", "{}"}, garbage, true, *garbage.answer);
    CHECK_FALSE(script.note({"execute_write", "x.send", "w_4", "{}"}, lost, true, "{}"));
    CHECK(script.effect_of("w_3") == "no JSON");
  }
  Script again(f.file);
  CHECK(again.effect_of("w_1") == R"({"id":1})");
  CHECK(again.effect_of("w_2") == "\"two\"");
  CHECK(again.effect_of("w_3") == "no JSON");
  CHECK(again.effect_of("w_4") == R"({"status":"ok"})");
  CHECK_FALSE(again.effect_of("w_5"));
}

}  // namespace KRUXOS_TEST_FILE
