// A mailbox through the whole chain: read, written, undone, disconnected.
#include <filesystem>

#include "gmail_rig.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr std::int64_t kMinute = 60'000, kDay = 24 * 60 * kMinute;

struct GmailDay : GmailRig {
  explicit GmailDay(const RigOptions& options = {}) : GmailRig(options) { begin(); }
  // The ids that a search finds.
  std::vector<std::string> found(const std::string& query) {
    const auto answer = invoke("email.search", R"({"query":")" + query + "\"}");
    INFO(text_of(answer.document));
    REQUIRE(answer.ok());
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < answer.size("/messages"); ++i) {
      ids.push_back(answer.text("/messages/" + std::to_string(i) + "/id"));
    }
    return ids;
  }
  bool done(const Answer& write, std::int64_t limit_ms = 10 * kMinute) {
    INFO(text_of(write.document));
    REQUIRE(write.ok());
    return pass_time([&] { return state(write.write_id()) == "completed"; }, limit_ms, 30'000);
  }
  // The mail that a write sent, as Gmail's API shows it.
  Json mail_of(const Answer& write) {
    const auto id = text_at(this->write(write.write_id()), "/write/result/message_id");
    return parse(gmail().call("GET", "messages/" + id).body);
  }
};

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("a mailbox is connected with the operator's command, and its secrets stay where they are") {
  GmailRig rig;
  rig.start();
  const auto done = rig.connect_by({}, {"--profile", "draft"});
  INFO(done.out << done.err);
  REQUIRE(done.status.ok());
  CHECK(rig.last_page.find("onnected") != std::string::npos);
  CHECK(text_at(rig.operate({"connect", "status"}), "/connections/0/account_id") == kOwner);
  REQUIRE(rig.pass_time([&] { return rig.synced(); }));
  rig.key = rig.new_agent("assistant");
  CHECK(rig.is_true());
  // The profile allows drafts alone, though Google's scope would allow more.
  CHECK(rig.invoke("email.draft", R"({"to":"bob@example.com","subject":"Allowed"})").ok());
  CHECK(rig.mail("Not allowed").error() == "PolicyDenied");
  CHECK(rig.on("email.delete", rig.news).error() == "OperationBlocked");
  rig.check_contract();
  rig.check_no_secret();
}

TEST_CASE("a mailbox is searched with operators and read from the replica") {
  GmailDay rig(either_isolation());
  CHECK(rig.is_true());
  const auto lists = rig.gmail().calls("gmail.users.messages.list");
  const auto gets = rig.gmail().calls("gmail.users.messages.get");
  CHECK(rig.found("from:bob has:attachment newer_than:7d") == Ids{rig.invoice});
  CHECK(rig.found("label:projects-bridge is:unread -subject:invoice") == Ids{rig.bridge});
  CHECK(rig.found("{subject:invoice is:starred} filename:pdf OR from:news@example.net") == Ids{rig.news, rig.invoice});
  CHECK(rig.found("October") == Ids{rig.invoice});
  CHECK(rig.found("in:trash").empty());
  CHECK(rig.gmail().calls("gmail.users.messages.get") == gets);

  for (int i = 0; i < 2; ++i) {
    const auto read = rig.on("email.read", rig.invoice);
    INFO(text_of(read.document));
    CHECK(read.text("/body/text_plain").find("invoice for October") != std::string::npos);
    CHECK(read.text("/attachments/0/filename") == "invoice-4711.pdf");
    CHECK(rig.gmail().calls("gmail.users.messages.get") == gets + 1);
  }
  const std::string note = "email.read of agent ";
  REQUIRE(eventually([&] { return rig.log().find(note) != std::string::npos; }));  // it comes through a pipe
  const auto log = rig.log();
  const auto noted = log.find(note);
  const auto line = log.substr(noted, log.find('\n', noted) - noted);
  CHECK(line.find("1 requests, for {") != std::string::npos);
  CHECK(line.find("\"message_id\":\"" + rig.invoice) != std::string::npos);
  CHECK(log.find(note, noted + 1) == std::string::npos);  // the second was answered from the cache
  CHECK(rig.on("email.read", "18bc000000000000").error() == "MessageNotFound");
  CHECK(rig.gmail().calls("gmail.users.messages.list") == lists);
  rig.check_contract();
  rig.check_no_secret();
}

TEST_CASE("labels are listed, and the text of an attachment is read in parts") {
  GmailDay rig(either_isolation());
  const auto labels = rig.invoke("email.labels", R"({"name_contains":"bridge"})");
  INFO(text_of(labels.document));
  CHECK(labels.size("/labels") == 1);
  CHECK(labels.text("/labels/0/id") == "Label_7");
  CHECK(labels.text("/labels/0/name") == "Projects/Bridge");
  CHECK(labels.text("/labels/0/type") == "user");
  CHECK(rig.invoke("email.labels").number("/total") > 5);

  const auto made = rig.gmail().act(
      R"({"action":"deliver","from":"chen@example.com","to":"agent@example.com","subject":"Figures","body":"See.",)"
      R"("attachments":[{"filename":"figures.csv","type":"text/csv; charset=utf-8","text":"größe,1\nb,2\n"}]})");
  const auto id = text_at(made, "/id");
  REQUIRE(rig.pass_time([&] { return rig.on("email.read", id).ok(); }, 5 * kMinute));
  const auto gets = rig.gmail().calls("gmail.users.messages.get");
  const auto first = rig.on("email.attachment", id, R"(,"attachment_id":"1","max_chars":5)");
  INFO(text_of(first.document));
  CHECK(first.text("/text") == "größe");
  CHECK(first.text("/filename") == "figures.csv");
  CHECK(first.number("/next_offset") == 5);
  CHECK(rig.on("email.attachment", id, R"(,"attachment_id":"1","offset":5)").text("/text") == ",1\nb,2\n");
  CHECK(rig.gmail().calls("gmail.users.messages.get") == gets + 1);
  const auto pdf = rig.on("email.attachment", rig.invoice, R"(,"attachment_id":"1")");
  CHECK(pdf.text("/mime_type") == "application/pdf");
  CHECK(pdf.text("/note").find("no text") != std::string::npos);
  CHECK(pdf.text("/text").empty());
  CHECK(rig.on("email.attachment", rig.invoice, R"(,"attachment_id":"7")").error() == "InvalidInput");
  rig.check_contract();
  rig.check_no_secret();
}

TEST_CASE("mails are drafted, sent with what was uploaded, edited, taken back, and answered") {
  GmailDay rig(either_isolation());
  const auto draft = rig.invoke("email.draft", R"({"to":"bob@example.com","subject":"For a person","body":"Look."})");
  INFO(text_of(draft.document));
  REQUIRE(draft.ok());
  CHECK(rig.gmail().drafts_live(draft.write_id()) == 1);

  const auto upload = rig.upload("report.txt", std::string(40'000, 'x') + "the end");
  const auto report =
      rig.invoke("email.send", R"({"to":"Dora Müller <dora@example.org>","subject":"Oktober","body":"Grüße!",)"
                               R"("attachments":[")" +
                                   upload + "\"]}");
  const auto edited = rig.mail("Before the edit"), taken_back = rig.mail("Never");
  const auto changed = rig.invoke(
      "proxy.edit_write", R"({"write_id":")" + edited.write_id() + R"(","arguments":{"subject":"After the edit"}})");
  CHECK(changed.ok());
  CHECK(rig.invoke("email.cancel", R"({"write_id":")" + taken_back.write_id() + "\"}").text("/status") == "cancelled");
  const auto reply = rig.invoke("email.reply", R"({"message_id":")" + rig.bridge + R"(","body":"At ten."})");
  rig.advance(5 * kMinute - 1'000);
  CHECK(rig.gmail().effect("sends") == 0);

  for (const auto* write : {&report, &edited, &reply}) {
    CHECK(rig.done(*write));
    CHECK(rig.gmail().sent(write->write_id()) == 1);
    CHECK(rig.gmail().drafts_live(write->write_id()) == 0);
  }
  CHECK(rig.sent_of("After the edit") == 1);
  CHECK(rig.sent_of("Before the edit") + rig.sent_of("Never") == 0);
  const auto sent = rig.mail_of(report);
  CHECK(text_at(sent, "/payload/parts/1/filename") == "report.txt");
  CHECK(number_at(sent, "/payload/parts/1/body/size") == 40'007);
  CHECK(text_at(rig.mail_of(reply), "/threadId") == rig.bridge);
  CHECK(rig.gmail().effect("sends") == 3);
  CHECK(rig.pass_time([&] { return rig.is_true(); }, 5 * kMinute));
  rig.check_contract();
}

TEST_CASE("a reply goes to no address that stands in a name, and everybody sees whom it reaches") {
  const std::string values = GENERATE("raw", "decoded");
  CAPTURE(values);
  GmailRig rig;
  const auto policies = rig.path("policies");
  std::filesystem::create_directory(policies);
  std::filesystem::permissions(policies, std::filesystem::perms::owner_all);
  ::support::write_safe(policies / "gmail.yaml",
                        "policy: 1\nservice: gmail\ncapabilities: {email.reply: {tier: approval_required}}\n");
  rig.config_text += "policies_dir: " + policies.string() + "\n";
  rig.gmail().control("POST", "behaviour", R"({"header_values":")" + values + "\"}");
  const auto id =
      text_at(rig.gmail().act(
                  R"({"action":"deliver","from":"=?utf-8?Q?finance=40attacker.test,?= Docs <noreply@docs.example>",)"
                  R"("to":"agent@example.com","cc":"Bob <bob@example.com>","subject":"Please sign","body":"Hi."})"),
              "/id");
  rig.begin();
  const auto found = rig.invoke("email.search", R"({"query":"from:finance@attacker.test"})");
  CHECK(found.size("/messages") == 0);

  const auto asked = rig.on("email.reply", id, R"(,"body":"Done.","reply_all":true)");
  CHECK(asked.error() == "ApprovalRequired");
  const auto context = "/result/error/context";
  CHECK(text_at(asked.document, context + std::string("/recipients/to")) == "noreply@docs.example");
  const auto write_id = text_at(asked.document, context + std::string("/write_id"));
  const auto seen_by_everybody = [&](const std::string& state) {
    INFO(state);
    const auto status = rig.invoke("proxy.write_status", R"({"write_id":")" + write_id + "\"}");
    const auto list = rig.invoke("proxy.list_writes");
    const auto operators = rig.operate({"approve", "show", write_id});
    CHECK(status.text("/status") == state);
    for (const auto& [field, people] : {std::pair{"/to", "noreply@docs.example"}, {"/cc", "bob@example.com"}}) {
      CHECK(status.text(std::string("/arguments") + field) == people);
      CHECK(status.text(std::string("/recipients") + field) == people);
      CHECK(list.text(std::string("/writes/0/recipients") + field) == people);
      CHECK(text_at(operators, std::string("/write/params_shown") + field) == people);
      CHECK(text_at(operators, std::string("/write/recipients") + field) == people);
      CHECK(rig.kruxos({"approve", "show", write_id}).out.find(people) != std::string::npos);
    }
  };
  seen_by_everybody("pending_approval");
  const auto reach = "It names 2 addresses, 1 outside example.com: noreply@docs.example.";
  CHECK(text_at(rig.operate({"approve", "show", write_id}), "/write/reach/0") == reach);
  CHECK_THAT(rig.kruxos({"approve", "show", write_id}).out, Catch::Contains("noreply@docs.example."));
  CHECK(text_at(rig.operate({"approve", "list"}), "/pending/0/recipients/to") == "noreply@docs.example");
  rig.operate({"approve", "accept", write_id, "--yes"});
  REQUIRE(rig.pass_time([&] { return rig.state(write_id) == "completed"; }, 10 * kMinute, 30'000));
  seen_by_everybody("completed");
  CHECK(size_at(rig.operate({"approve", "show", write_id}), "/write/reach") == 0);
  const auto messages = rig.gmail().messages();
  CHECK(text_at(messages, "/messages/0/to") == "\"finance@attacker.test, Docs\" <noreply@docs.example>");
  CHECK(text_at(messages, "/messages/0/cc") == "Bob <bob@example.com>");
  rig.check_contract();
}

TEST_CASE("a label and a deletion are undone, with the labels that there were") {
  GmailDay rig;
  const auto invoice = rig.labels_of(rig.invoice), news = rig.labels_of(rig.news);
  const auto labelled =
      rig.invoke("email.label", R"({"message_id":")" + rig.invoice +
                                    R"(","add_labels":["Projects/Bridge"],"remove_labels":["UNREAD"]})");
  const auto deleted = rig.on("email.delete", rig.news);
  const auto pending = [&] { return rig.invoke("email.search").size("/pending_writes"); };
  CHECK(pending() == 2);
  CHECK(rig.invoke_as(rig.new_agent("other"), "email.search").size("/pending_writes") == 0);
  CHECK(rig.done(labelled));
  CHECK(rig.labels_of(rig.invoice) == "INBOX Projects/Bridge");
  CHECK(rig.pass_time([&] { return rig.found("label:projects-bridge").size() == 2; }, 5 * kMinute));
  rig.advance(kDay);
  CHECK(rig.done(deleted));
  CHECK(rig.labels_of(rig.news).find("TRASH") != std::string::npos);
  CHECK(rig.pass_time([&] { return rig.is_true() && pending() == 0; }, 10 * kMinute));
  CHECK(rig.found("from:news").empty());

  for (const auto* write : {&deleted, &labelled}) {
    CHECK(rig.roll_back(write->write_id()).ok());
    CHECK(rig.pass_time([&] { return rig.state(write->write_id()) == "rolled_back"; }, 5 * kMinute));
  }
  CHECK(rig.labels_of(rig.invoice) == invoice);
  CHECK(rig.labels_of(rig.news) == news);
  CHECK(rig.pass_time([&] { return rig.is_true(); }, 10 * kMinute));
  rig.check_contract();
}

TEST_CASE("an undo does not tread on what a person has done since") {
  GmailDay rig;
  const auto labelled =
      rig.invoke("email.label", R"({"message_id":")" + rig.invoice + R"(","add_labels":["STARRED"]})");
  CHECK(rig.done(labelled));
  rig.gmail().act(R"({"action":"unstar","id":")" + rig.invoice + "\"}");
  const auto undo = rig.roll_back(labelled.write_id());
  INFO(text_of(undo.document));
  CHECK(undo.error() == "RollbackConflict");
  CHECK(rig.labels_of(rig.invoice) == "INBOX UNREAD");
}

TEST_CASE("a token that ends in mid-flight is renewed, and the mail goes out once") {
  GmailDay rig;
  const auto one = rig.mail("Refused at the draft"), two = rig.mail("Refused at the sending");
  rig.gmail().fault(R"({"method":"gmail.users.drafts.send","skip":1,"kind":"error","error":"authError"})");
  rig.advance(5 * kMinute - 1'000);
  rig.gmail().oauth(R"({"action":"expire_access"})");
  CHECK(rig.done(one));
  CHECK(rig.done(two));
  CHECK(rig.counted("refreshes") >= 1);
  CHECK(rig.live_grants() == 1);
  for (const auto* write : {&one, &two}) {
    CHECK(rig.gmail().sent(write->write_id()) == 1);
    CHECK(rig.gmail().drafts(write->write_id()) == 1);
  }
  CHECK(rig.gmail().effect("sends") == 2);
  rig.check_no_secret();
}

TEST_CASE("an answer to a sending that is lost is found, by the draft that is gone") {
  const std::string fault = GENERATE(R"("kind":"reset_after")", R"("kind":"reset")",
                                     R"("kind":"http_status","status":503)", R"("kind":"truncated")");
  CAPTURE(fault);
  GmailDay rig;
  rig.gmail().fault(R"({"method":"gmail.users.drafts.send",)" + fault + "}");
  const auto sent = rig.mail("Once, please");
  CHECK(rig.done(sent));
  CHECK(rig.gmail().sent(sent.write_id()) == 1);
  CHECK(rig.gmail().drafts(sent.write_id()) == 1);
  rig.advance(kDay);
  CHECK(rig.gmail().effect("sends") == 1);
}

TEST_CASE("a mail that is cancelled after its draft was made leaves nothing in the mailbox") {
  GmailDay rig(either_isolation());
  rig.gmail().fault(R"({"method":"gmail.users.drafts.send","kind":"error","error":"rateLimitExceeded","count":0})");
  const auto id = rig.mail("Not wanted any more").write_id();
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "dead_letter"; }, 10 * kMinute, 30'000));
  REQUIRE(rig.gmail().drafts_live(id) == 1);
  const bool disturbed = GENERATE(false, true);
  if (disturbed) rig.gmail().fault(R"({"method":"gmail.users.drafts.delete","kind":"reset_after"})");
  const auto cleanup = [&] { return text_at(rig.write(id), "/write/cleanup"); };
  if (disturbed) {
    CHECK(text_at(rig.operate({"approve", "cancel", id, "--yes"}), "/write/cleanup") == "pending");
  } else {
    const auto cancelled = rig.invoke("email.cancel", R"({"write_id":")" + id + "\"}");
    CHECK(cancelled.text("/status") == "cancelled");
    CHECK(cancelled.text("/cleanup") == "pending");
  }
  REQUIRE(rig.pass_time([&] { return cleanup() == "done"; }, 10 * kMinute, 30'000));
  CHECK(rig.gmail().drafts_live(id) == 0);
  CHECK(rig.state(id) == "cancelled");
  rig.advance(kDay);
  CHECK(rig.gmail().effect("sends") == 0);
  CHECK(rig.gmail().effect("drafts_created") == 1);
  rig.check_contract();
}

TEST_CASE("a mail that is released of a copy goes out of the draft that its original made") {
  GmailDay rig;
  rig.gmail().fault(R"({"method":"gmail.users.drafts.send","kind":"error","error":"rateLimitExceeded"})");
  const auto id = rig.mail("Restored").write_id();
  REQUIRE(rig.kruxos({"backup", rig.path("monday").string()}).status.ok());
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "dead_letter"; }, 10 * kMinute, 30'000));
  REQUIRE(rig.gmail().drafts_live(id) == 1);
  REQUIRE(rig.stop().ok());
  std::filesystem::rename(rig.data(), rig.path("original"));
  REQUIRE(rig.kruxos({"restore", rig.path("monday").string()}).status.ok());
  rig.start();
  REQUIRE(rig.kruxos({"held", "release", "--all", "--yes"}).status.ok());
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }, 30 * kMinute, 30'000));
  CHECK(rig.gmail().drafts_live(id) == 0);
  CHECK(rig.gmail().effect("drafts_created") == 1);
  CHECK(rig.gmail().effect("sends") == 1);
  rig.check_contract();
}

TEST_CASE("a mail that Gmail refuses for good leaves no draft either") {
  GmailDay rig;
  rig.gmail().fault(R"({"method":"gmail.users.drafts.send","kind":"error","error":"invalidArgument","count":0})");
  const auto id = rig.mail("Refused").write_id();
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "failed"; }, 10 * kMinute, 30'000));
  REQUIRE(rig.pass_time([&] { return text_at(rig.write(id), "/write/cleanup") == "done"; }, 10 * kMinute, 30'000));
  CHECK(rig.gmail().drafts(id) == 1);
  CHECK(rig.gmail().drafts_live(id) == 0);
}

TEST_CASE("a history that Gmail has forgotten is made good by comparing") {
  GmailDay rig;
  rig.gmail().act(R"({"action":"delete","id":")" + rig.news + "\"}");
  rig.gmail().act(R"({"action":"label","id":")" + rig.invoice + R"(","add":["STARRED"],"remove":["UNREAD"]})");
  const auto fresh = rig.deliver("New since then");
  rig.gmail().act(R"({"action":"expire_history"})");
  const auto gets = rig.gmail().calls("gmail.users.messages.get");
  REQUIRE(rig.pass_time([&] { return rig.is_true(); }, 30 * kMinute, 30'000));
  CHECK(rig.found("subject:\\\"new since then\\\"") == Ids{fresh});
  CHECK(rig.on("email.read", rig.news).error() == "MessageNotFound");
  // What was known is not fetched again.
  CHECK(rig.gmail().calls("gmail.users.messages.get") == gets + 1);
  rig.check_contract();
}

TEST_CASE("a mailbox is disconnected: what waits is cancelled, the grant ends, and a receipt says so") {
  GmailDay rig;
  const auto waiting = rig.mail("Too late");
  REQUIRE(rig.live_grants() == 1);
  const auto receipt = rig.operate({"disconnect", "gmail", "--yes"});
  INFO(text_of(receipt));
  CHECK(text_at(receipt, "/receipt/outcome") == "disconnected");
  CHECK(number_at(receipt, "/receipt/writes_by_state/cancelled") == 1);
  CHECK(rig.state(waiting.write_id()) == "cancelled");
  CHECK(rig.live_grants() == 0);
  CHECK(rig.invoke("email.search").error() == "NotConnected");
  CHECK(std::filesystem::is_empty(rig.data() / "replica/gmail"));
  rig.advance(10 * kMinute);
  CHECK(rig.gmail().effect("sends") == 0);
  rig.check_no_secret();
}

}  // namespace KRUXOS_TEST_FILE
