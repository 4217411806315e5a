#include "core/facts/outgoing.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "core/util/json.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

Outgoing sent(const std::string& params) {
  CapabilityDefinition capability;
  capability.name = "mail.send";
  capability.recipients = {"to"};
  return outgoing_texts(capability, parse_json(params, "params", {4 << 20, 32}));
}

}  // namespace

TEST_CASE("what a write sends are all its texts but its recipients") {
  CHECK(sent(R"({"to":"amy@example.com","subject":"Hi","body":"there","tags":["a",1,{"b":"c"}],"n":3})").text ==
        "Hi\nthere\na\nc\n");
  CHECK_FALSE(sent("{}").cut);
}

TEST_CASE("an id behind words of a code is no code") {
  CapabilityDefinition reply;
  reply.name = "mail.reply";
  reply.target = "{message_id}";
  reply.order = "{thread_id}";
  const auto found = [&](const char* params) {
    return secret_in(outgoing_texts(reply, parse_json(params, "params", {4 << 20, 32})).text);
  };
  CHECK(found(R"({"message_id":"18f0a1","body":"Thanks.","subject":"Your security code","thread_id":"18f04711c2"})")
            .empty());
  CHECK(found(R"({"subject":"Your security code","body":"4711","thread_id":"t"})") == "a code");
}

TEST_CASE("what stands there in Base64 is read too") {
  CHECK(sent(R"({"body":"Tm9ydGggZ2F0ZSA1NTgyLTkwMTc="})").text.find("North gate 5582-9017") != std::string::npos);
  CHECK(sent(R"({"body":"see Tm9ydGggZ2F0ZSA1NTgyLTkwMTc, please"})").text.find("North gate") != std::string::npos);
  // Ordinary words are no Base64 of a text.
  CHECK(sent(R"({"body":"an extraordinarily uncontroversial internationalization"})").text ==
        "an extraordinarily uncontroversial internationalization\n");
}

TEST_CASE("what is disguised is read as people read it") {
  const auto has = [](const std::string& body, const char* part) {
    return sent("{\"body\":" + json_string(body) + "}").text.find(part) != std::string::npos;
  };
  CHECK(has("55\u200b82\u00ad-90\u206017", "5582-9017"));
  CHECK(has("\uff15\uff15\uff18\uff12\uff0d\uff19\uff10\uff11\uff17", "5582-9017"));
  CHECK(has("pass\u200dword: Tr0ub4dor", "password: Tr0ub4dor"));
  CHECK(has("<a href=\"https&#58;&#x2f;&sol;evil&period;example\">", "https://evil.example"));
  CHECK(has("&#; &#x; &#9999999999; &nbsp; & &#58", "&#; &#x; &#9999999999; &nbsp; & &#58"));
  CHECK(has("caf\u00e9 \u4e2d\u6587", "caf\u00e9 \u4e2d\u6587"));
}

TEST_CASE("texts that others choose cost no more than others") {
  for (const auto* part : {"://a", "@", "-----BEGIN ", "&#58", "password ", "1-", "1 ", "a.", "https:", "http:\\\\",
                           "eyJ.", "AKIA", "%65", "://@"}) {
    std::string text;
    while (text.size() < kMostOutgoing) text += part;
    INFO(part);
    const auto begun = std::chrono::steady_clock::now();
    const auto out = sent("{\"body\":" + json_string(text) + "}");
    secret_in(out.text);
    values_in(out.text, 1'000'000);
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(10));
  }
}

TEST_CASE("of very long texts so much is looked at, and it is known that there is more") {
  const std::string body(kMostOutgoing, ' ');
  CHECK(sent("{\"body\":\"" + body + "\"}").text.size() == kMostOutgoing + 1);
  const auto cut = sent("{\"body\":\"" + body + "\",\"other\":\"x\"}");
  CHECK(cut.cut);
}

TEST_CASE("secrets are known by their form") {
  const auto [text, words] = GENERATE(table<std::string, std::string>({
      {"-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "a private key"},
      {"-----BEGIN CERTIFICATE-----\nabc\n-----BEGIN RSA PRIVATE KEY-----\nabc", "a private key"},
      {"key AKIAABCDEFGHIJKLMNOP.", "a key or token"},
      {"x-AKIAABCDEFGHIJKLMNOP", "a key or token"},
      {"ghp_0123456789abcdefghijklmnopqrstuvwxyz", "a key or token"},
      {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", "a signed token"},
      {"Your verification code is 493 and 49312", "a code"},
      {"the gate code: 5582-9017", "a code"},
      {"PIN 4931", "a code"},
      {"the password is hunter-2", "a password or key"},
      {"Password: Tr0ub4dor", "a password or key"},
      {"https://x.example/reset?t=abcdef0123456789abcd", "a link that resets or verifies something"},
  }));
  CAPTURE(text);
  CHECK(secret_in(text) == words);
}

TEST_CASE("ordinary texts hold no secrets") {
  const auto* text =
      GENERATE("Please change your password soon.", "The pinnacle of 2026", "a dress code for 20 people",
               "My password is secret", "https://x.example/reset", "Opinion 2026 of a spin 3000", "skip AKIA and sk-1",
               "", "code", "password:", "otp", "the meeting is at 10:30 in room 12");
  CAPTURE(text);
  CHECK(secret_in(text).empty());
}

TEST_CASE("names beside addresses are texts, and HTML is read as it is shown") {
  const auto texts = [](const char* params) { return sent(params).text; };
  CHECK(texts(R"({"to":"ninety thousand <amy@example.com>, bob@example.com"})").find("ninety thousand") == 0);
  CHECK(texts(R"({"to":"amy@example.com"})").empty());
  for (const char* html :
       {"of<b></b>fer", "o<i>ff</i>er", "of&shy;fer", "of&#8203;fer", "of<!-- > x -->fer", "&#x6f;ffer"}) {
    CAPTURE(html);
    CHECK(texts((R"({"body":")" + std::string(html) + "\"}").c_str()).find("offer") != std::string::npos);
  }
  CHECK(texts(R"({"body":"<p>the</p><p>offer</p>"})").find(" the  offer ") != std::string::npos);
  CHECK(texts(R"({"body":"1 < 2 and 3 > 2"})") == "1 < 2 and 3 > 2\n");
  for (const char* begin : {"<", "<a", "<!--", "&"}) {  // without an end: each is looked at once
    std::string many;
    while (many.size() < 250'000) many += begin;
    CHECK(texts(("{\"body\":\"" + many + "\"}").c_str()).size() < 3 * many.size());
  }
}

}  // namespace KRUXOS_TEST_FILE
