#include "read_mail.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "utf8.hpp"

namespace KRUXOS_TEST_FILE {

namespace {

using gmail::MailContent;
using gmail::ParsedMail;
using gmail::read_message;

std::string attachment(const ParsedMail& mail, std::string_view id) {
  std::string out;
  REQUIRE(mail.write_part(id, [&](std::string_view piece) {
    out.append(piece);
    return true;
  }));
  return out;
}

/// `lines` with CRLF.
std::string crlf(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, 1, '\r');
  return text;
}

bool says(const MailContent& content, std::string_view part) {
  return std::any_of(content.problems.begin(), content.problems.end(),
                     [&](const std::string& problem) { return problem.find(part) != std::string::npos; });
}

bool is_clean(std::string_view text) {
  return gmail::is_utf8(text) && text.find('\0') == std::string_view::npos;
}

/// What the boundary asks of everything that comes out.
void check_clean(const MailContent& content) {
  std::string lines = content.subject + content.message_id;
  for (const auto* list : {&content.from, &content.reply_to, &content.to, &content.cc, &content.bcc}) {
    for (const auto& one : *list) lines += one.name + one.address;
  }
  for (const auto& one : content.attachments) lines += one.filename + one.mime_type + one.content_id + one.part_id;
  for (const auto& one : content.references) lines += one;
  CHECK(is_clean(lines));
  CHECK(lines.find('\n') == std::string::npos);
  CHECK(is_clean(content.text_plain));
  CHECK(is_clean(content.text_html));
  CHECK(is_clean(content.text_plain));
  CHECK(content.text_plain.find('\r') == std::string::npos);
  for (const auto& problem : content.problems) CHECK(is_clean(problem));
}

constexpr const char* kWhole =
    R"(From: =?utf-8?Q?J=C3=BCrgen?= <j@example.com>
To: Amy <amy@example.com>, bob@example.com
Cc: "Lee, David" <d@example.com>
Reply-To: list@example.com
Subject: =?utf-8?B?R3LDvMOfZQ==?= from here
Date: Fri, 21 Nov 1997 09:55:06 -0600
Message-ID: <m1@example.com>
In-Reply-To: <m0@example.com>
References: <r0@example.com> <m0@example.com>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="outer"

preamble
--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Gr=FC=DFe,=20
soft=
 break
--inner
Content-Type: multipart/related; boundary=related

--related
Content-Type: text/html; charset=utf-8

<p>Grüße <img src="cid:logo@x"></p>
--related
Content-Type: image/png; name=logo.png
Content-Disposition: inline
Content-ID: <logo@x>
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--related--
--inner--
--outer
Content-Type: application/pdf
Content-Disposition: attachment; filename*=utf-8''Angebot%20%E2%82%AC.pdf
Content-Transfer-Encoding: base64

JVBERi0xLjQK
--outer
Content-Type: message/rfc822

From: x@example.com
Subject: inner mail

inner text
--outer--
epilogue
)";

}  // namespace

TEST_CASE("a whole mail is read with all that belongs to it") {
  const auto raw = GENERATE(std::string(kWhole), crlf(kWhole));
  const ParsedMail mail(raw);
  const auto& content = mail.content();
  check_clean(content);
  CHECK(content.subject == "Grüße from here");
  CHECK(gmail::shown(content.from) == "Jürgen <j@example.com>");
  CHECK(gmail::shown(content.to) == "Amy <amy@example.com>, bob@example.com");
  CHECK(gmail::shown(content.cc) == "\"Lee, David\" <d@example.com>");
  CHECK(gmail::shown(content.reply_to) == "list@example.com");
  CHECK(content.date_ms == 880'127'706'000);
  CHECK(content.message_id == "m1@example.com");
  CHECK(content.in_reply_to == std::vector<std::string>{"m0@example.com"});
  CHECK(content.references == std::vector<std::string>{"r0@example.com", "m0@example.com"});
  CHECK(content.text_plain == "Grüße, \nsoft break");
  CHECK(content.text_html.find("<p>Grüße") == 0);
  REQUIRE(content.attachments.size() == 3);
  const auto& logo = content.attachments[0];
  CHECK(logo.part_id == "0.1.1");
  CHECK(logo.filename == "logo.png");
  CHECK(logo.content_id == "logo@x");
  CHECK(logo.is_inline);
  CHECK(logo.size == 8);
  const auto& offer = content.attachments[1];
  CHECK(offer.part_id == "1");
  CHECK(offer.filename == "Angebot €.pdf");
  CHECK(offer.mime_type == "application/pdf");
  CHECK(offer.size == 9);
  CHECK_FALSE(offer.is_inline);
  CHECK(content.attachments[2].mime_type == "message/rfc822");
  CHECK(content.problems.empty());
  CHECK(attachment(mail, "0.1.1") == "\x89PNG\r\n\x1a\n");
  CHECK(attachment(mail, "1") == "%PDF-1.4\n");
  CHECK(attachment(mail, "1") == "%PDF-1.4\n");
  CHECK(attachment(mail, "2").find("inner text") != std::string::npos);
  CHECK(content.attachments[2].size == static_cast<std::int64_t>(attachment(mail, "2").size()));
  CHECK(mail.header("x-none").empty());
  CHECK(mail.header("SUBJECT") == "Grüße from here");
}

TEST_CASE("parts that there are not are said to be none") {
  const ParsedMail mail(kWhole);
  const auto sink = [](std::string_view) { return true; };
  for (const auto* id : {"", "3", "-1", "0.9", "1.0", "0..1", "x", "0.1.1.0", "99999999999999999999"}) {
    CAPTURE(id);
    CHECK_FALSE(mail.write_part(id, sink));
  }
  CHECK_FALSE(mail.write_part("1", [](std::string_view) { return false; }));
  CHECK_THROWS_AS(mail.write_part("2", [](std::string_view) -> bool { throw std::runtime_error("full"); }),
                  std::runtime_error);
}

TEST_CASE("a mail of one part is text, or one attachment") {
  CHECK(read_message("Subject: a\n\nhello\n").text_plain == "hello\n");
  const std::string pdf = "Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\naGVsbG8=\n";
  const ParsedMail mail(pdf);
  REQUIRE(mail.content().attachments.size() == 1);
  CHECK(mail.content().attachments[0].part_id == "0");
  CHECK(attachment(mail, "0") == "hello");
  CHECK(mail.content().text_plain.empty());
}

TEST_CASE("a part is text in its own charset, and parts that hold others are none") {
  const ParsedMail mail(
      "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
      "--b\nContent-Type: text/csv; charset=iso-8859-1\nContent-Transfer-Encoding: base64\n\nY2Fm6Q0KeA==\n"
      "--b\nContent-Type: text/plain; charset=nobody-knows; name=a.txt\n\nabc\n"
      "--b\nContent-Type: message/rfc822\n\nSubject: within\n\ntext\n"
      "--b\nContent-Type: multipart/alternative; boundary=c\n\n--c\n\nx\n--c--\n--b--\n");
  const auto csv = mail.text_of_part("0");
  REQUIRE(csv);
  CHECK(csv->text == "café\nx");
  CHECK((!csv->is_cut && csv->is_charset_known));
  CHECK_FALSE(mail.text_of_part("1")->is_charset_known);
  CHECK(mail.text_of_part("1")->text == "abc");
  for (const char* none : {"2", "3", "9", "", "x", "0.0"}) {
    INFO(none);
    CHECK_FALSE(mail.text_of_part(none));
  }
}

TEST_CASE("a long text that names no charset is cut between characters") {
  std::string text = "xyz";
  while (text.size() <= gmail::kMostBodyBytes) text += "Über ";
  REQUIRE((static_cast<unsigned char>(text[gmail::kMostBodyBytes]) & 0xc0) == 0x80);
  const auto content = read_message("Subject: x\n\n" + text);
  CHECK(content.is_cut);
  CHECK(content.text_plain.starts_with("xyzÜber Über"));
}

TEST_CASE("texts of every charset become UTF-8, and of none too") {
  struct Case {
    const char *charset, *bytes, *text;
    bool known;
  };
  const auto c = GENERATE(values<Case>({{"utf-8",
                                         "Gr\xc3\xbc\xc3\x9f"
                                         "e",
                                         "Grüße", true},
                                        {"UTF-8",
                                         "a\xff"
                                         "b",
                                         "a\xef\xbf\xbd"
                                         "b",
                                         true},
                                        {"iso-8859-1", "Z\xfcrich", "Zürich", true},
                                        {"windows-1252", "\x93hi\x94", "“hi”", true},
                                        {"us-ascii", "Z\xfcrich", "Zürich", true},
                                        {"koi8-r", "\xf0\xd2\xc9\xd7\xc5\xd4", "Привет", true},
                                        {"gb2312", "\xc4\xe3\xba\xc3", "你好", true},
                                        {"shift_jis", "\x93\xfa\x96{", "日本", true},
                                        {"iso-2022-jp", "\x1b$BF|K\\\x1b(B", "日本", true},
                                        {"euc-kr", "\xc7\xd1", "한", true},
                                        {"big5", "\xa7\x41", "你", true},
                                        {"utf-7", "+AOk-", "é", true},
                                        {"x-made-up",
                                         "Gr\xc3\xbc\xc3\x9f"
                                         "e",
                                         "Grüße", false},
                                        {"x-made-up", "Z\xfcrich", "Zürich", false},
                                        {"\"a b/../c\"", "hello", "hello", false}}));
  CAPTURE(c.charset, c.bytes);
  const auto content = read_message("Content-Type: text/plain; charset=" + std::string(c.charset) + "\n\n" + c.bytes);
  CHECK(content.text_plain == c.text);
  CHECK(says(content, "character set") == !c.known);
}

TEST_CASE("names of files lead nowhere") {
  const auto name = [](const std::string& field) {
    const auto content =
        read_message("Content-Type: application/x\nContent-Disposition: attachment; " + field + "\n\nx");
    REQUIRE(content.attachments.size() == 1);
    return content.attachments[0].filename;
  };
  CHECK(name("filename=a.pdf") == "a.pdf");
  CHECK(name("filename=\"../../etc/passwd\"") == ".._.._etc_passwd");
  CHECK(name("filename=\"C:\\\\x\\\\a.exe\"").find('\\') == std::string::npos);
  CHECK(name("filename=\"=?utf-8?Q?a=0Ab=00c.pdf?=\"").find('\n') == std::string::npos);
  CHECK(name("filename*=utf-8''a%E2%80%AEfdp.exe") == "afdp.exe");
  CHECK(name("filename*0*=utf-8''Gr%C3%BC; filename*1*=%C3%9Fe.txt") == "Grüße.txt");
  CHECK(name("filename=\"=?utf-8?B?R3LDvMOfZQ==?=.txt\"") == "Grüße.txt");
  CHECK(name("filename=\"" + std::string(1000, 'a') + "\"").size() == gmail::kMostFilenameBytes);
  CHECK(name("filename=\" . \"").empty());
}

TEST_CASE("malformed mail gives what can be read, and says so") {
  SECTION("nothing at all") {
    CHECK(says(read_message(""), "no mail") == read_message("").text_plain.empty());
  }
  SECTION("a boundary that never comes") {
    const auto content = read_message("Content-Type: multipart/mixed; boundary=x\n\nhello there\n");
    CHECK(content.text_plain.find("hello there") != std::string::npos);
    CHECK_FALSE(content.problems.empty());
  }
  SECTION("no boundary named") {
    const auto content = read_message("Content-Type: multipart/mixed\n\nhello there\n");
    CHECK(content.text_plain.find("hello there") != std::string::npos);
    CHECK(says(content, "does not say where they begin"));
  }
  SECTION("cut off within a part") {
    const auto content =
        read_message("Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nhello");
    CHECK(content.text_plain.find("hello") != std::string::npos);
  }
  SECTION("base64 that is none") {
    const auto content = read_message("Content-Transfer-Encoding: base64\n\naGVs*bG8=!!\n\xff\xfe");
    CHECK(content.text_plain.find("hel") == 0);
    check_clean(content);
  }
  SECTION("quoted-printable that is none") {
    const auto content = read_message("Content-Transfer-Encoding: quoted-printable\n\na=ZZb=4\n=");
    CHECK(content.text_plain.find('a') == 0);
    check_clean(content);
  }
  SECTION("NUL bytes everywhere") {
    std::string raw = "Sub\0ject: a\0b\nTo: a\0@b\n\nx\0y\n";
    raw = std::string("Subject: a") + '\0' + "b\nTo: a" + '\0' + "@b\n\nx" + '\0' + "y\n";
    const auto content = read_message(raw);
    CHECK(content.text_plain.find(std::string("x\0y", 3)) == 0);
    CHECK(content.subject == "a");  // GMime ends a field at a NUL
  }
  SECTION("CR alone ends the lines") {
    const auto content = read_message("Subject: old mac\rTo: a@b.example\r\rhello\rworld\r");
    CHECK(content.subject == "old mac");
    CHECK(content.text_plain == "hello\nworld\n");
    CHECK(says(content, "ends its lines"));
  }
  SECTION("winmail.dat") {
    const auto content = read_message("Content-Type: application/ms-tnef; name=winmail.dat\n\nx");
    CHECK(says(content, "winmail.dat"));
    CHECK(content.attachments.size() == 1);
  }
  SECTION("no blank line before the text") {
    check_clean(read_message("Subject: a\nthis is no field\nnor this\n"));
  }
  SECTION("the same field several times") {
    CHECK(read_message("Subject: one\nSubject: two\n\nx").subject == "one");
  }
}

TEST_CASE("what is too much is cut, and said") {
  SECTION("parts within parts") {
    std::string raw;
    for (int i = 0; i < 3000; ++i) {
      const auto b = "b" + std::to_string(i);
      raw += "Content-Type: multipart/mixed; boundary=" + b + "\n\n--" + b + "\n";
    }
    const auto content = read_message(raw + "\nhello");
    check_clean(content);
    CHECK_FALSE(content.problems.empty());
  }
  SECTION("mails within mails") {
    std::string raw;
    for (int i = 0; i < 3000; ++i) raw += "Content-Type: message/rfc822\n\n";
    check_clean(read_message(raw + "\nhello"));
  }
  SECTION("parts beside parts") {
    std::string raw = "Content-Type: multipart/mixed; boundary=x\n\n";
    for (int i = 0; i < 5000; ++i) raw += "--x\nContent-Type: application/x\n\na\n";
    const auto content = read_message(raw + "--x--\n");
    CHECK(content.attachments.size() < gmail::kMostParts + 1);
    CHECK(says(content, "more parts than are read"));
    for (int i = 0; i < 20'000; ++i) raw += "--x\n\na\n";
    CHECK(says(read_message(raw), "what follows them is missing"));
  }
  SECTION("fields without end, in the mail, in a part and in a mail within it") {
    std::string fields;
    for (int i = 0; i < 100'000; ++i) fields += "X: y\n";
    for (const auto* before :
         {"", "Content-Type: multipart/mixed; boundary=x\n\n--x\n", "Content-Type: message/rfc822\n\n",
          "Content-Type: multipart/digest; boundary=x\n\n--x\n\n"}) {
      CAPTURE(before);
      CHECK(says(read_message("Subject: a\n" + std::string(before) + fields + "\nx"), "what follows them is missing"));
    }
    CHECK(
        says(read_message("Subject: a\nX: " + std::string(3'000'000, 'a') + "\n\nx"), "what follows them is missing"));
  }
  SECTION("a long text, cut between characters") {
    std::string raw = "Content-Type: text/plain; charset=utf-8\n\n";
    for (int i = 0; i < 600'000; ++i) raw += "ü€";
    const auto content = read_message(raw);
    CHECK(content.text_plain.size() <= gmail::kMostBodyBytes);
    CHECK(content.text_plain.size() > gmail::kMostBodyBytes - 8);
    CHECK(is_clean(content.text_plain));
    CHECK(says(content, "longer than what is read"));
  }
  SECTION("a long header") {
    const auto content = read_message("Subject: " + std::string(1'000'000, 'a') + "\n\nx");
    CHECK(content.subject.size() <= gmail::kMostHeaderBytes);
    CHECK(says(content, "header field is longer"));
    CHECK(content.text_plain == "x");
  }
}

TEST_CASE("every mail of the corpus is read cleanly") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GMAIL_MAIL_TESTDATA)) {
    if (entry.path().extension() != ".eml") continue;
    CAPTURE(entry.path().filename().string());
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    const auto raw = bytes.str();
    const ParsedMail mail(raw);
    check_clean(mail.content());
    for (const auto& one : mail.content().attachments) {
      CHECK(static_cast<std::int64_t>(attachment(mail, one.part_id).size()) == one.size);
    }
    ++count;
  }
  CHECK(count >= 30);
}

}  // namespace KRUXOS_TEST_FILE
