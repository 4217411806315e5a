#include <catch2/catch.hpp>

#include "emulators/gmail/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::gmail;

namespace {

struct Watched : Emulated {
  Watched() {
    told("seed", R"({"generate": {"messages": 3}})");
    start = get("profile").text("historyId");
  }
  Answered since(const std::string& id, const std::string& more = "") {
    return get("history?startHistoryId=" + id + more);
  }
  std::string start;
};

}  // namespace

TEST_CASE("history tells what came, went and changed since an id") {
  Watched gmail;
  CHECK(gmail.since(gmail.start, "&prettyPrint=false").http.body == R"({"historyId":")" + gmail.start + "\"}");
  const std::string id = gmail.act(R"({"action": "deliver"})");
  gmail.act(R"({"action": "label", "id": ")" + id + R"(", "add": ["STARRED"], "remove": ["UNREAD"]})");
  gmail.act(R"({"action": "delete", "id": ")" + id + "\"}");
  const Answered all = gmail.since(gmail.start);
  const rapidjson::Value& records = all.body["history"];
  REQUIRE(records.Size() == 3);
  CHECK(text_or(records[0]["messagesAdded"][0]["message"], "id") == id);
  CHECK(records[0]["messagesAdded"][0]["message"]["labelIds"].Size() == 2);
  CHECK(text_or(records[0]["messages"][0], "id") == id);
  CHECK(records[1]["labelsAdded"][0]["labelIds"][0] == rapidjson::Value("STARRED"));
  CHECK(records[1]["labelsRemoved"][0]["labelIds"][0] == rapidjson::Value("UNREAD"));
  CHECK(text_or(records[2]["messagesDeleted"][0]["message"], "id") == id);
  CHECK(all.text("historyId") == text_or(records[2], "id"));
  CHECK(gmail.get("messages/" + id).status == 404);
  CHECK(gmail.since(text_or(records[1], "id")).body["history"].Size() == 1);
}

TEST_CASE("history is chosen by type and label") {
  Watched gmail;
  const std::string id = gmail.act(R"({"action": "deliver", "labels": ["SPAM"]})");
  gmail.act(R"({"action": "star", "id": ")" + id + "\"}");
  CHECK(gmail.since(gmail.start, "&historyTypes=labelAdded").body["history"].Size() == 1);
  CHECK(gmail.since(gmail.start, "&historyTypes=labelAdded&historyTypes=messageAdded").body["history"].Size() == 2);
  CHECK_FALSE(gmail.since(gmail.start, "&labelId=INBOX").body.HasMember("history"));
  CHECK(gmail.since(gmail.start, "&labelId=SPAM").body["history"].Size() == 2);
  CHECK(gmail.since(gmail.start, "&historyTypes=labelsAdded").status == 400);
  CHECK(gmail.since(gmail.start, "&labelId=Label_5").status == 400);
}

TEST_CASE("history comes in pages") {
  Watched gmail;
  for (int i = 0; i < 5; ++i) gmail.act(R"({"action": "deliver"})");
  const Answered first = gmail.since(gmail.start, "&maxResults=2");
  CHECK(first.body["history"].Size() == 2);
  const std::string token = first.text("nextPageToken");
  const Answered second = gmail.since(gmail.start, "&maxResults=500&pageToken=" + token);
  CHECK(second.body["history"].Size() == 3);
  CHECK_FALSE(second.body.HasMember("nextPageToken"));
  CHECK(gmail.since(gmail.start, "&pageToken=x").status == 400);
  gmail.told("behaviour", R"({"history_empty_page": true})");
  const Answered empty = gmail.since(gmail.start);
  CHECK_FALSE(empty.body.HasMember("history"));
  CHECK(gmail.since(gmail.start, "&pageToken=" + empty.text("nextPageToken")).body["history"].Size() == 5);
}

TEST_CASE("an id that is forgotten, to come or none is refused") {
  Watched gmail;
  const std::string id = gmail.act(R"({"action": "deliver"})");
  gmail.act(R"({"action": "expire_history"})");
  const Answered old = gmail.since(gmail.start);
  CHECK(old.status == 404);
  CHECK(old.reason() == "notFound");
  CHECK(gmail.since(gmail.get("messages/" + id).text("historyId")).status == 404);
  CHECK(gmail.since(gmail.get("profile").text("historyId")).status == 200);
  CHECK(gmail.since("18446744073709551615").status == 404);
  CHECK(gmail.since("1").status == 404);
  for (const char* garbage : {"abc", "-1", "1.5", "18446744073709551616", "999999999999999999999999"}) {
    CHECK(gmail.since(garbage).status == 400);
  }
  CHECK(gmail.get("history").message() == "Missing/invalid parameter: startHistoryId");
}

}  // namespace KRUXOS_TEST_FILE
