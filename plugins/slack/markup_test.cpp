// Slack's markup, as agents read it and as people see it.
#include "markup.hpp"

#include <catch2/catch.hpp>

#include "emoji.hpp"

namespace KRUXOS_TEST_FILE {

using namespace slack;
using Texts = std::vector<std::string>;

TEST_CASE("entities and links are shown as people write them, with the address where a label hides it") {
  CHECK(shown_text("a &amp;&amp; b &lt;c&gt; &quot; & &am") == "a && b <c> &quot; & &am");
  CHECK(shown_text("&amp;lt;") == "&lt;");
  CHECK(shown_text("see <http://x.test/plan> now") == "see http://x.test/plan now");
  CHECK(shown_text("<http://x.test/?a=1&amp;b=2>") == "http://x.test/?a=1&b=2");
  CHECK(shown_text("<http://x.test/plan|the plan>, read") == "the plan (http://x.test/plan), read");
  CHECK(shown_text("<http://x.test|x.test> <https://x.test/|x.test>") == "x.test x.test");
  CHECK(shown_text("<http://evil.test|http://good.test>") == "http://good.test (http://evil.test)");
  CHECK(shown_text("<mailto:a@x.test|a@x.test> <mailto:a@x.test> <tel:+12|call>") ==
        "a@x.test a@x.test call (tel:+12)");
}

TEST_CASE("people, channels and calls are shown by name") {
  CHECK(shown_text("<@U0000000A|ada> in <#C0000000A|general>") == "@ada in #general");
  CHECK(shown_text("<@U0000000A> in <#C0000000A> <#C0000000A|>") == "<@U0000000A> in <#C0000000A> <#C0000000A|>");
  CHECK(shown_text("<!here> <!channel> <!everyone|everyone>") == "@here @channel @everyone");
  CHECK(shown_text("<!subteam^S01|@ops> <!subteam^S01> <!date^1700000000^{date}|Nov 14>") ==
        "@ops <!subteam^S01> Nov 14");
}

TEST_CASE("what somebody typed as a call of everybody calls nobody when it is quoted") {
  CHECK(shown_text("type &lt;!channel&gt; to call") == "type &lt;!channel> to call");
  CHECK(shown_plain("type <!channel> <!") == "type &lt;!channel> &lt;!");
  Texts hidden;
  CHECK(seen_text("type &lt;!channel&gt;", hidden) == "type <!channel>");
}

TEST_CASE("what is no markup stays as it is") {
  for (const char* text : {"", "<", ">", "a < b", "<>", "<|>", "<x|y>", "<no end", "<@U1", "<!>", "a > b <"}) {
    INFO(text);
    CHECK(shown_text(text) == text);
  }
}

TEST_CASE("people see labels, and what these hide is found too") {
  Texts hidden;
  CHECK(seen_text("see <http://x.test/plan|the plan> &amp; <http://y.test>", hidden) == "see the plan & http://y.test");
  CHECK(hidden == Texts{"http://x.test/plan"});
  CHECK(mentioned("<@U1> and <@U2>, <@U3 <@").size() == 2);
  CHECK(mentioned("<@U1|ada>").front() == "U1|ada");
}

TEST_CASE("names of emoji become characters, known ones and the message's own") {
  CHECK(with_emoji("great :smile: :+1::heart:", {}) ==
        "great \xF0\x9F\x98\x84 \xF0\x9F\x91\x8D\xE2\x9D\xA4\xEF\xB8\x8F");
  CHECK(with_emoji("at 10:30: :no_such_emoji: ::", {}) == "at 10:30: :no_such_emoji: ::");
  CHECK(with_emoji(":otter:", {{"otter", "\xF0\x9F\xA6\xA6"}}) == "\xF0\x9F\xA6\xA6");
  const std::string wave = "\xF0\x9F\x91\x8B", tone = "\xF0\x9F\x8F\xBC";
  CHECK(with_emoji(":wave::skin-tone-3:", {}) == wave + tone);
  CHECK(with_emoji(":wave::skin-tone-3:", {{"wave", wave + tone}}) == wave + tone);
  CHECK(with_emoji(":skin-tone-3:", {}) == ":skin-tone-3:");
  CHECK(with_emoji(":wave: :skin-tone-3:", {}) == wave + " :skin-tone-3:");
  CHECK(emoji_of_codes("1f44b-1f3fc") == wave + tone);
  for (const char* bad : {"", "x", "1f44b-", "d800", "110000", "1f44b-zz", "0"}) {
    INFO(bad);
    CHECK((emoji_of_codes(bad).empty() || std::string(bad) == "1f44b-"));
  }
}

}  // namespace KRUXOS_TEST_FILE
