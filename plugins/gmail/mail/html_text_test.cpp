#include "html_text.hpp"

#include <catch2/catch.hpp>

#include <random>

#include "utf8.hpp"

namespace KRUXOS_TEST_FILE {

namespace {

std::string text(std::string_view html) {
  return gmail::html_to_text(html, 100'000).seen;
}

}  // namespace

TEST_CASE("HTML becomes the text that a reader sees") {
  CHECK(text("<p>Hello <b>Amy</b>,</p><p>see you&nbsp;soon.</p>") == "Hello Amy,\n\nsee you\u00a0soon.");
  CHECK(text("one<br>two<br/>three") == "one\ntwo\nthree");
  CHECK(text("one<br><br><br>two") == "one\n\ntwo");
  CHECK(text("a\n   b\t c") == "a b c");
  CHECK(text("<ul><li>one</li><li>two</li></ul>") == "- one\n- two");
  CHECK(text("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>") == "a b\nc");
  CHECK(text("<pre>a\n  b</pre>").find("a\n") == 0);
  CHECK(text("Fish &amp; chips &lt;3 &#8364;5 &#x20AC;6 &euro;7 &bogus; & more") ==
        "Fish & chips <3 €5 €6 €7 &bogus; & more");
}

TEST_CASE("nothing that runs, loads or is no text comes through") {
  CHECK(text("a<script>alert('x')</script>b") == "ab");
  CHECK(text("a<SCRIPT type=x>if (a < b) {}</ScRiPt >b") == "ab");
  CHECK(text("<style>p { color: red }</style>a") == "a");
  CHECK(text("<head><title>T</title></head><body>a</body>") == "a");
  CHECK(text("a<!-- secret -->b<!-- open") == "ab");
  CHECK(text("<!DOCTYPE html><?xml version='1'?>a") == "a");
  CHECK(text("a<img src=\"https://track.example/p.gif\" width=1>b") == "ab");
  CHECK(text("<img src='https://x.example/l.png' alt='The logo'>") == "[The logo]");
  CHECK(text("a<iframe src='https://x.example'>b</iframe>c") == "ac");
  CHECK(text("<script>never closed") == "");
}

TEST_CASE("a comment hides no more than it does in a mail program, and what stands for scripts is shown") {
  CHECK(text("a<!-->b<!-- c -->d") == "abd");
  CHECK(text("a<!--->b") == "ab");
  CHECK(text("a<!-- c --!>b") == "ab");
  CHECK(text("a<!-- > -> -->b") == "ab");
  CHECK(text("a<noscript>b</noscript>c") == "abc");
}

TEST_CASE("character references are those of HTML5") {
  CHECK(text("&Eacute;t&eacute; &oelig;uvre &ne; &dagger; &NotEqualTilde; &Aacute &amp &notit; "
             "&CounterClockwiseContourIntegral;") == "Été œuvre ≠ † ≂̸ Á & ¬it; ∳");
  CHECK(text("&#128; &#x93;q&#x94; &#0; &#xD800; &#x110000; &#65 &#x41 &# &#x &#;") ==
        "€ “q” \uFFFD \uFFFD \uFFFD A A &# &#x &#;");
  CHECK(text("<a href='https://x.example/?a=1&copy=2&amp;b&copy;'>y</a>") == "y (https://x.example/?a=1&copy=2&b©)");
}

TEST_CASE("SVG, MathML and elements with other text are read as browsers do") {
  CHECK(text("before <svg/> after") == "before after");
  CHECK(text("before <math/> after") == "before after");
  CHECK(text("a<svg><title>no</title><text>drawn</text></svg>b") == "adrawnb");
  CHECK(text("a<svg><style>x</style><script>y</script><![CDATA[<b>]]></svg>b") == "a<b>b");
  CHECK(text("a<![CDATA[b]]>c") == "ac");
  CHECK(text("a<textarea><b>&amp;</textarea>b") == "a\n<b>&\nb");
  CHECK(text("<xmp>&amp;<i></xmp>") == "&amp;<i>");
  CHECK(text("a<noscript><b>b</b></noscript><noembed>x</noembed><noframes>y</noframes>c") == "abc");
  CHECK(text("a<script><!--<script></script>x</script>b") == "ab");
  CHECK(text("a<script><!--x</script>b") == "ab");
  CHECK(text("a<script></scripty></script>b") == "ab");
  CHECK(text("<title>a<b></title>c</b>") == "c");
  CHECK(text("a</>b</ >c<?d>e<!f>g") == "abceg");
  CHECK(text("<plaintext></plaintext><b>") == "</plaintext><b>");
}

TEST_CASE("letters that nobody sees, and marks that turn the direction, do not come through") {
  CHECK(text("a\U000E0069\U000E0067\U000E007Fb") == "ab");
  CHECK(text("a&#xE0069;&#917607;b") == "ab");
  CHECK(text("pay\u202Eeno\u202C \u2066x\u2069") == "payeno x");
  CHECK(gmail::clean_text("plain \U000E0041\u202Etext\U000E0001") == "plain text");
  CHECK(gmail::clean_line("subject\U000E0041") == "subject");
}

TEST_CASE("links show where they lead, where that is not what they say") {
  CHECK(text("<a href=\"https://example.com/confirm?a=1&amp;b=2\">Confirm</a> now") ==
        "Confirm (https://example.com/confirm?a=1&b=2) now");
  CHECK(text("<a href='https://example.com'>https://example.com</a>") == "https://example.com");
  CHECK(text("<a href='mailto:amy@example.com'>amy@example.com</a>") == "amy@example.com");
  CHECK(text("<a href='https://evil.example/login'>https://bank.example</a>") ==
        "https://bank.example (https://evil.example/login)");
  CHECK(text("<a href='javascript:alert(1)'>x</a>") == "x");
  CHECK(text("<a href='#top'>up</a>") == "up");
  CHECK(text("<a href=https://example.com/x>plain</a>") == "plain (https://example.com/x)");
}

TEST_CASE("HTML that is none is read as far as it goes") {
  CHECK(text("a < b and c > d") == "a < b and c > d");
  CHECK(text("a<") == "a<");
  CHECK(text("a</") == "a</");
  CHECK(text("a<b") == "a");
  CHECK(text("a<b c=\"d") == "a");
  CHECK(text("</p></p>a") == "a");
  CHECK(text("&#0;&#xD800;&#99999999999;&#;&#x;").find('\0') == std::string::npos);
  CHECK(text(std::string("a\0b", 3)) == std::string("a\0b", 3));  // the host makes U+FFFD of it, and counts
  CHECK(gmail::is_utf8(text("\xff\xfe<p>\xc3")));
  CHECK(gmail::html_to_text(std::string(1000, 'a'), 10).seen == "aaaaaaaaaa");
  CHECK(gmail::html_to_text("ääääää", 5).seen == "ää");
}

TEST_CASE("no bytes of HTML break the reader, and its time is in proportion") {
  constexpr std::string_view kPieces[] = {"<",    ">",   "</",      "a",   " href=", "'", "\"", "&",  "#", ";",
                                          "<!--", "-->", "<script", "<a ", "<p>",    "=", "/",  "\n", "ü", "\xff"};
  std::mt19937 random(11);
  for (int i = 0; i < 5'000; ++i) {
    std::string html;
    for (auto n = random() % 30; n > 0; --n) html += kPieces[random() % std::size(kPieces)];
    CHECK(gmail::is_utf8(text(html)));
  }
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "<div><a href='";
  CHECK(text(deep).empty());
  std::string scripts;
  for (int i = 0; i < 50'000; ++i) scripts += "<script></";
  CHECK(text(scripts).empty());
}

}  // namespace KRUXOS_TEST_FILE
