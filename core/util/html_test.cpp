#include "core/util/html.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using krux::escape_html;

TEST_CASE("what stands in a page is text") {
  CHECK(escape_html("<a href=\"x\" id='y'>&") == "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
  CHECK(escape_html("&amp;") == "&amp;amp;");
  CHECK(escape_html("\xc3\xa4 \xf0\x9f\x98\x80") == "\xc3\xa4 \xf0\x9f\x98\x80");
  CHECK(escape_html("").empty());
}

}  // namespace KRUXOS_TEST_FILE
