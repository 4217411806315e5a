// Answering and passing on.
#include <catch2/catch.hpp>

#include "read.hpp"
#include "resolve.hpp"
#include "sync.hpp"
#include "test_support/writing.hpp"

namespace KRUXOS_TEST_FILE {

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
  try {
    resolved();  // the replica does not have it yet, so that nobody could see whom it goes to
    FAIL("it was accepted");
  } catch (const kruxos::ProxyError& error) {
    CHECK(error.type() == "MessageNotFound");
  }

  Message original;
  original.id = id;
  original.thread_id = "17a";
  original.from = {{"Person 1", "p1@example.com"}};
  original.to = {{"", kOwn}, {"Carl", "carl@example.com"}};
  original.cc = {{"", "dora@example.com"}};
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
  CHECK(text_of(head, "thread_id") == "17a");
  CHECK(text_of(head, "body") == "Fine.");
  CHECK(resolve(desk.rig.store.store().reader(), "email.reply", resolved(), kOwn) == resolved());

  Written write;  // Gmail knows other recipients of it
  write.operation = "email.reply";
  write.params = resolved();
  const auto error = failure(desk, write);
  CHECK(error.kind() == ErrorKind::kRefused);
  CHECK(error.has_no_effect());
  CHECK_THAT(error.what(), Catch::Contains("Copies go to nobody, and carl@example.com, dora@example.com was shown") &&
                               Catch::Contains("email.read"));
  CHECK(desk.effects().sends == 0);
  CHECK(desk.rig.mailbox().drafts().empty());

  original.to = {{"", kOwn}};
  original.cc.clear();
  synced();
  write.params = resolved();
  std::string raw;
  CHECK(shown(mail_of(desk, id_in(desk.execute(write)), raw).content().to) == "Person 1 <p1@example.com>");

  original.from = {{"", kOwn}};
  synced();
  CHECK_THROWS_WITH(resolved(), Catch::Contains("nobody but this account"));
}

namespace {

constexpr const char* kPretending =
    "From: =?utf-8?Q?finance=40attacker.test,?= Docs <noreply@docs.example>\r\n"
    "To: agent@example.com, =?utf-8?Q?x=40attacker.test,?= B <b@example.com>\r\n"
    "Cc: =?utf-8?Q?=22_=3Cy=40attacker.test=3E,_=22?= <c@example.com>\r\n"
    "Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\nMessage-ID: <m@example.com>\r\n\r\nHello\r\n";

/// A desk whose replica follows the mailbox, and which reads mails.
struct SyncedDesk : Desk {
  explicit SyncedDesk(const std::string& header_values) { rig.gmail.state.behaviour.header_values = header_values; }

  std::string arrive(const char* raw) {
    rig.host.clock.advance(1'000);
    emu::NewMessage mail{emu::Content(raw), rig.host.clock.now_ms, {}, {"INBOX"}, {}};
    return WritingRig::hex_of(rig.mailbox().add(std::move(mail)).id);
  }
  void sync() {
    Sync pass(rig.client, rig.host.host(), {});
    for (auto next = KRUX_SYNC_MORE + 0; next != KRUX_SYNC_DONE;) {
      kruxos::testing::FakeCall call(rig.host.clock);
      auto lent = rig.store.store();
      const auto step = pass.step(call.call(), lent);
      next = step.next;
      if (next == KRUX_SYNC_WAIT) rig.host.clock.advance(step.wait_ms);
    }
  }
  rapidjson::Document read(const std::string& capability, const std::string& params) {
    kruxos::testing::FakeCall call(rig.host.clock, kruxos::testing::CallKind::kFetch);
    return parse(MailReader(rig.client, kOwn).read(call.call(), rig.store.fetching_reader(), capability, params));
  }
  std::size_t found(const std::string& query) {
    return read("email.search", ObjectWriter().text("query", query).done())["messages"].Size();
  }
  Written reply(const std::string& id, bool all) {
    Written write;
    write.operation = "email.reply";
    write.params =
        resolve(rig.store.store().reader(), write.operation,
                ObjectWriter().text("message_id", id).text("body", "Fine.").flag("reply_all", all).done(), kOwn);
    return write;
  }
};

}  // namespace

TEST_CASE("a reply goes to no address that stands in a name, whichever way headers come") {
  const std::string values = GENERATE("raw", "decoded");
  const bool all = GENERATE(false, true), was_read = GENERATE(false, true);
  CAPTURE(values, all, was_read);
  SyncedDesk desk(values);
  const auto id = desk.arrive(kPretending);
  desk.sync();
  const auto id_param = ObjectWriter().text("message_id", id).done();
  if (was_read) desk.read("email.read", id_param);
  auto write = desk.reply(id, all);
  const auto shown_to = std::string(text_of(parse(write.params), "to"));
  CHECK(shown_to == "noreply@docs.example");
  std::string raw;
  const auto sent = mail_of(desk, id_in(desk.execute(write)), raw);
  CHECK(sent.content().to == std::vector<MailAddress>{{"finance@attacker.test, Docs", "noreply@docs.example"}});
  CHECK(sent.content().subject == "Re: Grüße");
  if (!all) CHECK(sent.content().cc.empty());
  if (all) {
    REQUIRE(sent.content().cc.size() == 2);
    CHECK(sent.content().cc[0].address == "b@example.com");
    CHECK(sent.content().cc[1].address == "c@example.com");
  }
  CHECK(raw.find("<finance@") == std::string::npos);
}

TEST_CASE("a reply that would go elsewhere than was shown is refused, and goes once the mail was read") {
  SyncedDesk desk("decoded");
  const auto id = desk.arrive(
      "From: Ada <ada@example.com>\r\nTo: =?utf-8?Q?x=40attacker.test,?= B <b@example.com>\r\n"
      "Subject: Plans\r\nMessage-ID: <m@example.com>\r\n\r\nHello\r\n");
  desk.sync();
  auto write = desk.reply(id, true);
  CHECK(text_of(parse(write.params), "cc") == "x@attacker.test, b@example.com");
  const auto error = failure(desk, write);
  CHECK(error.kind() == ErrorKind::kRefused);
  CHECK(error.has_no_effect());
  CHECK_THAT(error.what(),
             Catch::Contains("Copies go to b@example.com, and x@attacker.test, b@example.com was shown."));
  CHECK(desk.effects().drafts_created == 0);
  const auto mail = desk.read("email.read", ObjectWriter().text("message_id", id).done());
  CHECK(text_of(mail["message"], "to") == "\"x@attacker.test, B\" <b@example.com>");
  write = desk.reply(id, true);
  CHECK(text_of(parse(write.params), "cc") == "b@example.com");
  std::string raw;
  CHECK(mail_of(desk, id_in(desk.execute(write)), raw).content().cc.front().address == "b@example.com");
}

TEST_CASE("a search for a sender's address finds no name, whichever way headers come") {
  const std::string values = GENERATE("raw", "decoded");
  CAPTURE(values);
  SyncedDesk desk(values);
  desk.arrive("From: =?utf-8?Q?Boss_<boss=40example.com>,?= <evil@attacker.test>\r\nSubject: a\r\n\r\na\r\n");
  desk.arrive("From: =?utf-8?Q?boss=40example.com?= <evil@attacker.test>\r\nSubject: b\r\n\r\nb\r\n");
  desk.arrive("From: =?utf-8?Q?Boss_<boss=40example.com>,_=22?= <evil@attacker.test>\r\nSubject: c\r\n\r\nc\r\n");
  desk.arrive("From: Boss <boss@example.com>\r\nSubject: d\r\n\r\nd\r\n");
  desk.sync();
  CHECK(desk.found("from:boss@example.com") == 1);
  CHECK(desk.found("from:example.com") == 1);
  CHECK(desk.found("from:evil@attacker.test") == 3);
  CHECK(desk.found("from:boss") == 4);
  CHECK(text_of(desk.read("email.search", R"({"query":"subject:a from:evil"})")["messages"][0], "from") ==
        "\"Boss <boss@example.com>,\" <evil@attacker.test>");
}

TEST_CASE("more recipients than are kept are said, and no reply leaves them out") {
  SyncedDesk desk("raw");
  std::string to;
  for (int i = 0; i < 5'000; ++i) to += (i ? ", " : "") + ("person" + std::to_string(i)) + "@example.com";
  const auto mail = "From: Ada <ada@example.com>\r\nTo: " + to + "\r\nSubject: Plans\r\n\r\nHello\r\n";
  const auto id = desk.arrive(mail.c_str());
  desk.sync();
  const auto page = desk.read("email.search", "{}");
  const auto& found = page["messages"][0];
  CHECK(texts_of(found, "cut") == std::vector<std::string>{"to"});
  const auto shown_to = text_of(found, "to");
  CHECK(shown_to.size() <= 16'384);
  CHECK(shown_to.ends_with("@example.com"));
  CHECK(text_of(parse(desk.reply(id, false).params), "to") == "ada@example.com");
  CHECK_THROWS_WITH(desk.reply(id, true), Catch::Contains("more people in \"to\" than are read of it"));
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

}  // namespace KRUXOS_TEST_FILE
