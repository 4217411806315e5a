#include <catch2/catch.hpp>

#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/testing.hpp"

using namespace krux::test::gmail;

TEST_CASE("a mailbox is listed in pages, newest first, and each message can be had") {
  Emulated gmail;
  gmail.told("seed", R"({"generate": {"messages": 250}})");
  CHECK(gmail.get("profile").text("emailAddress") == "agent@example.com");
  CHECK(gmail.get("profile").body["messagesTotal"].GetInt() == 250);
  std::string token, all;
  int pages = 0;
  do {
    const Answered page = gmail.get("messages?pageToken=" + token);
    REQUIRE(page.status == 200);
    all += page.column("messages", "id") + " ";
    token = page.text("nextPageToken");
    ++pages;
  } while (!token.empty());
  CHECK(pages == 3);
  CHECK(all.size() == 250 * 17);
  const Answered first = gmail.get("messages/" + all.substr(0, 16));
  CHECK(first.text("id") == all.substr(0, 16));
  CHECK(first.text("internalDate") == std::to_string(kNow - 60000));
  CHECK(std::stoull(first.text("historyId")) > (1ULL << 53));
}
