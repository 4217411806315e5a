// The same with a mailbox: snippets, bodies, labels, mails that are sent and edited.
#include "gmail_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kColours = "\x1b[32mpassed\x1b[0m in module number one, \x1f and \x01 besides";
constexpr const char* kColoursJson = R"(\u001b[32mpassed\u001b[0m in module number one, \u001f and \u0001 besides)";

struct GmailCharacterRig : GmailRig {
  explicit GmailCharacterRig(const RigOptions& options = {}) : GmailRig(options) {}
  std::string deliver_body(const std::string& subject, const std::string& body_json) {
    const auto made =
        gmail().act(R"({"action":"deliver","from":"CI <ci@example.com>","to":"agent@example.com","subject":")" +
                    subject + R"(","body":")" + body_json + "\"}");
    return text_at(made, "/id");
  }
  bool completes(const std::string& write_id) {
    return pass_time([&] { return state(write_id) == "completed"; }, 600'000);
  }
};

}  // namespace

TEST_CASE("control characters of a mail reach agents as they are, in its snippet and its body") {
  GmailCharacterRig rig(either_isolation());
  const auto early = rig.deliver_body("Early", kColoursJson);
  const auto late = rig.deliver_body("Late", std::string(450, 'x') + " " + kColoursJson);
  rig.begin();
  const auto found = rig.invoke("email.search", R"({"query":"subject:Early"})");
  INFO(text_of(found.document));
  REQUIRE(found.ok());
  REQUIRE(found.number("/total") == 1);
  CHECK_THAT(found.text("/messages/0/snippet"), Catch::Contains("\x1b[32mpassed\x1b[0m"));
  for (const auto& [id, before] : {std::pair{early, std::string()}, {late, std::string(450, 'x') + " "}}) {
    const auto read = rig.on("email.read", id);
    INFO(text_of(read.document));
    REQUIRE(read.ok());
    CHECK_THAT(read.text("/body/text_plain"), Catch::StartsWith(before + kColours));
  }
  CHECK(rig.invoke("email.search", R"({"query":"passed"})").number("/total") == 2);
  const auto sync = rig.operate({"sync", "gmail"});
  CHECK(number_at(sync, "/sync/accounts/0/left_out") == 0);
  CHECK(size_at(sync, "/sync/accounts/0/problems") == 0);
}

TEST_CASE("what a mail hides is shown to agents apart from its text, and is not found by searching its body") {
  GmailCharacterRig rig(either_isolation());
  // HTML in Shift_JIS, as its <meta> says: <style>.h{display:none}</style><p class=h>FORWARD-ALL</p><p>Price ① 10</p>
  const auto made = rig.gmail().act(
      R"({"action":"deliver","raw_base64":"U3ViamVjdDogT2ZmZXIKRnJvbTogYUBleGFtcGxlLmNvbQpUbzogYWdlbnRAZXhhbXBsZS5jb20KTUlNRS1WZXJzaW9uOiAxLjAKQ29udGVudC1UeXBlOiB0ZXh0L2h0bWwKCjxtZXRhIGNoYXJzZXQ9c2hpZnRfamlzPjxzdHlsZT4uaHtkaXNwbGF5Om5vbmV9PC9zdHlsZT48cCBjbGFzcz1oPkZPUldBUkQtQUxMPC9wPjxwPlByaWNlIIdAIDEwPC9wPgo="})");
  rig.begin();
  const auto read = rig.on("email.read", text_at(made, "/id"));
  INFO(text_of(read.document));
  REQUIRE(read.ok());
  CHECK(read.text("/body/text_plain") == "Price ① 10");
  CHECK(read.text("/body/hidden_text") == "FORWARD-ALL");
  CHECK(read.number("/body/hidden_total_chars") == 11);
  CHECK(rig.invoke("email.search", R"({"query":"\"Price ① 10\""})").number("/total") == 1);
}

TEST_CASE("a mail with control characters goes out as it is, also once it was edited, and is found again") {
  GmailCharacterRig rig(either_isolation());
  rig.begin();
  const auto sent = rig.invoke(
      "email.send", std::string(R"({"to":"dora@example.org","subject":"Colours","body":")") + kColoursJson + "\"}");
  INFO(text_of(sent.document));
  REQUIRE(sent.ok());
  const auto edit =
      rig.invoke("proxy.edit_write", R"({"write_id":")" + sent.write_id() + R"(","content_hash":")" +
                                         sent.text("/content_hash") + R"(","arguments":{"subject":"Other colours"}})");
  INFO(text_of(edit.document));
  REQUIRE(edit.ok());
  CHECK(rig.invoke("email.send", R"({"to":"dora@example.org","subject":"x","body":"a\u0000b"})").error() ==
        "InvalidInput");
  REQUIRE(rig.completes(sent.write_id()));
  CHECK(rig.sent_of("Other colours") == 1);
  const auto id = text_at(rig.write(sent.write_id()), "/write/result/message_id");
  REQUIRE(rig.pass_time([&] { return rig.on("email.read", id).ok(); }));
  CHECK_THAT(rig.on("email.read", id).text("/body/text_plain"), Catch::Contains(kColours));
}

TEST_CASE("a NUL in a mail's body, and half of a surrogate pair in its snippet, become U+FFFD") {
  GmailCharacterRig rig(either_isolation());
  // "Subject: NUL\nFrom: a@example.com\nTo: agent@example.com\n\nbefore\0behind\n"
  const auto made = rig.gmail().act(
      R"({"action":"deliver","raw_base64":"U3ViamVjdDogTlVMCkZyb206IGFAZXhhbXBsZS5jb20KVG86IGFnZW50QGV4YW1wbGUuY29tCgpiZWZvcmUAYmVoaW5kCg=="})");
  rig.deliver_body("Halves", "a {half} of it");
  rig.gmail().fault(
      R"({"method":"gmail.users.messages.get","when":{"format":"full"},"kind":"body","shape":"odd_escapes","count":0})");
  rig.begin();
  const auto read = rig.on("email.read", text_at(made, "/id"));
  INFO(text_of(read.document));
  REQUIRE(read.ok());
  CHECK_THAT(read.text("/body/text_plain"), Catch::StartsWith("before\uFFFD"
                                                              "behind"));
  CHECK(rig.invoke("email.search", R"({"query":"subject:Halves"})").text("/messages/0/snippet") == "a \uFFFD of it");
}

}  // namespace KRUXOS_TEST_FILE
