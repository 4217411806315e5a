#include "core/capability/answer_budget.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

CapabilityDefinition searching(bool pages = true) {
  CapabilityDefinition c;
  c.name = "notes.search";
  InputDefinition offset, limit;
  offset.name = "offset";
  limit.name = "limit";
  if (pages) c.inputs = {offset, limit};
  c.outputs = {{"total", "", InputType::kInteger}, {"notes", "", InputType::kArray}};
  return c;
}

/// So many notes of so many bytes.
std::string notes(int count, std::size_t bytes, const std::string& unit = "x") {
  std::string text, all;
  while (text.size() < bytes) text += unit;
  for (int i = 0; i < count; ++i)
    all += (i > 0 ? "," : "") + std::string(R"({"id":")") + std::to_string(i) + R"(","text":")" + text + "\"}";
  return R"({"notes":[)" + all + R"(],"total":)" + std::to_string(count) + R"(,"more":false})";
}

JsonDocument cut(const std::string& json, const CapabilityDefinition& capability, const std::string& params = "{}") {
  const auto result = within_budget(json, capability, parse_json(params, "params"));
  CHECK(estimated_tokens(result) <= kMostTokens);
  return parse_json(result, "the result", {64 << 20, 64});
}

}  // namespace

TEST_CASE("Tokens are estimated by bytes of ASCII and other characters") {
  CHECK(estimated_tokens("") == 0);
  CHECK(estimated_tokens("abcd") == 1);
  CHECK(estimated_tokens("abcde") == 2);
  CHECK(estimated_tokens("ä") == 1);
  CHECK(estimated_tokens("日本語") == 3);
  CHECK(estimated_tokens("😀 ok") == 2);
}

TEST_CASE("An answer within the budget is not touched") {
  const auto odd = R"({ "notes" : [1.50, {"a":1e2}] })";
  CHECK(within_budget(odd, searching(), JsonValue(rapidjson::kObjectType)) == odd);
  const auto just = notes(1, 39'000);
  CHECK(within_budget(just, searching(), JsonValue(rapidjson::kObjectType)) == just);
}

TEST_CASE("A page that is too long ends early and says where the next one begins") {
  const auto page = cut(notes(100, 2'000), searching(), R"({"offset":40})");
  const auto shown = page["notes"].Size();
  CHECK((shown >= 18 && shown < 20));
  CHECK(find_string(page["notes"][0], "id") == "0");
  CHECK(find_bool(page, "page_is_cut") == true);
  CHECK(find_bool(page, "more") == true);
  CHECK(find_int(page, "next_offset") == 40 + static_cast<std::int64_t>(shown));
  CHECK(find_int(page, "total") == 100);
  CHECK(estimated_tokens(to_json(page)) <= kPageTokens + 20);
  CHECK_FALSE(page.HasMember("texts_are_cut"));
}

TEST_CASE("A page of writes that ends early names the last one that is shown as where to go on") {
  auto listing = searching(false);
  InputDefinition before;
  before.name = "before";
  listing.inputs = {before};
  std::string all;
  for (int i = 0; i < 100; ++i)
    all += (i > 0 ? "," : "") + std::string(R"({"write_id":"w_)") + std::to_string(i) + R"(","text":")" +
           std::string(2'000, 'x') + "\"}";
  const auto page = cut(R"({"notes":[)" + all + R"(],"more":true,"next_before":"w_99"})", listing);
  CHECK(find_bool(page, "more") == true);
  CHECK(find_string(page, "next_before") == "w_" + std::to_string(page["notes"].Size() - 1));
}

TEST_CASE("A list without pages is ended all the same") {
  const auto page = cut(notes(100, 2'000), searching(false));
  CHECK(find_bool(page, "page_is_cut") == true);
  CHECK_FALSE(page.HasMember("next_offset"));
}

TEST_CASE("One entry is always shown, whole as long as it can be") {
  auto page = cut(notes(5, 80'000), searching());
  CHECK(page["notes"].Size() == 1);
  CHECK(page["notes"][0]["text"].GetStringLength() == 80'000);
  page = cut(notes(5, 900'000), searching());
  CHECK(page["notes"].Size() == 1);
  CHECK(find_bool(page, "texts_are_cut") == true);
  CHECK(page["notes"][0]["text"].GetStringLength() > 10'000);
}

TEST_CASE("Texts are cut between characters") {
  const auto page = cut(notes(1, 90'000, "日"), searching());
  CHECK(find_bool(page, "texts_are_cut") == true);
  CHECK(std::string(page["notes"][0]["text"].GetString()).ends_with("日…"));
}

TEST_CASE("A text that makes an answer long does not cost a short list its entries, nor a false place to go on") {
  CapabilityDefinition read;
  read.name = "mail.read";
  InputDefinition offset;  // into the text
  offset.name = "offset";
  read.inputs = {offset};
  read.outputs = {{"body", "", InputType::kObject}, {"attachments", "", InputType::kArray}};
  std::string text;
  for (int i = 0; i < 15'000; ++i) text += "日";
  const auto mail =
      cut(R"({"body":{"text":")" + text + R"(","next_offset":15000},"attachments":[{"id":"1"},{"id":"2"}]})", read);
  CHECK(mail["attachments"].Size() == 2);
  CHECK_FALSE(mail.HasMember("next_offset"));
  CHECK_FALSE(mail.HasMember("texts_are_cut"));
  CHECK(mail["body"]["text"].GetStringLength() == text.size());
}

TEST_CASE("Bytes that are handed over as content come whole or not at all") {
  auto capability = searching();
  capability.outputs.push_back({"picture", "", InputType::kObject, {}, {}, ContentKind::kImage});
  capability.outputs.push_back({"sound", "", InputType::kObject, {}, {}, ContentKind::kAudio});
  const auto bytes = [](std::size_t count) {
    return R"({"mime_type":"a/b","data":")" + std::string(count, 'A') + "\"}";
  };
  const auto answer = [&](const std::string& notes_json, std::size_t picture, std::size_t sound) {
    auto json = notes_json;
    json.pop_back();
    json += R"(,"picture":)" + bytes(picture) + R"(,"sound":)" + bytes(sound) + "}";
    return parse_json(within_budget(json, capability, JsonValue(rapidjson::kObjectType)), "the result", {64 << 20, 64});
  };
  const auto both = answer(notes(1, 10), 400'000, 500'000);
  CHECK(find_string(both["picture"], "data").value_or("").size() == 400'000);
  CHECK(find_string(both["sound"], "data").value_or("").size() == 500'000);
  CHECK_FALSE(both.HasMember("texts_are_cut"));
  const auto beside = answer(notes(100, 2'000), 400'000, 12);
  CHECK(find_string(beside["picture"], "data").value_or("").size() == 400'000);
  CHECK(find_bool(beside, "page_is_cut") == true);
  const auto one = answer(notes(1, 10), kMostContentBytes, 12);
  CHECK_FALSE(one.HasMember("picture"));
  CHECK(find_string(one["sound"], "data") == std::string(12, 'A'));
  CHECK(to_json(one["members_left_out"]) == R"(["picture"])");
  const auto only =
      parse_json(within_budget(R"({"picture":)" + bytes(20'000) + "}", capability, JsonValue(rapidjson::kObjectType)),
                 "the result");
  CHECK(find_string(only["picture"], "data").value_or("").size() == 20'000);
}

TEST_CASE("What is called content and is none counts as text") {
  auto capability = searching();
  capability.outputs.push_back({"picture", "", InputType::kObject, {}, {}, ContentKind::kImage});
  const std::string many(1 << 20, 'A');
  for (const auto& picture : {R"({"data":")" + many + "\"}", R"({"mime_type":"a/b","data":")" + many + "!\"}",
                              R"({"mime_type":"a/b","data":"AAAA","more":")" + many + "\"}",
                              R"({"mime_type":")" + many + R"(","data":"AAAA"})", "\"" + many + "\""}) {
    const auto rest = cut(R"({"picture":)" + picture + "}", capability);
    CHECK(find_bool(rest, "texts_are_cut") == true);
  }
}

TEST_CASE("What the agent has written itself makes way for what it asked for") {
  std::string pending;
  for (int i = 0; i < 100; ++i) pending += (i > 0 ? ",\"" : "\"") + std::string(400, 'p') + '"';
  auto json = notes(20, 1'000);
  json.insert(json.size() - 1, ",\"pending_writes\":[" + pending + "]");
  const auto page = cut(json, searching());
  CHECK(page["notes"].Size() == 20);
  CHECK(page["pending_writes"].Size() < 100);
  CHECK(find_bool(page, "pending_writes_cut") == true);
  CHECK_FALSE(page.HasMember("page_is_cut"));
}

TEST_CASE("What is too long by its number of values is told without its longest members") {
  std::string many = R"({"status":"completed","arguments":{"a":[0)";
  for (int i = 0; i < 60'000; ++i) many += ",1234";
  const auto rest = cut(many + R"(]},"result":{"id":"n1"}})", searching());
  CHECK(find_string(rest, "status") == "completed");
  CHECK_FALSE(rest.HasMember("arguments"));
  CHECK(find_string(rest["result"], "id") == "n1");
  CHECK(view(rest["members_left_out"][0]) == "arguments");
}

TEST_CASE("Many small entries before a large one do not add up to too much") {
  std::string all = "\"" + std::string(99'000, 'x') + '"';
  for (int i = 0; i < 20'000; ++i) all += ",1";
  cut(R"({"notes":[)" + all + "]}", searching());
}

}  // namespace KRUXOS_TEST_FILE
