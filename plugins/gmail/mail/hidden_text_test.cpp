// What a mail holds and keeps from a person's eyes is told apart from what it says.
#include <catch2/catch.hpp>

#include <ctime>

#include "html_text.hpp"

namespace KRUXOS_TEST_FILE {

namespace {

constexpr std::size_t kMost = 1024 * 1024;

gmail::SeenText read(std::string_view html) {
  return gmail::html_to_text(html, kMost);
}

bool hides(const std::string& html) {
  const auto text = read("<p>seen</p>" + html + "<p>seen too</p>");
  CHECK(text.seen.find("seen") == 0);
  CHECK(text.seen.find("seen too") != std::string::npos);
  const bool is_hidden = text.hidden.find("SECRET") != std::string::npos;
  CHECK(is_hidden == (text.seen.find("SECRET") == std::string::npos));
  return is_hidden;
}

bool style_hides(const std::string& style) {
  return hides("<div style='" + style + "'>SECRET</div>");
}

}  // namespace

TEST_CASE("what inline style hides is set apart") {
  const auto* const style = GENERATE(
      "display:none", "DISPLAY : NONE !important;", "display:block;display:none", "visibility:hidden",
      "visibility: collapse", "opacity:0", "opacity:0.0", "opacity: 0%", "font-size:0", "font-size:0px",
      "font-size: 1px", "font:0/0 a", "color:#fff", "color:white", "color:rgb(255,255,255)", "color:#fefefe",
      "color:transparent", "color:rgba(0,0,0,0)", "background:#123456;color:#123456",
      "background-color:black; color:rgb(0 0 0)", "color:#0000", "position:absolute;left:-9999px",
      "position:absolute; top:-9999em", "text-indent:-9999px", "margin-left:-1000px", "transform:translateX(-9999px)",
      "transform:scale(0)", "max-height:0;overflow:hidden", "max-height:0px; overflow: hidden",
      "height:1px;width:1px;overflow:hidden", "clip-path:inset(50%)", "position:absolute;clip:rect(0,0,0,0)",
      "/* x */display/**/:/**/none", "dis\\70lay:none", "display:n\\6fne", "font-family:\"a;b\";display:none",
      "mso-hide:all;display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;"
      "overflow:hidden");
  INFO(style);
  CHECK(style_hides(style));
}

TEST_CASE("what can be seen, or cannot be told, counts as seen") {
  const auto* const style = GENERATE(
      "display:block", "display:none;display:block", "display:none;display:block!important", "opacity:0.5", "opacity:x",
      "font-size:10px", "font-size:small", "color:#eee", "color:black", "color:var(--x)", "background:#000;color:#fff",
      "background:url(x.png);color:#fff", "background-image:url(x.png);color:white", "max-height:0", "overflow:hidden",
      "overflow:hidden;height:40px", "left:-9999px", "position:absolute;left:9999px", "display:\"none\"",
      "display:0none", "visibility:bogus", "font-family:display\\:none", "color:hsl(0,0%,100%)",
      "background:linear-gradient(#000,#111);color:#fff");
  INFO(style);
  CHECK_FALSE(style_hides(style));
}

TEST_CASE("what is within a hidden element is hidden, unless it is shown again") {
  CHECK(hides("<div hidden>SECRET</div>"));
  CHECK(hides("<div style=display:none><p>a</p><b>SECRET</b></div>"));
  CHECK(hides("<div style=display:none><p style=display:block>SECRET</p></div>"));
  CHECK(hides("<div style=opacity:0><p style=opacity:1>SECRET</p></div>"));
  CHECK_FALSE(hides("<div style=visibility:hidden><p style=visibility:visible>SECRET</p></div>"));
  CHECK_FALSE(hides("<td style=font-size:0><div style=font-size:13px>SECRET</div></td>"));
  CHECK_FALSE(hides("<table><tr><td style=font-size:0><div style=font-size:13px>SECRET</div></td></tr></table>"));
  CHECK(hides("<table><tr><td style=font-size:0><div style=font-size:2em>SECRET</div></td></tr></table>"));
  CHECK_FALSE(hides("<table bgcolor=#000000><tr><td><font color=white>SECRET</font></td></tr></table>"));
  CHECK_FALSE(hides("<table background=x.png><tr><td><font color=white>SECRET</font></td></tr></table>"));
  CHECK(hides("<table bgcolor=fafafa><tr><td><font color=#ffffff>SECRET</font></td></tr></table>"));
  CHECK(read("<body text=white>a<font color=black>b</font>").seen == "b");
  CHECK_FALSE(hides("<div style=color:white><a href='https://x.example/'>SECRET</a></div>"));
  CHECK(hides("<div style=color:white><a style=color:#fff href='https://x.example/'>SECRET</a></div>"));
  CHECK(hides("<dialog>SECRET</dialog>"));
  CHECK_FALSE(hides("<dialog open>SECRET</dialog>"));
  CHECK(hides("<template>SECRET</template>"));
  CHECK(hides("<img alt=SECRET width=1 height=1>"));
  CHECK_FALSE(hides("<img alt=SECRET width=10 height=10>"));
  CHECK(hides("<p title='&#34;&gt;' style='display&colon;none'>SECRET</p>"));
}

TEST_CASE("tags that are not closed, or closed in another order, hide what they hide in a browser") {
  CHECK_FALSE(hides("<p style=display:none>a<div>SECRET</div>"));
  CHECK_FALSE(hides("<p style=display:none>a<p>SECRET"));
  CHECK_FALSE(hides("<ul><li style=display:none>a<li>SECRET</ul>"));
  CHECK_FALSE(hides("<table><tr><td style=display:none>a<td>SECRET</table>"));
  CHECK_FALSE(hides("<table><tr style=display:none><td>a<tr><td>SECRET</table>"));
  CHECK_FALSE(hides("<table style=display:none>SECRET<tr><td>a</table>"));
  CHECK_FALSE(hides("<table style=display:none><div>SECRET</div><tr><td>a</table>"));
  CHECK(hides("<table style=display:none><tr><td>SECRET</table>"));
  CHECK(hides("<table style=display:none><tr><td></div></p></b>SECRET</table>"));
  CHECK(hides("<div style=display:none><table><tr><td></div>SECRET</table></div>"));
  CHECK(hides("<div style=display:none><span>a</div></span><b hidden>SECRET</b>"));
  CHECK_FALSE(hides("<tr style=display:none>SECRET</tr>"));
  CHECK(hides("<b style=display:none><p>a</p>SECRET</b>"));
  CHECK_FALSE(hides("<b style=display:none><p>a</b>SECRET</p>"));
  CHECK(hides("<p><b style=display:none>a</p>SECRET</b>"));
  CHECK_FALSE(hides("<p><b style=display:none>a</b></p>SECRET"));
  CHECK_FALSE(hides("<a style=display:none href=x>a<a href=y>SECRET</a>"));
  CHECK(hides("<span style=display:none>a</i></div></td>SECRET</span>"));
  CHECK_FALSE(hides("<div style=display:none><svg></div>SECRET</svg>"));
  CHECK_FALSE(hides("<svg style=display:none><p>SECRET</p>"));
  CHECK(hides("<svg style=display:none><g>SECRET</g></svg>"));
  CHECK_FALSE(hides("<svg style=display:none /><g>SECRET</g>"));
  CHECK(hides("<svg><desc>SECRET</desc></svg>"));
  CHECK_FALSE(hides("<div style=display:none /></div>SECRET"));
  CHECK(hides("<div a=1 a2=2 style=display:none style=display:block>SECRET</div>"));
  CHECK(hides("<!--><div style=display:none>SECRET</div><!-- -->"));
  CHECK(hides("<form style=display:none><div></form>SECRET</div>"));
}

TEST_CASE("style sheets hide by elements, classes and ids, wherever they stand") {
  const auto sheet = [](const std::string& css, const std::string& html) {
    return hides("<style>" + css + "</style>" + html);
  };
  const std::string by_class = "<p class='a hid'>SECRET</p>";
  CHECK(sheet(".hid{display:none}", by_class));
  CHECK(hides(by_class + "<style>.hid{display:none}</style>"));
  CHECK(sheet("p.hid { color : red ; DISPLAY:NONE }", by_class));
  CHECK(sheet("h1, .hid, h2 {display:none}", by_class));
  CHECK(sheet(".a.hid{display:none}", by_class));
  CHECK(sheet("#x{display:none}", "<p id=x>SECRET</p>"));
  CHECK(sheet("em{display:none}", "<em>SECRET</em>"));
  CHECK(sheet("<!-- .hid{display:none} -->", by_class));
  CHECK(sheet("/* } */ .hid{content:'}';display:none}", by_class));
  CHECK(sheet("@media screen{.hid{display:none}}", by_class));
  CHECK(sheet("@media only screen and (min-width:600px){.hid{display:none}}", by_class));
  CHECK(sheet("@import url(x);.hid{display:none}", by_class));
  CHECK(sheet("@font-face{src:url(x)} .hid{display:none}", by_class));
  CHECK(sheet("div .hid{display:none}", "<div><i>" + by_class + "</i></div>"));
  CHECK(sheet("div > .hid{display:none}", "<div>" + by_class + "</div>"));
  CHECK(sheet(".hid{display:none} .b .hid{display:block}", by_class));
  CHECK(sheet(".hid{display:none} .hid{color:red} p{display:block}", by_class));
  CHECK(sheet("\\.x{} .h\\69 d{display:none}", by_class));
  CHECK(sheet(".hid{display:none!important}", "<p class=hid style=display:block>SECRET</p>"));
  CHECK(sheet("@media print{.hid{display:block}} .hid{display:none}", by_class));

  CHECK_FALSE(sheet(".other{display:none}", by_class));
  CHECK_FALSE(sheet("div.hid{display:none}", by_class));
  CHECK_FALSE(sheet("@media print{.hid{display:none}}", by_class));
  CHECK_FALSE(sheet("@media (max-width:600px){.hid{display:none}}", by_class));
  CHECK_FALSE(sheet("@supports (x:y){.hid{display:none}}", by_class));
  CHECK_FALSE(sheet(".hid:hover{display:none}", by_class));
  CHECK_FALSE(sheet("p[class]{display:none}", by_class));
  CHECK_FALSE(sheet("div .hid{display:none}", by_class));
  CHECK_FALSE(sheet("div > .hid{display:none}", "<div><i>" + by_class + "</i></div>"));
  CHECK_FALSE(sheet(".hid{display:none}", "<p class=hid style=display:block>SECRET</p>"));
  CHECK_FALSE(sheet(".hid{display:none} p.hid{display:block}", by_class));
  CHECK_FALSE(sheet("#x{display:block} .hid{display:none}", "<p id=x class=hid>SECRET</p>"));
  CHECK_FALSE(hides("<style media=print>.hid{display:none}</style>" + by_class));
  CHECK_FALSE(hides("<!-- <style>.hid{display:none}</style> -->" + by_class));
}

TEST_CASE("characters that nobody sees are not the text, and what they spell is set apart") {
  const auto text =
      gmail::set_apart_invisible("pay\U000E0073\U000E0065\U000E006E\U000E0064 now\u200B\u2060\uFEFF\u00AD");
  CHECK(text.seen == "pay now");
  CHECK(text.hidden == "send");
  CHECK(gmail::set_apart_invisible("\u2764\uFE0F \U0001F468\u200D\U0001F469 \u0646\u200C\u0647").seen ==
        "\u2764\uFE0F \U0001F468\u200D\U0001F469 \u0646\u200C\u0647");
  CHECK(gmail::set_apart_invisible("a\u202Eb\u202C\u2066c\u2069").seen == "abc");
  const auto row = gmail::set_apart_invisible("\U0001F600\U000E0158\U000E0159\U000E015A");  // "hij"
  CHECK(row.hidden == "hij");
  CHECK(gmail::set_apart_invisible("a\xff\xc3").seen == "a\uFFFD\uFFFD");
  const auto html = read("<p>a&#xE0068;&#xE0069;b</p><p style=display:none>c</p>");
  CHECK(html.seen == "ab");
  CHECK(html.hidden == "hi\nc");
}

TEST_CASE("what is hidden is bounded") {
  const auto text = read("<p>seen<div hidden>" + std::string(300'000, 'x') + "</div>end");
  CHECK(text.seen == "seen\n\nend");
  CHECK(text.hidden.size() == gmail::kMostHiddenBytes);
}

TEST_CASE("no HTML takes long, or more memory than a few times its own size") {
  const auto times = [](const std::string& piece, std::size_t most, const std::string& end = "") {
    std::string out;
    while (out.size() + piece.size() <= most) out += piece;
    return out + end;
  };
  constexpr std::size_t kSome = 300'000;
  std::string classes = "<style>";
  for (int i = 0; i < 4'000; ++i) classes += ".a .b .c" + std::to_string(i % 3) + "{display:none}";
  const std::string html = GENERATE_COPY(
      times("<div>", kMost), times("<a ", kMost), times("<svg>", kMost), times("<b>", kSome, "x"),
      times("<b><div>", kSome), times("<b hidden><div>", 200'000, times("</b>", 200'000)), times("<p><b>x", kSome),
      times("<table><tr><td>", kSome), times("<table>x", kSome), times("<li><ul>", 50'000, times("<li></li>", 300'000)),
      times("<svg><g>", 80'000, times("</x>", 300'000)), times("<i id=1>", 100'000, times("</i><p>x", 300'000)),
      times("<style></", kSome), times("<!--", kSome), times("&", kSome), times("<!-- --!", kSome),
      times("<a href='", kSome), times("<form><span>", kSome, "</form>"), times("<option><p></option>", kSome),
      classes + "</style>" + times("<div class='a b c0 c1 c2'>x", 300'000),
      "<style>" + times("a{", 500'000) + "</style>" + times("<a>x", 500'000),
      "<style>" + times("*,", 500'000, "*{display:none}") + "</style>" + times("<u>x", 500'000),
      "<p class='" + times("a ", kSome) + "'>", "<p style='" + times("display:none;", kSome) + "'>x",
      "<p style='" + times("(", kSome) + "'>x", "<style>" + times("@media{", kSome) + "</style>x");
  const auto start = std::clock();  // of the processor: the machine may be busy
  read(html);
  const auto ms = (std::clock() - start) * 1000 / CLOCKS_PER_SEC;
  INFO(html.substr(0, 60) << "… takes " << ms << " ms");
  // At most a quarter of a second in release code; sanitizers take many times as long.
  CHECK(ms < 20'000);
}

}  // namespace KRUXOS_TEST_FILE
