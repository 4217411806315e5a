// Answering and passing on.
#include <catch2/catch.hpp>

#include "resolve.hpp"
#include "test_support/writing.hpp"

using kruxos::ErrorKind;
using namespace gmail;

TEST_CASE("a reply goes to the sender, into the thread") {
  Desk desk;
  const auto original = desk.rig.arrive("Plans");
  Written write;
  write.operation = "email.reply";
  write.params = ObjectWriter().text("message_id", original).text("body", "Fine.").flag("reply_all", true).done();
  const auto result = parse(desk.execute(write));
  CHECK(text_of(result, "thread_id") ==
        WritingRig::hex_of(desk.rig.mailbox().find(WritingRig::id_of(original))->thread_id));
  std::string raw;
  const auto mail = mail_of(desk, std::string(text_of(result, "message_id")), raw);
  CHECK(mail.content().subject == "Re: Plans");
  CHECK(shown(mail.content().to) == "Person 1 <p1@example.com>");
  CHECK(mail.content().cc.empty());
  CHECK(mail.content().in_reply_to == std::vector<std::string>{"m1@example.com"});
  CHECK(mail.content().text_plain == "Fine.\n");
  Written unknown;
  unknown.operation = "email.reply";
  unknown.params = R"({"message_id":"00000000000000ff","body":"x"})";
  const auto error = failure(desk, unknown);
  CHECK(error.kind() == ErrorKind::kNotFound);
  CHECK(error.type() == "MessageNotFound");
}

TEST_CASE("a reply is accepted with whom it goes to, and goes to nobody else") {
  Desk desk;
  const auto id = desk.rig.arrive("Plans");
  const auto asked = ObjectWriter().text("message_id", id).text("body", "Fine.").flag("reply_all", true).done();
  const auto resolved = [&] { return resolve(desk.rig.store.store().reader(), "email.reply", asked, kOwn); };
  CHECK(parse(resolved()) == parse(asked));  // the replica does not have it yet

  Message original;
  original.id = id;
  original.from = "Person 1 <p1@example.com>";
  original.to = std::string(kOwn) + ", Carl <carl@example.com>";
  original.cc = "dora@example.com";
  original.subject = "Plans";
  auto lent = desk.rig.store.store();
  const auto synced = [&] {
    lent.put(message_record(original));
    lent.commit();
  };
  synced();
  const auto head = parse(resolved());
  CHECK(text_of(head, "to") == "p1@example.com");
  CHECK(text_of(head, "cc") == "carl@example.com, dora@example.com");
  CHECK(text_of(head, "subject") == "Re: Plans");
  CHECK(text_of(head, "body") == "Fine.");
  CHECK(resolve(desk.rig.store.store().reader(), "email.reply", resolved(), kOwn) == resolved());

  Written write;  // Gmail knows other recipients of it
  write.operation = "email.reply";
  write.params = resolved();
  const auto error = failure(desk, write);
  CHECK(error.kind() == ErrorKind::kRefused);
  CHECK(error.has_no_effect());
  CHECK(desk.effects().sends == 0);
  CHECK(desk.rig.mailbox().drafts().empty());

  original.to = kOwn;
  original.cc.clear();
  synced();
  write.params = resolved();
  std::string raw;
  CHECK(shown(mail_of(desk, id_in(desk.execute(write)), raw).content().to) == "Person 1 <p1@example.com>");

  original.from = kOwn;
  synced();
  CHECK_THROWS_WITH(resolved(), Catch::Contains("nobody but this account"));
}

TEST_CASE("a forward carries the original") {
  Desk desk;
  const auto original = desk.rig.arrive("Plans");
  Written write;
  write.operation = "email.forward";
  write.params = ObjectWriter().text("message_id", original).text("to", "c@example.com").text("body", "See:").done();
  std::string raw;
  const auto mail = mail_of(desk, id_in(desk.execute(write)), raw);
  CHECK(mail.content().subject == "Fwd: Plans");
  CHECK(mail.content().text_plain.find(
            "See:\n\n---------- Forwarded message ---------\nFrom: Person 1 <p1@example.com>") == 0);
  CHECK(mail.content().text_plain.find("The text of mail 1.") != std::string::npos);
}
