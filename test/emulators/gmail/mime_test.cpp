// The parser of mails, addresses and searches, on good and on broken input.
#include "emulators/gmail/mime.hpp"

#include <catch2/catch.hpp>

#include "emulators/gmail/address.hpp"
#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/testing.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test::gmail;

TEST_CASE("base64url and quoted-printable are undone") {
  for (const std::string& bytes : {std::string(), std::string("a"), std::string("ab"), std::string("abc"),
                                   std::string("\xff\xfe\xfd\xfc\0x", 6)}) {
    CHECK(decode_base64url(encode_base64url(bytes)) == bytes);
  }
  CHECK(encode_base64url("\xff\xff") == "__8=");
  CHECK_FALSE(decode_base64url("a").has_value());
  CHECK_FALSE(decode_base64url("a b=").has_value());
  CHECK(decode_base64("YW\r\nJj\r\n") == "abc");
  CHECK(decode_quoted_printable("a=3Db=\r\nc=ZZ=", false) == "a=bc=ZZ=");
  CHECK(decode_words("=?utf-8?B?w7w=?= =?iso-8859-1?q?=E4_x?= y") == "\xC3\xBC\xC3\xA4 x y");
  CHECK(decode_words("=?utf-8?B?broken") == "=?utf-8?B?broken");
  CHECK(to_utf8("a\xff", "utf-8") == "a\xEF\xBF\xBD");
  CHECK(to_utf8("\x80", "windows-1252") == "\xE2\x82\xAC");
  CHECK(parse_date("Mon, 02 Jan 2023 03:04:05 -0130") == 1672634045000);
  CHECK_FALSE(parse_date("yesterday").has_value());
}

TEST_CASE("parts, their names and their texts are found") {
  const Part mail = parse_mail(
      "Content-Type: multipart/mixed;\r\n boundary=\"a b\"\r\n\r\npreamble\r\n--a b\r\n\r\nplain\r\n--a b\r\n"
      "Content-Type: application/pdf; name*0*=utf-8''f%C3%BC; name*1=r.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n"
      "YWJj\r\n--a b\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ntext\r\n--a b--\r\nepilogue");
  REQUIRE(mail.parts.size() == 3);
  CHECK(mail.parts[0].body == "plain");
  CHECK(mail.parts[0].mime_type == "text/plain");
  CHECK(mail.parts[1].filename == "f\xC3\xBCr.pdf");
  CHECK(mail.parts[1].body == "abc");
  REQUIRE(mail.parts[2].parts.size() == 1);
  CHECK(mail.parts[2].parts[0].id == "2.0");
  CHECK(*mail.parts[2].parts[0].header("SUBJECT") == "inner");
}

TEST_CASE("broken mails are read as far as they go") {
  CHECK(parse_mail("").parts.empty());
  CHECK(parse_mail("no header at all").body == "no header at all");
  CHECK(parse_mail("A: b").headers.size() == 1);
  CHECK(parse_mail("Content-Type: multipart/mixed; boundary=x\n\n--x\n\ncut off").parts.at(0).body == "cut off");
  CHECK(parse_mail("Content-Type: multipart/mixed\n\n--x\n\ny").parts.empty());
  CHECK(parse_mail("Content-Type: ; =;;\"\nContent-Disposition: attachment; filename=\"a\n\n").filename == "a");
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "Content-Type: message/rfc822\r\n\r\n";
  parse_mail(deep);
  std::string many = "Content-Type: multipart/mixed; boundary=x\n\n";
  for (int i = 0; i < 5000; ++i) many += "--x\n\ny\n";
  CHECK(parse_mail(many).parts.size() == 1000);
}

TEST_CASE("a mail of any bytes can be held, shown and searched") {
  Emulated gmail;
  std::uint64_t seed = 7;
  for (int round = 0; round < 200; ++round) {
    std::string raw =
        round % 2 == 0 ? "Content-Type: multipart/mixed; boundary=b\r\nSubject: =?utf-8?B?/w==?=\r\n\r\n--b\r\n" : "";
    for (int i = 0; i < 200; ++i) {
      seed = mix(seed);
      raw += seed % 9 == 0 ? "\r\n" : seed % 31 == 0 ? "--b" : std::string(1, static_cast<char>(seed >> 32));
    }
    const std::string id = format_id(gmail.state.mailbox().add({Content(raw), kNow + round, {}, {"INBOX"}, {}}).id);
    const Answered got = gmail.get("messages/" + id);
    REQUIRE(got.status == 200);
    INFO(got.http.body);
    REQUIRE(got.text("id") == id);
    REQUIRE(decode_base64url(gmail.get("messages/" + id + "?format=raw").text("raw")) == raw);
  }
  CHECK(gmail.get("messages?q=subject:x%20-from:y%20filename:z%20larger:1").status == 200);
}

TEST_CASE("addresses are told from what is none") {
  const auto mails = [](const std::string& header) {
    std::vector<Address> found;
    if (!parse_addresses(header, found)) return std::string("none");
    std::string joined;
    for (const Address& address : found) joined += address.mail + " ";
    return joined;
  };
  CHECK(mails("a@example.org, \"B, C\" <b.c@example.org>") == "a@example.org b.c@example.org ");
  CHECK(mails("(comment) a@example.org (more)") == "a@example.org ");
  CHECK(mails("list: a@example.org, b@example.org;") == "a@example.org b@example.org ");
  CHECK(mails("\"odd local\"@example.org") == "\"odd local\"@example.org ");
  CHECK(mails("").empty());
  for (const char* wrong : {"a", "a@", "@example.org", "a@localhost", "a b@example.org", "a@exa mple.org",
                            "<a@example.org", "a..b@example.org", "<a@example.org> trailing"}) {
    CHECK(mails(wrong) == "none");
  }
}

TEST_CASE("searches find what Gmail's operators mean") {
  Emulated gmail;
  const std::string a = gmail.act(
      R"({"action": "deliver", "from": "Ada Lind <ada@example.org>", "to": "agent@example.com", "cc": "carl@example.net",
          "subject": "Quarterly budget review", "body": "The figures are ready", "at_ms": 1699000000000,
          "message_id": "<q1@example.org>", "attachments": [{"filename": "Q1 report.pdf", "text": "x"}]})");
  const std::string b = gmail.act(
      R"({"action": "deliver", "from": "bob@example.org", "subject": "Lunch", "body": "budget lunch today?",
          "labels": ["INBOX", "STARRED"], "at_ms": 1699990000000})");
  const auto found = [&](const std::string& query) {
    std::string encoded;
    for (const char c : query) encoded += c == ' ' ? "%20" : c == '&' ? "%26" : std::string(1, c);
    std::string ids = gmail.get("messages?q=" + encoded).column("messages", "id");
    for (const auto& [id, name] : {std::pair(a, "a"), std::pair(b, "b")}) {
      if (const std::size_t at = ids.find(id); at != std::string::npos) ids.replace(at, 16, name);
    }
    return ids;
  };
  CHECK(found("budget") == "b a");
  CHECK(found("bud") == "absent");
  CHECK(found("from:ada") == "a");
  CHECK(found("from:ada@example.org") == "a");
  CHECK(found("from:example.org -from:bob") == "a");
  CHECK(found("to:agent") == "b a");
  CHECK(found("cc:carl") == "a");
  CHECK(found("to:carl") == "a");
  CHECK(found("subject:(budget review)") == "a");
  CHECK(found("subject:{lunch review}") == "b a");
  CHECK(found("\"budget review\"") == "a");
  CHECK(found("\"review budget\"") == "absent");
  CHECK(found("lunch OR figures") == "b a");
  CHECK(found("budget lunch OR figures") == "b a");
  CHECK(found("{lunch nothing}") == "b");
  CHECK(found("-(lunch today)") == "a");
  CHECK(found("is:starred") == "b");
  CHECK(found("is:read") == "b");
  CHECK(found("is:unread label:inbox") == "a");
  CHECK(found("has:attachment") == "a");
  CHECK(found("filename:pdf") == "a");
  CHECK(found("filename:\"Q1 report\"") == "a");
  CHECK(found("rfc822msgid:q1@example.org") == "a");
  CHECK(found("rfc822msgid:<q1@example.org>") == "a");
  CHECK(found("after:2023/11/10") == "b");
  CHECK(found("before:2023-11-10") == "a");
  CHECK(found("after:1699990000") == "b");
  CHECK(found("older_than:5d") == "a");
  CHECK(found("newer_than:5d") == "b");
  CHECK(found("newer_than:soon") == "absent");
  CHECK(found("in:anywhere") == "b a");
  CHECK(found("in:sent") == "absent");
  CHECK(found("...") == "b a");
  for (const char* odd : {"(", ")", "-", "OR", "{{{{", "from:", "\"", "((a) OR", "-(-(-a))"}) {
    CHECK(gmail.get("messages?q=" + std::string(odd)).status == 200);
  }
  CHECK(gmail.get("messages?q=" + std::string(5000, '(')).status == 200);
  CHECK(gmail.get("messages?q=" + std::string(5000, '-')).status == 200);
}

}  // namespace KRUXOS_TEST_FILE
