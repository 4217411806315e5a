#include "reply.hpp"

#include <kruxos/adapter/error.hpp>

#include <catch2/catch.hpp>

#include "test_support/mails.hpp"

namespace KRUXOS_TEST_FILE {

namespace {

using gmail::MailContent;
using gmail::MessageDraft;
using gmail::ParsedMail;

const std::vector<std::string> kOwn{"me@example.com", "alias@example.com"};

MailContent original() {
  MailContent mail;
  mail.subject = "Dinner";
  mail.from = {{"Amy", "amy@example.com"}};
  mail.to = {{"", "Me@Example.com"}, {"Bob", "bob@example.com"}};
  mail.cc = {{"", "carol@example.com"}, {"", "alias@example.com"}, {"", "amy@example.com"}};
  mail.message_id = "m1@example.com";
  mail.references = {"m0@example.com"};
  return mail;
}

MessageDraft reply(const MailContent& to, bool all) {
  MessageDraft draft;
  gmail::reply_to(to, all, kOwn, draft);
  return draft;
}

std::string written(MessageDraft draft) {
  draft.to = {{"", "bob@example.com"}};
  draft.message_id = "w_1@example.com";
  return gmail::whole(gmail::OutgoingMail(draft));
}

}  // namespace

TEST_CASE("a subject says once that it is a reply or a forward, in any language") {
  CHECK(gmail::reply_subject("Dinner") == "Re: Dinner");
  CHECK(gmail::reply_subject("") == "Re: ");
  for (const auto* subject :
       {"Re: Dinner", "RE: Dinner", "re:Dinner", "Re[2]: Dinner", "RE^3: Dinner", "AW: Essen", "Antw: Eten",
        "SV: Middag", "R: Cena", "Res: Jantar", "Odp: Obiad", "回复：晚餐", "ΑΠ: Δείπνο", "Re : Diner"}) {
    CAPTURE(subject);
    CHECK(gmail::reply_subject(subject) == subject);
  }
  for (const auto* subject : {"Report: Q1", "Regarding: x", "Dinner re: us", "10:30", "Rest", "Fwd: Dinner"}) {
    CAPTURE(subject);
    CHECK(gmail::reply_subject(subject) == "Re: " + std::string(subject));
  }
  CHECK(gmail::forward_subject("Dinner") == "Fwd: Dinner");
  CHECK(gmail::forward_subject("Fwd: Dinner") == "Fwd: Dinner");
  CHECK(gmail::forward_subject("WG: Essen") == "WG: Essen");
  CHECK(gmail::forward_subject("Re: Dinner") == "Fwd: Re: Dinner");
  CHECK(gmail::reply_subject(std::string(10'000, 'a')).size() == gmail::kMostSubjectBytes);
}

TEST_CASE("a reply goes to who wrote, or where they want it") {
  CHECK(gmail::shown(reply(original(), false).to) == "Amy <amy@example.com>");
  CHECK(reply(original(), false).cc.empty());
  auto mail = original();
  mail.reply_to = {{"", "list@example.com"}};
  CHECK(gmail::shown(reply(mail, false).to) == "list@example.com");
}

TEST_CASE("a reply to all leaves out oneself and names nobody twice") {
  const auto all = reply(original(), true);
  CHECK(gmail::shown(all.to) == "Amy <amy@example.com>");
  CHECK(gmail::shown(all.cc) == "Bob <bob@example.com>, carol@example.com");
}

TEST_CASE("a reply to one's own mail goes where that went") {
  auto mail = original();
  mail.from = {{"", "ME@example.com"}};
  CHECK(gmail::shown(reply(mail, false).to) == "Bob <bob@example.com>");
  CHECK(gmail::shown(reply(mail, true).cc) == "carol@example.com, amy@example.com");
  mail.to = {{"", "me@example.com"}};
  mail.cc.clear();
  CHECK_THROWS_AS(reply(mail, false), kruxos::ProxyError);
}

TEST_CASE("senders that cannot be written to are no recipients") {
  auto mail = original();
  mail.from = {{"", "nobody"}, {"x\n", "a@example.com"}, {"", "a@b\r\nBcc: e@example.com"}};
  mail.from[1].name = "x";
  CHECK(gmail::shown(reply(mail, false).to) == "x <a@example.com>");
}

TEST_CASE("a reply belongs to its thread") {
  const auto draft = reply(original(), false);
  CHECK(draft.subject == "Re: Dinner");
  CHECK(draft.in_reply_to == std::vector<std::string>{"m1@example.com"});
  CHECK(draft.references == std::vector<std::string>{"m0@example.com", "m1@example.com"});
  auto mail = original();
  mail.references.clear();
  mail.in_reply_to = {"before@example.com"};
  CHECK(reply(mail, false).references == std::vector<std::string>{"before@example.com", "m1@example.com"});
  mail.message_id.clear();
  mail.in_reply_to.clear();
  CHECK(reply(mail, false).references.empty());
}

TEST_CASE("a forwarded attachment's name holds no beginning of an encoded word") {
  const std::string raw =
      "From: Amy <amy@example.com>\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nHello\n"
      "--x\nContent-Type: text/csv\nContent-Disposition: attachment; "
      "filename=\"=?utf-8?B?YT0/Yi5jc3Y=?=\"\n\na\n--x--\n";
  const ParsedMail mail(raw);
  MessageDraft draft;
  gmail::forward(mail, "", draft);
  const auto out = written(draft);
  REQUIRE(ParsedMail(out).content().attachments.size() == 1);
  CHECK(ParsedMail(out).content().attachments[0].filename == "a=_b.csv");
}

TEST_CASE("a forward carries the text, the HTML and the attachments") {
  const std::string raw =
      "From: Amy <amy@example.com>\nTo: me@example.com\nSubject: Plans\nDate: Fri, 21 Nov 1997 09:55:06 -0600\n"
      "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/alternative; "
      "boundary=y\n\n--y\n\nHello\n"
      "--y\nContent-Type: text/html\n\n<p>Hello <img src='cid:l'></p>\n--y--\n"
      "--x\nContent-Type: image/png\nContent-Disposition: inline\nContent-ID: <l>\nContent-Transfer-Encoding: "
      "base64\n\ncG5n\n"
      "--x\nContent-Type: text/csv; charset=iso-8859-1\nContent-Disposition: attachment; filename=\"a.csv\"\n\na;\xfc\n"
      "--x\nContent-Type: app(lication)/x; name=odd\n\nodd\n"
      "--x\nContent-Type: message/rfc822\n\nSubject: inner\n\ninner\n--x--\n";
  const ParsedMail mail(raw);
  MessageDraft draft;
  gmail::forward(mail, "See below & <enjoy>", draft);
  CHECK(draft.subject == "Fwd: Plans");
  CHECK(draft.text.find("See below & <enjoy>\n\n---------- Forwarded message ---------\nFrom: Amy <amy@example.com>\n"
                        "Date: Fri, 21 Nov 1997 15:55 UTC\nSubject: Plans\nTo: me@example.com\n\nHello") == 0);
  CHECK(draft.html.find("See below &amp; &lt;enjoy&gt;") != std::string::npos);
  CHECK(draft.html.find("<p>Hello <img src='cid:l'></p>") != std::string::npos);
  const auto out = written(draft);
  const ParsedMail back(out);
  REQUIRE(back.content().attachments.size() == 4);
  const auto& kept = back.content().attachments;
  CHECK(kept[0].content_id == "l");
  CHECK(kept[1].filename == "a.csv");
  CHECK(kept[3].mime_type == "message/rfc822");
  const auto content = [&](std::size_t i) {
    std::string bytes;
    CHECK(back.write_part(kept[i].part_id, [&](std::string_view piece) {
      bytes.append(piece);
      return true;
    }));
    return bytes;
  };
  CHECK(content(0) == "png");
  CHECK(content(1).find("a;\xfc") == 0);
  CHECK(out.find("charset=iso-8859-1") != std::string::npos);
  CHECK(content(3).find("inner") != std::string::npos);
}

TEST_CASE("a forward of plain text has no HTML, and of HTML alone has its text") {
  const std::string plain = "Subject: a\n\nhello\n", html = "Content-Type: text/html\n\n<p>hello</p>";
  MessageDraft draft;
  gmail::forward(ParsedMail(plain), "", draft);
  CHECK(draft.html.empty());
  CHECK(draft.text.find("---------- Forwarded") == 0);
  gmail::forward(ParsedMail(html), "", draft);
  CHECK(draft.text.find("\n\nhello") != std::string::npos);
}

TEST_CASE("a mail with NULs in it can be forwarded, as it was shown") {
  using namespace std::string_literals;
  const auto head = "From: amy@example.com\r\nSubject: s\r\nMIME-Version: 1.0\r\nContent-Type: text/"s;
  const auto body = "; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nYQBiAA==\r\n"s;  // a, NUL, b, NUL
  for (const auto* const type : {"plain", "html"}) {
    MessageDraft draft;
    gmail::forward(ParsedMail(head + type + body), "", draft);
    CHECK(draft.text.find("a\ufffdb\ufffd") != std::string::npos);
    CHECK(written(std::move(draft)).find('\0') == std::string::npos);
  }
}

TEST_CASE("a mail that is too long to be repeated goes along as a whole") {
  const std::string end = GENERATE("\n", "\r\n");
  std::string raw = "Subject: long" + end + end;
  for (int i = 0; i < 200'000; ++i) raw += "0123456789" + end;
  raw += "the end" + end;
  const ParsedMail mail(raw);
  MessageDraft draft;
  gmail::forward(mail, "note", draft);
  CHECK(draft.text == "note");
  const auto out = written(draft);
  CHECK(out.find("the end") != std::string::npos);
  REQUIRE(ParsedMail(out).content().attachments.size() == 1);
  CHECK(ParsedMail(out).content().attachments[0].filename == "original.eml");
}

}  // namespace KRUXOS_TEST_FILE
