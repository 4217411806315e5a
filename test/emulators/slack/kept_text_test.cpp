#include "emulators/slack/kept_text.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using krux::test::slack::kept_text;

TEST_CASE("a text that is posted is kept with entities, links and names of emoji") {
  CHECK(kept_text("1 < 2 & <@U0ALICE000> &amp; &lt; >") == "1 &lt; 2 &amp; <@U0ALICE000> &amp; &lt; &gt;");
  CHECK(kept_text("see http://x.test/plan now") == "see <http://x.test/plan> now");
  CHECK(kept_text("(https://x.test/?a=1&b=2).") == "(<https://x.test/?a=1&amp;b=2>).");
  CHECK(kept_text("<http://x.test|the plan> <http://x.test>") == "<http://x.test|the plan> <http://x.test>");
  CHECK(kept_text("http:// xhttp://x.test") == "http:// xhttp://x.test");
  CHECK(kept_text("great \xF0\x9F\x98\x84 \xE2\x9D\xA4\xEF\xB8\x8F\xE2\x9D\xA4 caf\xC3\xA9") ==
        "great :smile: :heart::heart: caf\xC3\xA9");
  CHECK(kept_text("<") == "&lt;");
  CHECK(kept_text("").empty());
}

}  // namespace KRUXOS_TEST_FILE
