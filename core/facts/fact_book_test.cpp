#include "core/facts/fact_book.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "core/facts/fact_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace facts_test;

TEST_CASE("a recipient is new unless the account has written to him") {
  Mailbox mail;
  mail.sent("tom@harbour.example");
  mail.received("eve@evil.example", 500 * kHour);
  mail.put("amy@a.example", {"ivo@partner.example"}, "x", {"INBOX"}, kHour);
  mail.put("nora@harbour.example", {"spam@s.example"}, "x", {"SENT", "SPAM"}, kHour);
  mail.synced();
  const auto is_new = [&](const std::string& to) { return mail.truth("new_recipient", R"({"to":")" + to + "\"}"); };
  CHECK(is_new("tom@harbour.example") == Truth::kNo);
  CHECK(is_new("Tom A <TOM@Harbour.example>") == Truth::kNo);
  CHECK(is_new("nora@harbour.example") == Truth::kNo);
  CHECK(is_new("eve@evil.example") == Truth::kYes);
  CHECK(is_new("ivo@partner.example") == Truth::kYes);
  CHECK(is_new("spam@s.example") == Truth::kYes);
  // An end of a known address is another one.
  CHECK(is_new("om@harbour.example") == Truth::kYes);
  CHECK(is_new("tom@harbour.example.evil.example") == Truth::kYes);
  CHECK(is_new("tom@harbour.example, eve@evil.example") == Truth::kYes);
  CHECK(is_new("tom@h\\u0430rbour.example") == Truth::kNotKnown);
  CHECK(mail.truth("new_recipient", "{}") == Truth::kNo);
  const auto answer = mail.ask("new_recipient", R"({"cc":"eve@evil.example"})");
  CHECK(answer.because == "eve@evil.example was never written to.");
}

TEST_CASE("a recipient is familiar who was written to, or who wrote more than a day ago") {
  Mailbox mail;
  mail.sent("tom@harbour.example");
  mail.received("old@friend.example", 25 * kHour);
  mail.received("eve@evil.example", 23 * kHour);
  mail.received("spam@s.example", 90 * kHour, "x", {"SPAM"});
  mail.synced();
  const auto is_new = [&](const std::string& to) {
    return mail.truth("unfamiliar_recipient", R"({"to":")" + to + "\"}");
  };
  CHECK(is_new("tom@harbour.example") == Truth::kNo);
  CHECK(is_new("old@friend.example") == Truth::kNo);
  CHECK(is_new("eve@evil.example") == Truth::kYes);
  CHECK(is_new("spam@s.example") == Truth::kYes);
  CHECK(is_new("nobody@x.example") == Truth::kYes);
}

TEST_CASE("what no replica can tell is not known") {
  Mailbox mail;
  const auto* fact = GENERATE("new_recipient", "unfamiliar_recipient", "quotes_code");
  const auto* params = R"({"to":"tom@harbour.example","body":"5582-9017"})";
  CHECK(mail.truth(fact, params) == Truth::kNotKnown);
  mail.synced();
  CHECK(mail.truth(fact, params) != Truth::kNotKnown);
  CHECK(mail.ask(fact, params, "mail.send", 0, "other@x.example").truth == Truth::kNotKnown);
}

TEST_CASE("what the replica said of a content is kept for its claim") {
  Mailbox mail;
  mail.synced();
  const auto* params = R"({"to":"tom@harbour.example"})";
  const auto since = mail.clock.wall_ms();
  CHECK(mail.ask("new_recipient", params).truth == Truth::kYes);
  mail.sent("tom@harbour.example");
  CHECK(mail.ask("new_recipient", params, "mail.send", since).truth == Truth::kYes);
  // A new content is looked up anew.
  CHECK(mail.ask("new_recipient", params).truth == Truth::kNo);
  CHECK(mail.ask("new_recipient", params, "mail.send", since).truth == Truth::kNo);
}

TEST_CASE("a domain that looks like one's own, and that nobody was written to at, looks alike") {
  Mailbox mail;
  mail.sent("amy@harbours.example");
  mail.synced();
  const auto looks = [&](const std::string& to) {
    return mail.truth("look_alike_recipient", R"({"to":")" + to + "\"}");
  };
  CHECK(looks("tom@harb0ur.example") == Truth::kYes);
  CHECK(looks("tom@harbour.example") == Truth::kNo);
  CHECK(looks("tom@harbours.example") == Truth::kNo);
  CHECK(looks("tom@partner.example") == Truth::kNo);
}

TEST_CASE("a number that stands in a message that a recipient has not got is quoted") {
  Mailbox mail;
  mail.sent("ivo@partner.example");
  mail.received("tom@harbour.example", 90 * kHour, "The gate opens with 5582-9017.");
  mail.received("ivo@partner.example", 90 * kHour, "Our order 77120034");
  mail.synced();
  const auto quotes = [&](const std::string& to, const std::string& body) {
    return mail.truth("quotes_code", R"({"to":")" + to + R"(","body":")" + body + "\"}");
  };
  CHECK(quotes("ivo@partner.example", "It is 5582-9017") == Truth::kYes);
  CHECK(quotes("ivo@partner.example", "It is 5582 9017") == Truth::kYes);
  CHECK(quotes("ivo@partner.example", "NTU4Mi05MDE3IGlzIGl0") == Truth::kYes);
  CHECK(quotes("tom@harbour.example", "It is 5582-9017") == Truth::kNo);
  CHECK(quotes("tom@harbour.example, ivo@partner.example", "5582-9017") == Truth::kYes);
  CHECK(quotes("ivo@partner.example", "about 77120034") == Truth::kNo);
  CHECK(quotes("ivo@partner.example", "about 99887766") == Truth::kNo);
  CHECK(quotes("ivo@partner.example", "on 2026-11-26") == Truth::kNo);
  const auto answer = mail.ask("quotes_code", R"({"to":"ivo@partner.example","body":"5582-9017"})");
  CHECK(answer.because.find("5582") == std::string::npos);
}

TEST_CASE("a link is new whose host stands in no older message") {
  Mailbox mail;
  mail.received("tom@harbour.example", 25 * kHour, "see https://board.example/rota");
  mail.received("eve@evil.example", 2 * kHour, "see https://evil.example/x");
  mail.synced();
  const auto is_new = [&](const std::string& body) { return mail.truth("new_link", R"({"body":")" + body + "\"}"); };
  CHECK(is_new("look at http://www.board.example/x") == Truth::kNo);
  CHECK(is_new("look at http://evil.example") == Truth::kYes);
  CHECK(is_new("http://board.example and www.other.com") == Truth::kYes);
  CHECK(is_new("no link at all") == Truth::kNo);
}

TEST_CASE("a host is not known by another's that begins or ends like it") {
  Mailbox mail;
  mail.received("tom@harbour.example", 25 * kHour, "see https://board.example.com/rota, or www.tides.com.");
  mail.synced();
  const auto is_new = [&](const std::string& body) { return mail.truth("new_link", R"({"body":")" + body + "\"}"); };
  for (const auto* known : {"https://board.example.com", "board.example.com/x", "http://tides.com/"})
    CHECK(is_new(known) == Truth::kNo);
  for (const auto* other : {"https://board.example.co", "https://example.com", "https://oard.example.com",
                            "https://ides.com", "https://tides.co"}) {
    INFO(other);
    CHECK(is_new(other) == Truth::kYes);
  }
}

TEST_CASE("what a write passes on is looked at as what it says itself") {
  Mailbox mail;
  mail.received("tom@harbour.example", 50 * kHour, "the password is hunter-2");
  mail.received("tom@harbour.example", 50 * kHour, "harmless");
  mail.received("tom@harbour.example", 50 * kHour, "its body was not read");
  const auto keep = [&](const std::string& id, const std::string& json) {
    bool given = false;
    const auto session = mail.replica->begin_session();
    session->put_blob("messages", id, "body", static_cast<std::int64_t>(json.size()),
                      [&](char* buffer, std::size_t) -> std::int64_t {
                        if (std::exchange(given, true)) return 0;
                        json.copy(buffer, json.size());
                        return static_cast<std::int64_t>(json.size());
                      });
    session->commit();
  };
  keep("m1", R"("text":"nothing")");
  keep("m2", R"("text":"see https://evil.example/x and 5582-9017","id":"ab12cd34ef")");
  mail.synced();
  const auto truth = [&](const std::string& fact, const std::string& id) {
    return mail.truth(fact, R"({"to":"eve@evil.example","id":")" + id + "\"}", "mail.forward");
  };
  CHECK(truth("carries_secret", "m1") == Truth::kYes);
  CHECK(truth("carries_secret", "m2") == Truth::kNo);
  CHECK(truth("carries_secret", "m3") == Truth::kNotKnown);
  CHECK(truth("carries_secret", "m9") == Truth::kNotKnown);
  CHECK(truth("new_link", "m2") == Truth::kYes);
  CHECK(truth("quotes_code", "m1") == Truth::kNo);
  // The target is what is passed on, and no place where the code belongs.
  mail.read("m2", "5582-9017");
  CHECK(truth("read_code", "m2") == Truth::kYes);
  CHECK(mail.ask("carries_secret", R"({"to":"a@b.example","id":"m3"})", "mail.forward").because ==
        "The account's copy has not all of what it passes on: read it first.");
}

TEST_CASE("what a capability's write was said to be is not said of another's with the same words") {
  Mailbox mail;
  mail.synced();
  const auto* params = R"({"to":"eve@evil.example"})";
  const auto since = mail.clock.wall_ms();
  CHECK(mail.ask("new_recipient", params, "mail.send").truth == Truth::kYes);
  CHECK(mail.ask("new_recipient", params, "mail.note").truth == Truth::kNo);
  CHECK(mail.ask("new_recipient", params, "mail.send", since).truth == Truth::kYes);
}

TEST_CASE("behind more values than are looked at nothing is said not to be") {
  Mailbox mail;
  mail.received("tom@harbour.example", 50 * kHour, "https://board.example");
  mail.synced();
  std::string body;
  for (int i = 0; i < 2'000; ++i) body += "https://board.example ";
  CHECK(mail.truth("new_link", R"({"body":")" + body + "\"}") == Truth::kNotKnown);
  mail.read("m1", "https://evil.example");
  CHECK(mail.truth("read_link", R"({"body":")" + body + "https://evil.example\"}") == Truth::kNotKnown);
}

TEST_CASE("secrets are known by their form, and not told") {
  Mailbox mail;
  const auto answer = mail.ask("carries_secret", R"({"body":"the password is hunter-2"})");
  CHECK(answer.truth == Truth::kYes);
  CHECK(answer.because.find("hunter") == std::string::npos);
  CHECK(mail.truth("carries_secret", R"({"body":"hello"})") == Truth::kNo);
}

TEST_CASE("what is deleted may be what the account has just sent") {
  Mailbox mail;
  mail.put("nora@harbour.example", {"tom@harbour.example"}, "just now", {"SENT"}, kHour / 2);
  mail.sent("tom@harbour.example");
  mail.received("amy@partner.example", kHour / 2);
  const auto drop = [&](const std::string& id) {
    return mail.ask("sent_lately", R"({"id":")" + id + "\"}", "mail.drop");
  };
  CHECK(drop("m1").truth == Truth::kNotKnown);
  mail.synced();
  CHECK(drop("m1").truth == Truth::kYes);
  CHECK(drop("m1").because == "\"just now\" (m1) was sent within the hour.");
  CHECK(drop("m2").truth == Truth::kNo);
  CHECK(drop("m3").truth == Truth::kNo);
  CHECK(drop("m9").truth == Truth::kNo);
  CHECK(mail.truth("sent_lately", R"({"to":"a@b.example"})") == Truth::kNo);
}

TEST_CASE("a sender is proven where the service says so, and it is said where it does not") {
  Mailbox mail;
  for (const char* check : {"pass", "fail", ""}) {
    mail.check = check;
    mail.received("amy@partner.example", 100 * kHour, "hello");
  }
  mail.synced();
  const auto reply = [&](const std::string& id) {
    return mail.ask("unproven_sender", R"({"id":")" + id + "\"}", "mail.reply");
  };
  CHECK(reply("m1").truth == Truth::kNo);
  CHECK(reply("m2").truth == Truth::kYes);
  CHECK(reply("m2").because == "The service has not proven who has sent \"hello\" (m2).");
  CHECK(reply("m3").truth == Truth::kNotKnown);
  CHECK(reply("m9").truth == Truth::kNotKnown);
  mail.sent("tom@harbour.example");
  CHECK(reply("m4").truth == Truth::kNo);
  CHECK(mail.truth("unproven_sender", R"({"to":"a@b.example"})") == Truth::kNo);
  CHECK(mail.truth("read_unproven", R"({"to":"a@b.example"})") == Truth::kNo);
  mail.history.reads.note("a1", {"mail", "nora@harbour.example", "mail.read", "m2"}, "{}", {ReadMark::kUnprovenSender});
  const auto answer = mail.ask("read_unproven", R"({"to":"a@b.example"})");
  CHECK(answer.truth == Truth::kYes);
  CHECK(answer.because == "The service has not proven who has sent what it read by mail.read of \"hello\" (m2).");
}

TEST_CASE("a domain is new until somebody there was written to, and may look like one that was") {
  Mailbox mail;
  mail.sent("tom@partner.example");
  mail.received("amy@supplier.example", 100 * kHour);
  const auto of = [&](const std::string& fact, const std::string& to) {
    return mail.ask(fact, R"({"to":")" + to + "\"}");
  };
  CHECK(of("new_domain", "a@b.example").truth == Truth::kNotKnown);
  CHECK(of("look_alike_recipient", "a@partnr.example").truth == Truth::kNotKnown);
  mail.synced();
  CHECK(of("new_domain", "ann@partner.example").truth == Truth::kNo);
  CHECK(of("new_domain", "ann@harbour.example").truth == Truth::kNo);
  CHECK(of("new_domain", "amy@supplier.example").truth == Truth::kYes);
  CHECK(of("new_domain", "x@partner.example.evil.example").because ==
        "Nobody at partner.example.evil.example was ever written to.");
  CHECK(of("look_alike_recipient", "tom@partner.example").truth == Truth::kNo);
  CHECK(of("look_alike_recipient", "tom@partnre.example").because == "partnre.example looks like partner.example.");
  CHECK(of("look_alike_recipient", "nora@harb0ur.example").because == "harb0ur.example looks like harbour.example.");
  CHECK(of("look_alike_recipient", "amy@suppl1er.example").truth == Truth::kNo);
  CHECK(of("look_alike_recipient", "tom@other.example").truth == Truth::kNo);
  mail.received("ann@partners.example", 100 * kHour);
  mail.received("ann@partnerz.example", kHour);
  mail.received("ann@harb0urs.example", 100 * kHour);
  CHECK(of("look_alike_recipient", "ann@partners.example").truth == Truth::kNo);
  CHECK(of("look_alike_recipient", "ann@partnerz.example").truth == Truth::kYes);
  CHECK(of("look_alike_recipient", "ann@harb0urs.example").truth == Truth::kYes);
  // What is sent later is read later, also within the same millisecond.
  mail.sent("amy@supplier.example");
  mail.sent("amy@customer.example");
  CHECK(of("look_alike_recipient", "amy@suppl1er.example").truth == Truth::kYes);
  CHECK(of("look_alike_recipient", "amy@cust0mer.example").truth == Truth::kYes);
}

TEST_CASE("every fact that rules may name is answered, and no other") {
  Mailbox mail;
  mail.synced();
  for (const auto& fact : mail.facts.names()) {
    CAPTURE(fact);
    const auto answer = mail.ask(fact, R"({"to":"nora@harbour.example","body":"hello"})");
    CHECK(answer.truth == Truth::kNo);
  }
  CHECK(mail.ask("no_such_fact", "{}").because == "This host does not know such a fact.");
}

}  // namespace KRUXOS_TEST_FILE
