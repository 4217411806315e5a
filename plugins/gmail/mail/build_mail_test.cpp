#include <kruxos/adapter/error.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "build_mail.hpp"
#include "encoded_words.hpp"
#include "recipients.hpp"
#include "test_support/mails.hpp"
#include "utf8.hpp"

namespace KRUXOS_TEST_FILE {

namespace {

using gmail::DraftAttachment;
using gmail::MessageDraft;
using gmail::ParsedMail;
using gmail::read_message;

MessageDraft draft() {
  MessageDraft draft;
  draft.from = {"Amy Lee", "amy@example.com"};
  draft.to = {{"", "bob@example.com"}};
  draft.subject = "Dinner";
  draft.text = "At eight?\n";
  draft.message_id = gmail::message_id_for("w_01", "amy@example.com");
  draft.date_ms = 880'127'706'000;
  return draft;
}

std::string written(const MessageDraft& draft) {
  gmail::OutgoingMail mail(draft);
  const auto size = mail.size();
  const auto out = gmail::whole(std::move(mail));
  CHECK(out.size() == size);
  // What every mail server takes: ASCII, lines of 998 characters and fewer, CRLF alone.
  std::size_t length = 0, longest = 0, alone = 0, foreign = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '\n' && (i == 0 || out[i - 1] != '\r')) ++alone;
    if (out[i] == '\r' && (i + 1 == out.size() || out[i + 1] != '\n')) ++alone;
    if (static_cast<signed char>(out[i]) <= 0) ++foreign;
    length = out[i] == '\n' ? 0 : length + 1;
    longest = std::max(longest, length);
  }
  CHECK(alone == 0);
  CHECK(foreign == 0);
  CHECK(longest <= 998);
  return out;
}

std::string refusal(const MessageDraft& draft) {
  try {
    (void)gmail::OutgoingMail(draft);
    return "taken";
  } catch (const kruxos::ProxyError& error) {
    CHECK(error.kind() == kruxos::ErrorKind::kInvalid);
    CHECK(error.type() == "InvalidInput");
    CHECK(error.has_no_effect());
    return error.what();
  }
}

std::string part(const std::string& raw, const std::string& id) {
  std::string out;
  CHECK(ParsedMail(raw).write_part(id, [&](std::string_view piece) {
    out.append(piece);
    return true;
  }));
  return out;
}

}  // namespace

TEST_CASE("a plain mail comes back as it was written") {
  auto mail = draft();
  mail.cc = {{"Lee, David", "d@example.com"}};
  mail.bcc = {{"", "e@example.com"}};
  mail.extra_headers = {{"X-KruxOS-Write-Id", "w_01"}};
  const auto raw = written(mail);
  const auto back = read_message(raw);
  CHECK(back.problems.empty());
  CHECK(gmail::shown(back.from) == "Amy Lee <amy@example.com>");
  CHECK(gmail::shown(back.to) == "bob@example.com");
  CHECK(gmail::shown(back.cc) == "\"Lee, David\" <d@example.com>");
  CHECK(gmail::shown(back.bcc) == "e@example.com");
  CHECK(back.subject == "Dinner");
  CHECK(back.text_plain == "At eight?\n");
  CHECK(back.date_ms == 880'127'706'000);
  CHECK(back.message_id == "w_01.kruxos@example.com");
  CHECK(ParsedMail(raw).header("X-KruxOS-Write-Id") == "w_01");
  CHECK(raw.find("MIME-Version: 1.0\r\n") != std::string::npos);
  CHECK(written(mail) == raw);
}

TEST_CASE("every letter survives, in headers, names and texts") {
  const std::string text =
      GENERATE(std::string("Grüße"), std::string("日本語のメール"), std::string("🎉🎉🎉"), std::string("a=?utf-8?Q?b?="),
               std::string("\"quoted\", <angle> (round) \\ = ? _"), std::string(1000, 'x'), std::string("ü "), [] {
                 std::string all;
                 for (int i = 0; i < 300; ++i) all += "Ä日 x🎉";
                 return all;
               }());
  CAPTURE(text);
  auto mail = draft();
  mail.subject = text;
  mail.to = {{text.substr(0, text.size() > 1000 ? 0 : text.size()), "bob@example.com"}};
  mail.text = text + "\n" + text;
  DraftAttachment one;
  one.filename = text.size() <= 255 && text.find("=?") == std::string::npos ? text : "long";
  gmail::give(one, "x");
  mail.attachments = {one};
  const auto back = read_message(written(mail));
  auto subject = text;
  while (subject.back() == ' ') subject.pop_back();
  CHECK(back.subject == subject);
  if (mail.to[0].name == subject) CHECK(back.to[0].name == mail.to[0].name);
  CHECK(back.to[0].address == "bob@example.com");
  CHECK(back.text_plain == mail.text);
  REQUIRE(back.attachments.size() == 1);
  if (text.find_first_of("\\?") == std::string::npos && text.back() != ' ')
    CHECK(back.attachments[0].filename == one.filename);
}

TEST_CASE("texts keep their lines and blanks, whatever they are") {
  for (const std::string text : {"one\ntwo", "one\r\ntwo\r\n", "trailing  \n\t\n", "From here\n.\n--\n-- \nx", "no end",
                                 "\n\n\nmany\n\n\n", "=3D=\n=", "日本\r\n語\n"}) {
    CAPTURE(text);
    auto mail = draft();
    mail.text = text;
    auto expected = text;
    expected.erase(std::remove(expected.begin(), expected.end(), '\r'), expected.end());
    if (expected.back() != '\n') expected += '\n';
    CHECK(read_message(written(mail)).text_plain == expected);
  }
  auto mail = draft();
  mail.text = std::string(100'000, 'a');
  CHECK((read_message(written(mail)).text_plain == mail.text + "\n"));
}

TEST_CASE("HTML goes with its text") {
  auto mail = draft();
  mail.html = "<p>At <b>eight</b>, Grüße?</p>";
  mail.text.clear();
  const auto raw = written(mail);
  const auto back = read_message(raw);
  CHECK(raw.find("multipart/alternative") != std::string::npos);
  CHECK(back.text_html == mail.html);
  CHECK(back.text_plain == "At eight, Grüße?");
  CHECK(back.attachments.empty());
}

TEST_CASE("attachments come back byte for byte") {
  std::mt19937 random(3);
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(random());
  auto mail = draft();
  DraftAttachment plain, coded, picture;
  plain.filename = "Grüße €.bin";
  gmail::give(plain, bytes);
  coded.filename = "b.pdf";
  coded.mime_type = "application/pdf";
  gmail::give(coded, bytes);
  picture.mime_type = "image/png";
  picture.content_id = "logo@x";
  gmail::give(picture, "png");
  mail.attachments = {plain, coded, picture};
  mail.html = "<img src='cid:logo@x'>";
  const auto raw = written(mail);
  const auto back = read_message(raw);
  REQUIRE(back.attachments.size() == 3);
  CHECK(back.attachments[0].filename == "Grüße €.bin");
  CHECK(back.attachments[0].mime_type == "application/octet-stream");
  CHECK(back.attachments[1].mime_type == "application/pdf");
  CHECK(back.attachments[2].content_id == "logo@x");
  CHECK(back.attachments[2].is_inline);
  CHECK(part(raw, back.attachments[0].part_id) == bytes);
  CHECK(part(raw, back.attachments[1].part_id) == bytes);
  CHECK(part(raw, back.attachments[2].part_id) == "png");
  CHECK(back.problems.empty());
}

TEST_CASE("replies name what they answer, within bounds") {
  auto mail = draft();
  mail.in_reply_to = {"m0@example.com"};
  for (int i = 0; i < 300; ++i) mail.references.push_back(std::to_string(i) + "@example.com");
  mail.references[299] = "m0@example.com";
  mail.references[298] = "a b\r\nBcc: e@example.com";
  const auto back = read_message(written(mail));
  CHECK(back.in_reply_to == std::vector<std::string>{"m0@example.com"});
  CHECK(back.bcc.empty());
  REQUIRE(back.references.size() == gmail::kMostSentReferences - 1);
  CHECK(back.references.front() == "0@example.com");
  CHECK(back.references.back() == "m0@example.com");
}

TEST_CASE("nothing can be smuggled into a header") {
  for (const std::string bad : {"a\r\nBcc: e@example.com", "a\nb", "a\rb",
                                "a\x01"
                                "b",
                                "a\x7f", "a\tb", "a\xff"}) {
    CAPTURE(bad);
    auto mail = draft();
    mail.subject = bad;
    CHECK(refusal(mail) != "taken");
    mail = draft();
    mail.to[0].name = bad;
    CHECK(refusal(mail) != "taken");
    mail = draft();
    mail.to[0].address = bad + "@example.com";
    CHECK(refusal(mail) != "taken");
    mail = draft();
    mail.from.address = bad;
    CHECK(refusal(mail) != "taken");
    mail = draft();
    mail.extra_headers = {{"X-A", bad}};
    CHECK(refusal(mail) != "taken");
    mail = draft();
    mail.extra_headers = {{bad, "a"}};
    CHECK(refusal(mail) != "taken");
    mail = draft();
    mail.message_id = bad + "@b";
    CHECK(refusal(mail) != "taken");
    for (const auto field : {0, 1, 2}) {
      DraftAttachment one;
      (field == 0 ? one.filename : field == 1 ? one.mime_type : one.content_id) = bad;
      mail = draft();
      mail.attachments = {one};
      CHECK(refusal(mail) != "taken");
    }
  }
  auto mail = draft();
  mail.subject = std::string("a\0b", 3);
  CHECK(refusal(mail).find("control character") != std::string::npos);
}

TEST_CASE("what looks like an encoded word is read as it was typed") {
  std::string large = "=?utf-8?q?x?= ";
  for (int i = 0; i < 40; ++i) large += "Ä日🎉 word " + std::to_string(i);
  for (const auto& text :
       {std::string("=?utf-8?q?a=0d=0aBcc:=20evil@x.org?="), std::string("=?utf-8?B?ZXZpbA==?="),
        std::string("Invoice =?utf-8?q?paid?= today"), std::string("=?utf-8?q?Amy?= Lee, \"x\" <b@c.de>"),
        std::string("=?"), std::string("=?utf-8?q?Gr=C3=BC=C3=9Fe?= Grüße"), large}) {
    CAPTURE(text);
    auto mail = draft();
    mail.subject = text;
    mail.from.name = mail.to[0].name = text;
    mail.cc = {{text, "c@example.com"}, {"Bob", "d@example.com"}};
    const auto raw = written(mail);
    const auto back = read_message(raw);
    CHECK(back.subject == text);
    CHECK(back.from == std::vector{mail.from});
    CHECK(back.to == mail.to);
    CHECK(back.cc == mail.cc);
    CHECK(back.bcc.empty());
    // Words in quotation marks are none to some programs, and are to others.
    CHECK(raw.substr(0, raw.find("\r\n\r\n")).find('"') == std::string::npos);
    CHECK(raw.find("=?utf-8?q?") == std::string::npos);
    mail = draft();
    DraftAttachment one;
    one.filename = text.substr(0, 14);
    gmail::give(one, "x");
    mail.attachments = {one};
    CHECK(refusal(mail).find("cannot be the name of an attachment") != std::string::npos);
  }
}

TEST_CASE("the address that was given stands in the mail, and no other") {
  auto mail = draft();
  mail.from.address = "amy@xn--mnchen-3ya.de";
  mail.to = gmail::parse_recipients("to", "a@xn--mnchen-3ya.de, Bob <b@münchen.de>, c@xn--fuball-cta.de");
  mail.cc = gmail::parse_recipients("cc", "d@mail.xn--mnchen-3ya.de");
  mail.bcc = gmail::parse_recipients("bcc", "e@xn--wgv71a119e.jp");
  const auto raw = written(mail);
  CHECK(raw.find("From: Amy Lee <amy@xn--mnchen-3ya.de>\r\n") != std::string::npos);
  CHECK(raw.find("To: a@xn--mnchen-3ya.de, Bob <b@xn--mnchen-3ya.de>, c@xn--fuball-cta.de\r\n") != std::string::npos);
  CHECK(raw.find("Cc: d@mail.xn--mnchen-3ya.de\r\n") != std::string::npos);
  CHECK(raw.find("Bcc: e@xn--wgv71a119e.jp\r\n") != std::string::npos);
  const std::string evil = "a@xn--borgadaexample-l62m4964y2ja.com";
  for (auto* field : {&mail.from, &mail.to[0], &mail.cc[0], &mail.bcc[0]}) {
    const auto before = field->address;
    field->address = evil;
    CHECK(refusal(mail) == "\"" + evil + "\" is no mail address.");
    // Where it is built all the same, it stands as it is.
    std::string built;
    gmail::build_mail(
        mail,
        [&](std::string_view text) {
          built += text;
          return true;
        },
        [](gmail::EncodedBytes) {});
    CHECK(built.find(evil) != std::string::npos);
    CHECK(built.find("ada@") == std::string::npos);
    field->address = before;
  }
}

TEST_CASE("drafts that are none are refused with a sentence") {
  auto mail = draft();
  mail.subject.clear();
  mail.text.clear();
  CHECK(refusal(mail) == "The mail is empty: give it a subject, a body or an attachment.");
  mail = draft();
  mail.to.clear();
  CHECK(refusal(mail) == "The mail has no recipient.");
  mail = draft();
  mail.subject = std::string(5000, 'a');
  CHECK(refusal(mail).find("\"subject\" is longer than 4096 bytes") == 0);
  mail = draft();
  mail.text = "a\xff";
  CHECK(refusal(mail).find("not valid UTF-8") != std::string::npos);
  mail = draft();
  mail.message_id = "no id";
  CHECK(refusal(mail) != "taken");
  DraftAttachment one;
  mail = draft();
  one.mime_type = "pdf";
  mail.attachments = {one};
  CHECK(refusal(mail).find("is no MIME type") != std::string::npos);
  mail.attachments.assign(101, DraftAttachment());
  CHECK(refusal(mail).find("more than 100 attachments") != std::string::npos);
}

TEST_CASE("a mail of more than 25 MB is refused before any of it is read") {
  auto mail = draft();
  DraftAttachment one;
  for (const std::uint64_t size : {std::uint64_t{20} << 20, ~std::uint64_t{0} >> 1, ~std::uint64_t{0}}) {
    one.size = size;
    mail.attachments = {one, one};
    CHECK(refusal(mail).find("larger than 25 MB") != std::string::npos);
  }
  one.size = 18 << 20;
  mail.attachments = {one};
  CHECK(refusal(mail) == "taken");
  // To the byte: what is written is as long as it was said to be, and the limit is that of the whole.
  one.size = 0;
  mail.attachments = {one};
  const auto rest = gmail::OutgoingMail(mail).size();
  const auto lines = (gmail::kMostMessageBytes - rest) / 78;
  one.size = lines * 57;
  mail.attachments = {one};
  CHECK(refusal(mail) == "taken");
  CHECK(gmail::OutgoingMail(mail).size() == rest + lines * 78);
  one.size += 57;
  mail.attachments = {one};
  CHECK(refusal(mail).find("larger than 25 MB") != std::string::npos);
}

TEST_CASE("attachments are read when their turn comes, once, in any pieces") {
  std::string bytes;
  for (int i = 0; i < 200'000; ++i) bytes += static_cast<char>(i * 31 >> 3);
  for (const std::size_t size : {0, 1, 2, 3, 56, 57, 58, 114, 29'183, 29'184, 29'185, 200'000}) {
    CAPTURE(size);
    auto mail = draft();
    DraftAttachment one;
    std::uint64_t next = 0;
    one.size = size;
    one.content = [&](std::uint64_t offset, char* buffer, std::size_t capacity) {
      CHECK(offset == next);
      const auto got =
          std::string_view(bytes).substr(0, size).substr(offset).copy(buffer, std::min<std::size_t>(capacity, 1000));
      next += got;
      return got;
    };
    mail.attachments = {one};
    gmail::OutgoingMail outgoing(mail);
    CHECK(next == 0);
    const auto said = outgoing.size();
    const auto raw = gmail::whole(std::move(outgoing), size % 2 == 0 ? 7 : 100'000);
    CHECK(raw.size() == said);
    CHECK(next == size);
    CHECK((part(raw, "1") == bytes.substr(0, size)));
  }
}

TEST_CASE("an attachment that is not as long as it says, or cannot be read, ends the mail") {
  for (const std::size_t real : {0, 99, 101, 60'000}) {
    CAPTURE(real);
    const std::string bytes(real, 'a');
    auto mail = draft();
    DraftAttachment one;
    gmail::give(one, bytes);
    one.size = 100;
    mail.attachments = {one};
    try {
      gmail::whole(gmail::OutgoingMail(mail));
      FAIL("it was written");
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.kind() == kruxos::ErrorKind::kStorage);
      CHECK_FALSE(error.has_no_effect());
    }
  }
  auto mail = draft();
  DraftAttachment one;
  one.size = 100;
  mail.attachments = {one};
  CHECK_THROWS_AS(gmail::whole(gmail::OutgoingMail(mail)), kruxos::ProxyError);
  mail.attachments[0].content = [](std::uint64_t, char*, std::size_t) -> std::size_t {
    throw std::runtime_error("gone");
  };
  CHECK_THROWS_AS(gmail::whole(gmail::OutgoingMail(mail)), std::runtime_error);
}

TEST_CASE("what stands in a mail is found wherever its pieces end") {
  auto mail = draft();
  mail.text = std::string(300'000, 'x') + "needle_in\n" + std::string(300'000, 'y') + "\nlast_one";
  DraftAttachment one;
  gmail::give(one, "needle_out");
  mail.attachments = {one, one};
  const gmail::OutgoingMail outgoing(mail);
  CHECK(outgoing.holds("needle_in"));
  CHECK(outgoing.holds("last_one"));
  CHECK(outgoing.holds("=_1_w_01_kruxos--"));
  CHECK_FALSE(outgoing.holds("needle_out"));
}

TEST_CASE("a text that the HTML names stays an attachment, whatever it is called") {
  auto mail = draft();
  DraftAttachment one;
  one.mime_type = "text/plain";
  one.filename = GENERATE("", " ", "note.txt");
  one.content_id = "note@x";
  gmail::give(one, "not the mail's own");
  mail.attachments = {one};
  const auto back = read_message(written(mail));
  CHECK(back.text_plain == mail.text);
  REQUIRE(back.attachments.size() == 1);
  CHECK(back.attachments[0].content_id == "note@x");
}

TEST_CASE("attachments that claim to be mail or parts are bytes") {
  for (const auto* type : {"multipart/mixed", "message/rfc822"}) {
    auto mail = draft();
    DraftAttachment one;
    one.mime_type = type;
    const std::string content = "Subject: x\r\n\r\n--=_1_w_01_kruxos--\r\n";
    gmail::give(one, content);
    mail.attachments = {one};
    const auto raw = written(mail);
    const auto back = read_message(raw);
    REQUIRE(back.attachments.size() == 1);
    CHECK(back.attachments[0].mime_type == "application/octet-stream");
    CHECK(part(raw, "1") == content);
  }
}

TEST_CASE("message ids are ours, well formed and the same each time") {
  CHECK(gmail::message_id_for("w_0190", "amy@example.com") == "w_0190.kruxos@example.com");
  CHECK(gmail::message_id_for("w_0190", "") == "w_0190.kruxos@gmail.com");
  CHECK(gmail::message_id_for("w <x>\r\n", "a@b c") == "w__x___.kruxos@gmail.com");
}

}  // namespace KRUXOS_TEST_FILE
