// Mail as programs write it, whatever the standards say.
#include <catch2/catch.hpp>

#include <algorithm>

#include "headers.hpp"
#include "html_tokens.hpp"
#include "read_mail.hpp"
#include "reply.hpp"

namespace KRUXOS_TEST_FILE {

using gmail::MailContent;
using gmail::read_message;

namespace {

std::string multipart(const std::string& kind, const std::vector<std::string>& parts,
                      const std::string& boundary = "b") {
  std::string out = "Content-Type: multipart/" + kind + "; boundary=" + boundary + "\n\n";
  for (const auto& part : parts) out += "--" + boundary + "\n" + part + "\n";
  return out + "--" + boundary + "--\n";
}
std::string plain(const std::string& text, const std::string& more = "") {
  return "Content-Type: text/plain; charset=utf-8" + more + "\n\n" + text;
}
std::string html(const std::string& text, const std::string& more = "") {
  return "Content-Type: text/html; charset=utf-8" + more + "\n\n" + text;
}
std::string text_of(const std::string& mail) {
  return std::string(gmail::without_blanks(read_message("MIME-Version: 1.0\n" + mail).text_plain));
}
std::string in_charset(const std::string& charset, const std::string& bytes) {
  return text_of("Content-Type: text/plain; charset=\"" + charset + "\"\n\n" + bytes);
}

}  // namespace

TEST_CASE("a mail's text is read part by part") {
  const std::string footer = plain("_____\nlist footer");
  CHECK(text_of(multipart("mixed", {html("<p>codename ZEBRAFISH</p>"), footer})) ==
        "codename ZEBRAFISH\n_____\nlist footer");
  CHECK(text_of(multipart("mixed", {plain("first"), html("<p>second</p>"), plain("third")})) == "first\nsecond\nthird");
  CHECK(text_of(multipart("alternative", {plain(" \n\t"), html("<p>the message</p>")})) == "the message");
  CHECK(text_of(multipart("alternative", {plain("\u00a0\u200b\n"), html("<p>the message</p>")})) == "the message");
  CHECK(text_of(multipart("alternative", {plain("as text"), html("<p>as HTML</p>")})) == "as text");
  CHECK(text_of(multipart("alternative", {html("<p>as HTML</p>"), plain("as text")})) == "as text");
  CHECK(text_of(multipart("alternative", {plain("as text"), html("<img src=x>")})) == "as text");
  CHECK(text_of(multipart("mixed", {multipart("alternative", {plain("text"), html("HTML")}, "c"), footer})) ==
        "text\n_____\nlist footer");
  CHECK(text_of(multipart("related", {html("<p>one</p>"), plain("two")})) == "one\ntwo");
  CHECK(text_of(multipart("alternative", {plain(""), multipart("related", {html("<p>the message</p>")}, "c")})) ==
        "the message");
}

TEST_CASE("a forward quotes each part in the form that it has") {
  const auto raw =
      "Subject: x\nMIME-Version: 1.0\n" +
      multipart("mixed", {plain("a & b"), multipart("alternative", {plain("c"), html("<p>C</p>")}, "c"), plain("d")});
  const gmail::ParsedMail mail(raw);
  gmail::MessageDraft draft;
  gmail::forward(mail, "", draft);
  CHECK(draft.text.find("a & b\nc\nd") != std::string::npos);
  const auto first = draft.html.find("a &amp; b"), second = draft.html.find("<p>C</p>"),
             third = draft.html.find("d", second);
  CHECK((first < second && second < third && third != std::string::npos));
  CHECK(mail.content().text_html.find("a &") == std::string::npos);
  const auto content = read_message("MIME-Version: 1.0\n" + multipart("mixed", {plain("a"), plain("b")}));
  CHECK(content.quoted_html.empty());
}

TEST_CASE("what a mail hides is told apart in whichever part it stands") {
  const auto content = read_message(
      "MIME-Version: 1.0\n" +
      multipart("mixed",
                {multipart("alternative",
                           {plain("as te\U000E0068\U000E0069xt"), html("<div hidden>preheader</div><p>x</p>")}, "c"),
                 html("<p>seen<p style=display:none>SECRET")}));
  CHECK(content.text_plain.find("as text") == 0);
  CHECK(content.text_plain.find("seen") != std::string::npos);
  CHECK(content.text_plain.find("SECRET") == std::string::npos);
  CHECK(content.hidden_text == "hi\npreheader\nSECRET");
}

TEST_CASE("charsets are those that are sent under a name") {
  CHECK(in_charset("shift_jis", "\x87\x40\x87\x8a\xee\xe0\xfb\xfc \x81\x60\x81\x5c ok") == "①㈱髙髙 ～― ok");
  CHECK(in_charset("Shift-JIS", "\x93\xfa\x96{") == "日本");
  CHECK(in_charset("euc-kr", "\x8c\x63\xb0\xa2\xc7\xcf") == "똠각하");
  CHECK(in_charset("ks_c_5601-1987", "\x8c\x63\xb0\xa2\xc7\xcf") == "똠각하");
  for (const char* western : {"iso-8859-1", "ISO_8859-1", "latin1", "us-ascii", "windows-1252", " Windows-1252 "}) {
    INFO(western);
    CHECK(in_charset(western, "\x93hello\x94 \x96 it\x92s 5 \x80 \x85") == "“hello” – it’s 5 € …");
  }
  CHECK(in_charset("iso-8859-9", "\xdd\x93\xfd\x94") == "İ“ı”");
  CHECK(in_charset("iso-8859-11", "\xa1\x80") == "ก€");
  CHECK(in_charset("gb2312", "\xfa\x40\x81\x30\x81\x30") == "鶣\u0080");
  CHECK(in_charset("big5", "\xad\xbb\xb4\xe4\x9d\xef\x9d\xcf\xf9\xd6") == "香港嘅嘢碁");
  CHECK(in_charset("euc-jp", "\xad\xa1\xad\xea\xa1\xc1") == "①㈱～");
  CHECK(in_charset("iso-2022-jp", "\x1b$B-!-j\x1b(B end \x1b$BF|K\\\x1b(B \x1b(I1\x1b(B") == "①㈱ end 日本 ｱ");
  CHECK(in_charset("iso-2022-jp-2", "\x1b$BF|K\\\x1b(B") == "日本");
  CHECK(in_charset("iso-2022-jp", "\x1b$(D\x30\x21\x1b(B") == "丂");
  CHECK(in_charset("windows-1258", "T\xf4i") == "Tôi");
  CHECK(in_charset("windows-1255", "\xf9\xec\xe5\xed") == "שלום");
  CHECK(in_charset("koi8-r", "\xf0\xd2") == "Пр");
  CHECK(in_charset("x-mac-cyrillic", "\x80\x81") == "АБ");
  CHECK(in_charset("utf-16", std::string("\xff\xfeh\0i\0", 6)) == "hi");
  CHECK(in_charset("utf-16", std::string("\xfe\xff\0h\0i", 6)) == "hi");
  CHECK(in_charset("utf-16be", std::string("\0h\0i", 4)) == "hi");
  CHECK(in_charset("utf-8", "\xef\xbb\xbfhi") == "hi");
  CHECK(in_charset("iso-8859-1", "\xef\xbb\xbfGr\xc3\xbc\xc3\x9f") == "Grüß");
  CHECK(in_charset("unicode-1-1-utf-7", "+AOk-") == "é");
}

TEST_CASE("headers are in the same charsets") {
  CHECK(gmail::decode_header("=?shift_jis?B?h0CHig==?=") == "①㈱");
  CHECK(gmail::decode_header("=?euc-kr?B?jGOwog==?=") == "똠각");
  CHECK(gmail::decode_header("=?iso-8859-1?Q?=93hi=94_=96?=") == "“hi” –");
  CHECK(gmail::decode_header("=?iso-2022-jp?B?GyRCLSEtahsoQg==?=") == "①㈱");
  CHECK(gmail::shown(gmail::parse_addresses("=?iso-8859-1?Q?=93Amy=94?= <a@example.com>")) == "“Amy” <a@example.com>");
}

TEST_CASE("HTML says its charset where the mail does not") {
  const std::string russian = "\xcf\xf0\xe8\xe2\xe5\xf2";
  CHECK(text_of("Content-Type: text/html\n\n<html><head><meta charset=windows-1251></head>" + russian) == "Привет");
  CHECK(text_of(
            "Content-Type: text/html\n\n<meta http-equiv=Content-Type content=\"text/html; charset='windows-1251'\">" +
            russian) == "Привет");
  CHECK(text_of("Content-Type: text/html; charset=utf-8\n\n<meta charset=windows-1251>ü") == "ü");
  CHECK(text_of("Content-Type: text/html\n\n<meta charset=utf-16>ü") == "ü");
  CHECK(text_of("Content-Type: text/html\n\n<!-- <meta charset=koi8-r> -->" + russian) == "Ïðèâåò");
  CHECK(text_of("Content-Type: text/plain\n\n<meta charset=koi8-r>\xe9") == "<meta charset=koi8-r>é");
}

TEST_CASE("texts and attachments are told apart") {
  const auto parts = [](const std::string& mail) { return read_message("MIME-Version: 1.0\n" + mail); };
  const auto named =
      parts("Content-Type: text/plain; name=note.txt\nContent-Disposition: inline; filename=note.txt\n\nhello\n");
  CHECK(named.text_plain == "hello\n");
  REQUIRE(named.attachments.size() == 1);
  CHECK(named.attachments[0].filename == "note.txt");
  const auto beside =
      parts(multipart("mixed", {plain("hello"), plain("more", "; name=a.txt\nContent-Disposition: inline"),
                                plain("attached", "; name=b.txt"), plain("c", "\nContent-Disposition: attachment")}));
  CHECK(beside.text_plain.find("hello\nmore") == 0);
  CHECK(beside.text_plain.find("attached") == std::string::npos);
  CHECK(beside.attachments.size() == 3);
  for (const char* kind : {"markdown", "enriched"}) {
    const auto alone = parts("Content-Type: text/" + std::string(kind) + "\n\n# hello\n");
    CHECK(alone.text_plain == "# hello\n");
    CHECK(alone.attachments.empty());
  }
  const auto calendar = parts("Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\n");
  CHECK(calendar.text_plain == "BEGIN:VCALENDAR\n");
  CHECK(calendar.attachments.size() == 1);
  const auto invitation =
      parts(multipart("alternative", {plain("come"), "Content-Type: text/calendar\n\nBEGIN:VCALENDAR\n"}));
  CHECK(invitation.text_plain.find("come") == 0);
  CHECK(invitation.text_plain.find("VCALENDAR") == std::string::npos);
  CHECK(invitation.attachments.size() == 1);
}

TEST_CASE("types that are none are what mail programs take them for") {
  const auto* const nothing = GENERATE("text", "TEXT; charset=utf-8", "", "text/", "; charset=utf-8");
  INFO(nothing);
  const auto content = read_message("Content-Type: " + std::string(nothing) + "\n\nhello\n");
  CHECK(content.text_plain == "hello\n");
  CHECK(content.attachments.empty());
  const auto gzip = read_message("Content-Type: application-x-gzip; name=\"document.xml.gz\"\n\nx");
  REQUIRE(gzip.attachments.size() == 1);
  CHECK(gzip.attachments[0].filename == "document.xml.gz");
  CHECK(gzip.attachments[0].mime_type == "application/octet-stream");
}

TEST_CASE("base64 that no padding ends is read to its end") {
  const std::string head = "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n";
  for (const char* data : {"aGVsbG8", "aGVsbG8=", "aGVs\nbG8\n", "aGVsbG8= \n"}) {
    INFO(data);
    CHECK(read_message(head + data).text_plain == "hello");
  }
  CHECK(read_message(head + "aGVsbA").text_plain == "hell");
  CHECK(read_message(head + "aGVsbG8h").text_plain == "hello!");
  CHECK(read_message(head + "aGVsbA==\naGVsbA").text_plain.find("hell") == 0);
}

TEST_CASE("of two Content-Types the first counts, in the mail and in a part") {
  const std::string body = "--b\nContent-Type: text/plain\nContent-Type: text/html\n\nf<o>o\n--b--\n";
  const auto content =
      read_message("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\ncontent-type: text/plain\n\n" + body);
  CHECK(content.text_plain == "f<o>o");
  CHECK(std::any_of(content.problems.begin(), content.problems.end(),
                    [](const std::string& one) { return one.find("twice") != std::string::npos; }));
}

TEST_CASE("a header that no empty line ends, ends where no field follows") {
  CHECK(text_of("Content-Type: text/html; charset=utf-8\n<html><body>hello</body></html>\n") == "hello");
  CHECK(text_of("Content-Type: text/html\n<p>hello</p>\n\n<p>more</p>\n") == "hello\n\nmore");
  CHECK(text_of("Subject: x\r\nthis is text: without\r\n\r\nmore") == "this is text: without\n\nmore");
  const auto within = read_message("From: a@example.com\nnonsense here\nSubject: later\n\ntext");
  CHECK(within.subject == "later");
  CHECK(within.text_plain == "text");
  CHECK(read_message("From someone\nSubject: s\n\ntext").subject == "s");
}

}  // namespace KRUXOS_TEST_FILE
