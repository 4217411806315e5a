// What reads may ask, and what fits as an answer.
#include "core/capability/questions.hpp"

#include <catch2/catch.hpp>

#include "core/capability/form_schema.hpp"
#include "core/capability/handler_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace handler_test;

namespace {

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK(error.type() == ErrorCode::kInvalidInput);
    return error.what();
  }
  return "taken";
}

std::string form_of(const std::string& properties, const std::string& more = {}) {
  return R"({"type":"object","properties":{)" + properties + "}" + more + "}";
}

std::string refused_form(const std::string& schema) {
  return refusal([&] { checked_form(parse_json(schema, "the form")); });
}

const std::string kForm = form_of(
    R"("name":{"type":"string","minLength":2,"maxLength":5},"mail":{"type":"string","format":"email"},)"
    R"("day":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"},)"
    R"("page":{"type":"string","format":"uri"},"age":{"type":"integer","minimum":0,"maximum":150,"default":30},)"
    R"("score":{"type":"number","minimum":0.5},"sure":{"type":"boolean","title":"Sure?"},)"
    R"("one":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},)"
    R"("titled":{"type":"string","oneOf":[{"const":"x","title":"X"}]},)"
    R"("many":{"type":"array","items":{"type":"string","enum":["a","b"]},"maxItems":2},)"
    R"("named":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}})",
    R"(,"required":["name"])");

std::string filled(const std::string& content) {
  try {
    return checked_content(parse_json(kForm, "the form"), parse_json(content, "the content"));
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("questions: a form whose each key is known is taken, and no other") {
  CHECK(refused_form(kForm) == "taken");
  const std::vector<std::pair<std::string, std::string>> rows{
      {"[]", "a schema of type object"},
      {"{}", "a schema of type object"},
      {R"({"type":"object","properties":{}})", "a schema of type object"},
      {R"({"type":"array","properties":{"a":{"type":"string"}}})", "a schema of type object"},
      {form_of(R"("a":{"type":"string"})", R"(,"allOf":[])"), "\"allOf\""},
      {form_of(R"("a":1)"), "\"a\" is no schema"},
      {form_of(R"("a":{"type":"object"})"), "\"type\" other than"},
      {form_of(R"("a":{"type":"string","pattern":"(a+)+"})"), "\"pattern\""},
      {form_of(R"("a":{"type":"string","format":"password"})"), "\"format\" other than"},
      {form_of(R"("a":{"type":"string","minLength":-1})"), "that is no length"},
      {form_of(R"("a":{"type":"string","enum":[]})"), "a list of choices"},
      {form_of(R"("a":{"type":"string","enum":[1]})"), "a choice that is none"},
      {form_of(R"("a":{"type":"string","enum":["a"],"enumNames":[]})"), "\"enumNames\""},
      {form_of(R"("a":{"type":"string","oneOf":[{"const":"x"}]})"), "a choice that is none"},
      {form_of(R"("a":{"type":"string","enum":["a"],"enumNames":[{"b":1}]})"), "\"enumNames\""},
      {form_of(R"("a":{"type":"string","title":{"b":1}})"), "\"title\" that is no text"},
      {form_of(R"("a":{"type":"string","enum":["\u202ea"]})"), "characters that people do not see"},
      {form_of(R"("a\u001b":{"type":"string"})"), "characters that people do not see"},
      {form_of(R"("a":{"type":"integer","minimum":"1"})"), "no number"},
      {form_of(R"("a":{"type":"integer","default":1.5})"), "a default that must be a whole number"},
      {form_of(R"("a":{"type":"array","items":{"type":"string"}})"), "without choices"},
      {form_of(R"("a":{"type":"array"})"), "without \"items\""},
      {form_of(R"("a":{"type":"string"})", R"(,"required":["b"])"), "\"required\""}};
  for (const auto& [schema, why] : rows) {
    CAPTURE(schema);
    CHECK_THAT(refused_form(schema), Catch::Contains(why));
  }
}

TEST_CASE("questions: nothing of what people or models read steers what shows it") {
  const auto all = parse_questions(
      R"({"a":{"kind":"form","message":"One\n\u001b[2Jtwo","schema":{"type":"object","properties":{"b":)"
      R"({"type":"string","title":"T\u202e","oneOf":[{"const":"x","title":"X\u009b"}]}}}}})");
  CHECK(all.at(0).message == "One\n\\x1b[2Jtwo");
  const auto prompt = parse_questions(
      R"({"a":{"kind":"model","message":"One\n\u001b[2J\u202etwo","system":"Be\n\u0007kind","max_tokens":9}})");
  CHECK(prompt.at(0).message == "One\n\\x1b[2J\\u202etwo");
  CHECK(prompt.at(0).system == "Be\n\\x07kind");
  CHECK(
      all.at(0).schema_json ==
      R"({"type":"object","properties":{"b":{"type":"string","title":"T\\u202e","oneOf":[{"const":"x","title":"X\\x9b"}]}}})");
}

TEST_CASE("questions: what was filled in is taken over as far as the form asks for it") {
  CHECK(filled(R"({"name":"Ann","sure":true,"more":1,"many":["b"]})") == R"({"name":"Ann","sure":true,"many":["b"]})");
  CHECK(filled(R"({"name":"Ann","mail":"a@b","day":"2026-11-21","at":"2026-11-21T10:00:00Z","page":"x:y","age":30,)"
               R"("score":0.5,"one":"a","titled":"x","named":["x"]})")
            .starts_with(R"({"name":"Ann")"));
  const std::vector<std::pair<std::string, std::string>> rows{
      {"[]", "must be an object"},
      {"{}", "\"name\" is missing"},
      {R"({"name":1})", "\"name\""},
      {R"({"name":"A"})", "\"name\""},
      {R"({"name":"Annabel"})", "\"name\""},
      {R"({"name":"Ann","mail":"a"})", "\"mail\" is no email"},
      {R"({"name":"Ann","day":"2026-11-21T10:00:00Z"})", "\"day\" is no date"},
      {R"({"name":"Ann","at":"2026-11-21"})", "\"at\" is no date-time"},
      {R"({"name":"Ann","page":"a b"})", "\"page\" is no uri"},
      {R"({"name":"Ann","age":-1})", "at least 0"},
      {R"({"name":"Ann","age":1e300})", "\"age\""},
      {R"({"name":"Ann","age":1.5})", "whole number"},
      {R"({"name":"Ann","score":0.4})", "at least 0.5"},
      {R"({"name":"Ann","score":"1"})", "must be a number"},
      {R"({"name":"Ann","sure":"yes"})", "\"sure\""},
      {R"({"name":"Ann","one":"c"})", "\"one\""},
      {R"({"name":"Ann","titled":"X"})", "\"titled\""},
      {R"({"name":"Ann","many":["a","b","a"]})", "\"many\""},
      {R"({"name":"Ann","many":["c"]})", "\"many\""},
      {R"({"name":null})", "\"name\""}};
  for (const auto& [content, why] : rows) {
    CAPTURE(content);
    CHECK_THAT(filled(content), Catch::Contains(why));
  }
}

TEST_CASE("questions: what makes no sense, or may not be asked, is a defect of the adapter") {
  const auto parsed = [](const std::string& json) { return refusal([&] { parse_questions(json); }); };
  const std::vector<std::pair<std::string, std::string>> rows{
      {"{}", "it asks none"},
      {"[]", "it asks none"},
      {R"({"a b":{"kind":"roots"}})", "needs a name"},
      {R"({"a":{"kind":"password"}})", "of no known kind"},
      {R"({"a":7})", "of no known kind"},
      {R"({"a":{"kind":"form","message":"?"}})", "no \"schema\""},
      {R"({"a":{"kind":"form","schema":{}}})", "needs a \"message\""},
      {R"({"a":{"kind":"model","message":"?"}})", "\"max_tokens\""},
      {R"({"a":{"kind":"model","message":"?","max_tokens":0}})", "\"max_tokens\""},
      {R"({"a":{"kind":"model","max_tokens":1,"message":")" + std::string((32 << 10) + 1, 'x') + "\"}}", "32768 bytes"},
      {R"({"a":{"kind":"model","max_tokens":1,"message":"?","system":")" + std::string((8 << 10) + 1, 'x') + "\"}}",
       "\"system\" of more than 8192"},
      {R"({"a":{"kind":"url","message":"?"}})", "no \"url\""},
      {R"({"a":{"kind":"url","message":"?","url":"http://127.0.0.1/"}})", "no address by https"},
      {R"({"a":{"kind":"url","message":"?","url":"javascript:x"}})", "no address by https"}};
  for (const auto& [json, why] : rows) {
    CAPTURE(json);
    CHECK(parsed(json) != "taken");
    CHECK_THAT(parsed(json), Catch::Contains(why, Catch::CaseSensitive::No));
  }
  std::string many;
  for (int i = 0; i < 9; ++i) many += (i ? ",\"q" : "\"q") + std::to_string(i) + R"(":{"kind":"roots"})";
  CHECK_THAT(parsed("{" + many + "}"), Catch::Contains("more than 8"));

  CapabilityDefinition capability;
  capability.name = "notes.pick";
  capability.asks = KRUX_ASK_URL;
  ServiceDefinition definition;
  definition.api_base_url = "https://notes.example/api/";
  definition.hosts = {"*.pages.example", "login.example:8443"};
  const auto why_not = [&](const std::string& url) {
    return why_not_asked(parse_questions(R"({"a":{"kind":"url","message":"?","url":")" + url + "\"}}"), capability,
                         definition);
  };
  for (const auto* good : {"https://notes.example/pay", "https://a.pages.example/", "https://login.example:8443/x"})
    CHECK(why_not(good).empty());
  for (const auto* bad : {"https://pages.example/", "https://evilpages.example/", "https://login.example/",
                          "https://notes.example.evil.example/", "https://a.pages.example:8443/"})
    CHECK_THAT(why_not(bad), Catch::Contains("not among the definition's"));
  CHECK_THAT(why_not_asked(parse_questions(R"({"a":{"kind":"roots"}})"), capability, definition),
             Catch::Contains("roots") && Catch::Contains("\"asks\""));
}

TEST_CASE("questions: a read that asks is handed on with its questions, or fails where nobody can be asked") {
  std::string definition(kDefinition);
  definition.replace(definition.find("fetches: true"), 13, "fetches: true, asks: [form, roots]");
  Host host({}, {}, definition);
  host.connect();
  const std::string question = R"({"who":{"kind":"form","message":"Who?","schema":)" + kForm + "}}";
  std::string asks = question;
  host.adapter->on_read = [&](const CallContextPtr& call, auto, auto) {
    const auto* dialogue = call->dialogue();
    REQUIRE(dialogue);
    if (!dialogue->answers_json.empty())
      return Text(R"({"answers":)" + dialogue->answers_json + R"(,"state":")" + dialogue->state + "\"}");
    REQUIRE(call->ask({asks, "s1"}) == KRUX_OK);
    REQUIRE(call->ask({R"({"too":{"kind":"roots"}})", "s2"}) == KRUX_OK);  // the first ones count
    return Text(std::string("{}"));
  };
  const auto invoke = [&](std::shared_ptr<const ReadDialogue> dialogue, const std::string& capability = "notes.fetch") {
    const auto answered = std::make_shared<std::promise<InvocationResult>>();
    Invocation invocation{"agent_1", "tester", "sess_1", capability, "{}"};
    invocation.dialogue = std::move(dialogue);
    host.handler.invoke(std::move(invocation), [answered](InvocationResult r) { answered->set_value(std::move(r)); });
    return answered->get_future().get();
  };
  const auto alone = invoke(nullptr);
  CHECK_FALSE(alone.success);
  CHECK(type_of(Host::document(alone)) == "InputRequired");
  CHECK_THAT(message_of(Host::document(alone)), Catch::Contains("form"));
  REQUIRE(alone.questions);
  CHECK(alone.questions->missing == KRUX_ASK_FORM);

  const auto able = std::make_shared<ReadDialogue>();
  able->can_ask = KRUX_ASK_FORM;
  const auto asked = invoke(able);
  REQUIRE(asked.questions);
  CHECK(asked.questions->missing == 0);
  CHECK(asked.questions->all.at(0).name == "who");
  CHECK(asked.questions->state == "s1");

  const auto answered = std::make_shared<ReadDialogue>();
  answered->answers_json = R"({"who":{"action":"cancel"}})";
  answered->state = asked.questions->state;
  const auto whole = invoke(answered);
  CHECK_FALSE(whole.questions);
  CHECK_THAT(whole.data_json, Catch::StartsWith(R"({"answers":{"who":{"action":"cancel"}},"state":"s1")"));

  // The same connecting of the account answers, and no other.
  CHECK_FALSE(asked.questions->account.empty());
  auto bound = std::make_shared<ReadDialogue>(*answered);
  bound->account = asked.questions->account;
  CHECK(invoke(bound).success);
  bound = std::make_shared<ReadDialogue>(*answered);
  bound->account = asked.questions->account + "0";
  CHECK_THAT(message_of(Host::document(invoke(bound))), Catch::Contains("not connected any more"));

  // Whether it still may be asked is known without a call.
  const auto why_not = [&](const Questions& questions, const std::string& arguments = "{}") {
    const auto why = host.handler.why_not_ask({"agent_1", "tester", "sess_1", "notes.fetch", arguments}, questions);
    return why ? std::string(why->what()) : std::string();
  };
  auto other = *asked.questions;
  CHECK(why_not(other).empty());
  CHECK_THAT(why_not(other, R"({"no":1})"), Catch::Contains("no"));
  other.account += "0";
  CHECK_THAT(why_not(other), Catch::Contains("not connected any more"));
  other = *asked.questions;
  other.all.at(0).kind = KRUX_ASK_MODEL;
  CHECK_THAT(why_not(other), Catch::Contains("may not ask that any more"));

  // What its definition does not list, and what makes no sense.
  for (const auto& [capability, questions] : {std::pair<std::string, std::string>("notes.search", question),
                                              {"notes.fetch", R"({"a":{"kind":"model","message":"?","max_tokens":5}})"},
                                              {"notes.fetch", "{}"}}) {
    asks = questions;
    const auto defect = Host::document(invoke(able, capability));
    CHECK(type_of(defect) == "ServiceUnavailable");
    CHECK_THAT(message_of(defect), Catch::Contains("defect of the adapter"));
  }

  const auto changed = std::make_shared<ServiceDefinition>(*host.definition);
  const_cast<CapabilityDefinition&>(*changed->find("notes.fetch")).tier = Tier::kBlocked;
  host.accounts.set_services({{changed, "1.0.0"}});
  CHECK_THAT(why_not(*asked.questions), Catch::Contains("notes.fetch is blocked"));
}

}  // namespace KRUXOS_TEST_FILE
