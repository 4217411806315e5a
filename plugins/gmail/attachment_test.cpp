// email.attachment: texts in parts, and what is no text.
#include <catch2/catch.hpp>

#include "emulators/gmail/codec.hpp"
#include "test_support/reading_desk.hpp"

namespace KRUXOS_TEST_FILE {

using gmail::test::CallKind;
using gmail::test::Desk;
using namespace gmail;

namespace {

const char* const kUrl = "gmail/v1/users/me/messages/m1?format=raw&fields=raw";

std::string answer_of(const std::string& mail) {
  return "{\"raw\":\"" + krux::test::gmail::encode_base64url(mail) + "\"}";
}

std::string part(const std::string& type, const std::string& filename, const std::string& bytes) {
  return "--b\r\nContent-Type: " + type + "\r\nContent-Disposition: attachment; filename=\"" + filename +
         "\"\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + bytes + "\r\n";
}

std::string mail_with(const std::string& parts) {
  return "From: ada@example.com\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
         "--b\r\nContent-Type: text/plain\r\n\r\nSee the files.\r\n" +
         parts + "--b--\r\n";
}

const std::string kMail = mail_with(
    part("text/csv; charset=iso-8859-1", "t.csv", "caf\xe9,1\r\nb,2") + part("application/pdf", "r.pdf", "%PDF-1.7") +
    part("application/json", "d.json", "{\"a\":1}") + part("text/x-odd; charset=nobody-knows", "odd.txt", "odd") +
    part("application/octet-stream", "x.bin", "\x01\x02"));

std::string asked(const std::string& part_id, const std::string& more = {}) {
  return R"({"message_id":"m1","attachment_id":")" + part_id + "\"" + more + "}";
}

struct AttachmentDesk : Desk {
  rapidjson::Document attachment(const std::string& params) {
    kruxos::testing::FakeCall call(host.clock, CallKind::kFetch);
    auto out = parse(reader.read(call.call(), store.fetching_reader(), "email.attachment", params));
    REQUIRE_FALSE(out.HasParseError());
    return out;
  }
  void expect_mail(const std::string& mail = kMail) { host.expect("GET", kUrl).answers(200, answer_of(mail)); }
  std::string refusal(const std::string& params) {
    kruxos::testing::FakeCall call(host.clock, CallKind::kFetch);
    try {
      reader.read(call.call(), store.fetching_reader(), "email.attachment", params);
    } catch (const kruxos::ProxyError& error) {
      return error.type() + ": " + error.what();
    }
    return "taken";
  }
};

}  // namespace

TEST_CASE("a text comes as UTF-8, in parts, and is fetched once") {
  AttachmentDesk desk;
  desk.expect_mail();
  const auto whole = desk.attachment(asked("1"));
  CHECK(json_text(whole) ==
        R"({"message_id":"m1","attachment_id":"1","filename":"t.csv","mime_type":"text/csv","size":11,)"
        "\"text\":\"caf\u00E9,1\\nb,2\",\"total_chars\":10}");
  const auto first = desk.attachment(asked("1", R"(,"max_chars":4)"));
  CHECK(text_of(first, "text") == "caf\u00E9");
  CHECK(integer_of(first, "next_offset") == 4);
  const auto rest = desk.attachment(asked("1", R"(,"max_chars":100,"offset":4)"));
  CHECK(text_of(rest, "text") == ",1\nb,2");
  CHECK_FALSE(rest.HasMember("next_offset"));
  // With the mail its body came: reading it asks nobody.
  CHECK(text_of(desk.read("email.read", R"({"message_id":"m1"})")["body"], "text_plain") == "See the files.");
}

TEST_CASE("what is no text is named, without its bytes, and nothing is fetched for it") {
  AttachmentDesk desk;
  desk.keep("head", R"({"subject":"Plans"})");
  desk.keep("body",
            R"("body":{"form":2,"text_plain":"x"},"attachments":[{"id":"2","filename":"r.pdf",)"
            R"("mime_type":"application/pdf","size":8},{"id":"5","filename":"","mime_type":"image/png","size":2}])");
  const auto pdf = desk.attachment(asked("2"));
  CHECK(text_of(pdf, "filename") == "r.pdf");
  CHECK(text_of(pdf, "mime_type") == "application/pdf");
  CHECK(integer_of(pdf, "size") == 8);
  CHECK_THAT(std::string(text_of(pdf, "note")), Catch::Contains("no text"));
  CHECK_FALSE(pdf.HasMember("text"));
  CHECK_FALSE(desk.attachment(asked("5")).HasMember("filename"));
}

TEST_CASE("an attachment of a mail whose body is there is fetched with the mail") {
  AttachmentDesk desk;
  desk.keep("head", R"({"subject":"Plans"})");
  desk.keep("body",
            R"("body":{"form":2,"text_plain":"x"},"attachments":[{"id":"3","mime_type":"application/json","size":7}])");
  desk.expect_mail();
  CHECK(text_of(desk.attachment(asked("3")), "text") == "{\"a\":1}");
  CHECK(text_of(desk.attachment(asked("3")), "text") == "{\"a\":1}");
}

TEST_CASE("what may be wrong with a text is said") {
  AttachmentDesk desk;
  desk.expect_mail();
  CHECK_THAT(std::string(text_of(desk.attachment(asked("4")), "note")), Catch::Contains("character set"));
  AttachmentDesk other;
  std::string text;
  while (text.size() < (1 << 20)) text += "\u00FCber ";
  other.expect_mail(mail_with(part("text/plain", "long.txt", "xyz" + text)));
  const auto cut = other.attachment(asked("1", R"(,"offset":1000000000)"));
  CHECK(cut["is_cut"].IsTrue());
  CHECK(text_of(cut, "text").empty());
  const auto total = integer_of(cut, "total_chars");
  CHECK((total > 800'000 && total < (1 << 20)));
  const auto begin = other.attachment(asked("1", R"(,"max_chars":7)"));
  CHECK(text_of(begin, "text") == "xyz\u00FCber");  // though half of a character stood at the cut
}

TEST_CASE("an attachment that is not there is refused with those that are") {
  AttachmentDesk desk;
  CHECK_THAT(desk.refusal(R"({"message_id":"m2","attachment_id":"1"})"), Catch::StartsWith("MessageNotFound"));
  desk.expect_mail();
  CHECK_THAT(desk.refusal(asked("9")), Catch::StartsWith("InvalidInput") &&
                                           Catch::Contains("1 (t.csv), 2 (r.pdf), 3 (d.json), 4 (odd.txt), 5 (x.bin)"));
  for (const char* odd : {"", "0", "1.0", "-1", "t.csv", "00000000000000000001"}) {
    INFO(odd);
    CHECK_THAT(desk.refusal(asked(odd)), Catch::Contains("it has: 1 (t.csv)"));
  }
  AttachmentDesk bare;
  bare.keep("head", R"({"subject":"Plans"})");
  bare.keep("body", R"("body":{"form":2,"text_plain":"x"},"attachments":[])");
  CHECK_THAT(bare.refusal(asked("1")), Catch::Contains("it has none at all"));
  AttachmentDesk gone;
  gone.host.expect("GET", kUrl).answers(500, "{}");
  CHECK_THAT(gone.refusal(asked("1")), Catch::StartsWith("BodyFetchFailed"));
}

TEST_CASE("a kept text that cannot be read is fetched again") {
  AttachmentDesk desk;
  desk.keep("head", R"({"subject":"Plans"})");
  desk.keep("body",
            R"("body":{"form":2,"text_plain":"x"},"attachments":[{"id":"3","mime_type":"application/json","size":7}])");
  desk.keep("text 3", R"({"text":)");
  desk.expect_mail();
  CHECK(text_of(desk.attachment(asked("3")), "text") == "{\"a\":1}");
}

}  // namespace KRUXOS_TEST_FILE
