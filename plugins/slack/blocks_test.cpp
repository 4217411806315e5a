// What blocks and attachments say besides the text.
#include "blocks.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace slack;

namespace {

BlockTexts of(const std::string& json, std::string_view shown = "") {
  const auto document = parse(json);
  REQUIRE_FALSE(document.HasParseError());
  return texts_of_blocks(document, shown);
}

const std::string kAlarm = R"({"blocks":[
  {"type":"header","text":{"type":"plain_text","text":"Disk full","emoji":true}},
  {"type":"section","text":{"type":"mrkdwn","text":"*db-1* at <http://m.test/1|98 %> &amp; rising"},
   "fields":[{"type":"mrkdwn","text":"Zone: eu-west"},{"type":"plain_text","text":"Since <noon>"}],
   "accessory":{"type":"button","text":{"type":"plain_text","text":"Acknowledge"}}},
  {"type":"context","elements":[{"type":"mrkdwn","text":"by the watch"},{"type":"image","alt_text":"a graph"}]},
  {"type":"divider"},
  {"type":"image","title":{"type":"plain_text","text":"Usage"},"alt_text":"usage of a day"}]})";

}  // namespace

TEST_CASE("a message without a text says what its blocks say") {
  CHECK(of(kAlarm).more ==
        "Disk full\n*db-1* at 98 % (http://m.test/1) & rising\nZone: eu-west\nSince <noon>\nAcknowledge\nby the "
        "watch\na graph\nUsage\nusage of a day");
}

TEST_CASE("of a text that says less what it lacks is told, once") {
  const auto more = of(kAlarm, "Disk full on db-1 at 98 %").more;
  CHECK(more.find("Disk full") == std::string::npos);
  CHECK(more.find("Zone: eu-west") != std::string::npos);
  CHECK(
      of(R"({"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"*all* of it"}}]})", "all of it").more.empty());
}

TEST_CASE("what a person writes stands in the text and in rich text, and is said once") {
  const std::string rich = R"({"blocks":[{"type":"rich_text","elements":[
    {"type":"rich_text_section","elements":[{"type":"text","text":"see "},{"type":"link","url":"http://x.test/p","text":"the plan"},
      {"type":"text","text":" in "},{"type":"channel","channel_id":"C0000000A"},{"type":"user","user_id":"U0000000A"},
      {"type":"emoji","name":"otter","unicode":"1f9a6"},{"type":"text","text":"!","style":{"bold":true}}]},
    {"type":"rich_text_list","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"first"}]},
      {"type":"rich_text_section","elements":[{"type":"text","text":"second"}]}]}]}]})";
  const auto said = of(rich, "see the plan (http://x.test/p) in #general @ada :otter: *!*\n- first\n- second");
  CHECK(said.more.empty());
  CHECK(said.emoji == EmojiCharacters{{"otter", "\xF0\x9F\xA6\xA6"}});
  CHECK(said.unmarked == "see the plan (http://x.test/p) in <#C0000000A><@U0000000A>:otter:!\nfirst\nsecond");
  CHECK(of(rich).more == said.unmarked);
}

TEST_CASE("attachments are told by their texts, and by their fallback alone where they have none") {
  CHECK(of(R"({"attachments":[{"fallback":"build 7 failed","color":"danger","pretext":"CI","author_name":"bot",
    "title":"Build 7","title_link":"http://ci.test","text":"failed &amp; stopped",
    "fields":[{"title":"Branch","value":"main"},{"title":"","value":"x86"}],"footer":"since noon"}]})")
            .more == "CI\nbot\nBuild 7\nfailed & stopped\nBranch: main\nx86\nsince noon");
  CHECK(of(R"({"attachments":[{"fallback":"build 7 failed","color":"danger"}]})").more == "build 7 failed");
  CHECK(of(R"({"attachments":[{"fallback":"new words","title":"Build"}]})", "Build").more.empty());
  CHECK(of(R"({"attachments":[{"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"inside"}}]}]})").more ==
        "inside");
}

TEST_CASE("malformed blocks never become nonsense") {
  for (const char* odd :
       {"{}", R"({"blocks":5,"attachments":{}})", R"({"blocks":[5,null,[],{"type":7,"text":[]}]})",
        R"({"blocks":[{"type":"rich_text","elements":[5,{"elements":[null]},{"type":"link"},{"type":"emoji"}]}]})",
        R"({"attachments":[5,{"fields":[5,{}],"blocks":7}]})"}) {
    INFO(odd);
    CHECK(of(odd).more.find_first_not_of(":") == std::string::npos);
  }
  const std::string deep = "{\"blocks\":[{\"type\":\"rich_text\",\"elements\":" + [] {
    std::string text;
    for (int i = 0; i < 50; ++i) text += R"([{"type":"rich_text_section","elements":)";
    text += R"([{"type":"text","text":"down"}])";
    for (int i = 0; i < 50; ++i) text += "}]";
    return text;
  }() + "}]}";
  CHECK(of(deep).more == "down");
  std::string many = R"({"attachments":[)";
  for (int i = 0; i < 20'000; ++i) many += (i ? "," : "") + std::string(R"({"text":"line)") + std::to_string(i) + "\"}";
  CHECK(of(many + "]}").more.size() <= 64 << 10);
}

}  // namespace KRUXOS_TEST_FILE
