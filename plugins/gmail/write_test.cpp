// Sending mail, and looking whether it was sent: what is lost where, and what is done about it.
#include <catch2/catch.hpp>

#include "test_support/writing.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using namespace gmail;

namespace {

FakeAnswer refusal(int status, const std::string& reason, const std::string& message = "no") {
  return FakeAnswer::json(status, R"({"error":{"code":)" + std::to_string(status) + R"(,"message":")" + message +
                                      R"(","errors":[{"domain":"usageLimits","reason":")" + reason + R"("}]}})");
}

}  // namespace

TEST_CASE("a mail goes out once, with its id and its mark") {
  Desk desk;
  desk.rig.gmail.state.behaviour.message_id = "replace_invalid";
  Written write;
  write.params =
      R"({"to":"Bob <bob@example.com>","cc":"c@example.com","bcc":"d@example.com","subject":"Grüße","body":"ü",
                     "body_html":"<p>ü</p>","from":"me","attachments":[{"filename":"a.txt","mime_type":"text/plain",
                     "upload_id":"up_1","size":1500000}]})";
  desk.rig.host.uploads["up_1"] = std::string(1'499'997, 'x') + "end";
  const auto result = parse(desk.execute(write));
  CHECK(desk.effects().sends == 1);
  CHECK(desk.effects().drafts_created == 1);
  CHECK(desk.rig.mailbox().drafts().empty());
  std::string raw;
  const auto mail = mail_of(desk, std::string(text_of(result, "message_id")), raw);
  CHECK_FALSE(text_of(result, "thread_id").empty());
  CHECK(mail.content().subject == "Grüße");
  CHECK(shown(mail.content().from) == kOwn);
  CHECK(shown(mail.content().to) == "Bob <bob@example.com>");
  CHECK(mail.content().message_id == "w_1.kruxos@example.com");
  CHECK(mail.header(kWriteIdHeader) == "w_1");
  REQUIRE(mail.content().attachments.size() == 1);
  CHECK(mail.content().attachments[0].filename == "a.txt");
  CHECK(mail.content().attachments[0].size == 1'500'000);
  std::string bytes;
  mail.write_part(mail.content().attachments[0].part_id, [&](std::string_view piece) {
    bytes += piece;
    return true;
  });
  CHECK(bytes == desk.rig.host.uploads["up_1"]);
}

TEST_CASE("attachments that are no uploads, or too many bytes, are refused before anything is asked of Gmail") {
  const auto refused_with = [](const std::string& attachments) {
    Desk desk;
    Written write;
    write.params = R"({"to":"bob@example.com","subject":"s","attachments":)" + attachments + "}";
    const auto error = failure(desk, write);
    CHECK(error.kind() == ErrorKind::kInvalid);
    CHECK(desk.rig.host.requests.empty());
    return std::string(error.what());
  };
  CHECK_THAT(refused_with("7"), Catch::Contains("no list of uploads"));
  CHECK_THAT(refused_with(R"(["up_1"])"), Catch::Contains("Each attachment is an upload"));
  const std::string large = R"([{"upload_id":"up_1","filename":"a","mime_type":"","size":19500000}])";
  CHECK_THAT(refused_with(large), Catch::Contains("25 MB"));
}

TEST_CASE("a mail of 25 MB goes out whole, and one byte more is refused before anything is asked of Gmail") {
  Desk desk;
  std::string bytes;
  for (std::size_t i = 0; i < kMostMessageBytes / 78 * 57; ++i) bytes += static_cast<char>(i * 31 >> 5);
  const auto params_of = [](std::size_t size) {
    return R"({"to":"bob@example.com","subject":"s","attachments":[{"upload_id":"up_1","filename":"a.bin","mime_type":"",)"
           R"("size":)" +
           std::to_string(size) + "}]}";
  };
  Written write;
  write.params = params_of(bytes.size());
  CHECK_THAT(failure(desk, write).what(), Catch::Contains("25 MB"));
  CHECK(desk.rig.host.requests.empty());
  bytes.resize(bytes.size() - 2000);
  desk.rig.host.uploads["up_1"] = bytes;
  Written fits;
  fits.params = params_of(bytes.size());
  const auto sent = id_in(desk.execute(fits));
  const auto& request = desk.rig.host.requests.front();
  CHECK(request.url == "upload/gmail/v1/users/me/drafts?uploadType=multipart");
  CHECK(request.body.size() > kMostMessageBytes - 4096);
  std::string raw;
  const auto mail = mail_of(desk, sent, raw);
  REQUIRE(mail.content().attachments.size() == 1);
  std::string back;
  mail.write_part(mail.content().attachments[0].part_id, [&](std::string_view piece) {
    back += piece;
    return true;
  });
  CHECK((back == bytes));
}

TEST_CASE("an upload that is not as long as it was is not sent, and the next attempt is free to") {
  Desk desk;
  Written write;
  write.params =
      R"({"to":"b@example.com","attachments":[{"upload_id":"up_1","filename":"a","mime_type":"","size":70000}]})";
  for (const std::size_t real : {0, 69'999, 70'001}) {
    desk.rig.host.uploads["up_1"] = std::string(real, 'x');
    CHECK(failure(desk, write).kind() == ErrorKind::kStorage);
    CHECK(desk.effects().drafts_created == 0);
    CHECK(desk.find(write).answer == KRUX_EFFECT_DISPROVED);
  }
  desk.rig.host.uploads["up_1"] = std::string(70'000, 'x');
  desk.execute(write);
  CHECK(desk.effects().sends == 1);
}

TEST_CASE("a forwarded mail's own boundaries end no upload") {
  Desk desk;
  // As long as it takes to go along as it is, with what the upload's boundary could be.
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += "--=_upload_w_1\r\n--=_upload_w_1--\r\n\r\n";
    for (int line = 0; line < 1'000; ++line) text += std::string(70, 'x') + "\r\n";
  }
  const emu::Content content("From: eve@example.com\r\nTo: agent@example.com\r\nSubject: trick\r\n\r\n" + text);
  const auto original =
      WritingRig::hex_of(desk.rig.mailbox().add({content, desk.rig.host.clock.now_ms, {}, {"INBOX"}, {}}).id);
  Written write;
  write.operation = "email.forward";
  write.params = ObjectWriter().text("message_id", original).text("to", "c@example.com").done();
  std::string raw;
  const auto mail = mail_of(desk, id_in(desk.execute(write)), raw);
  REQUIRE(mail.content().attachments.size() == 1);
  std::string whole;
  mail.write_part(mail.content().attachments[0].part_id, [&](std::string_view piece) {
    whole += piece;
    return true;
  });
  whole.erase(std::remove(whole.begin(), whole.end(), '\r'), whole.end());
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  CHECK(whole.find("Subject: trick") != std::string::npos);
  CHECK((whole.find(text) != std::string::npos));
}

TEST_CASE("the certainty of every answer to the draft's creation") {
  struct Row {
    FakeAnswer answer;
    ErrorKind kind;
    bool no_effect;
  };
  const std::vector<Row> rows = {
      {refusal(400, "invalidArgument"), ErrorKind::kInvalid, true},
      {refusal(401, "authError"), ErrorKind::kAuth, true},
      {refusal(403, "rateLimitExceeded"), ErrorKind::kRateLimited, true},
      {refusal(403, "userRateLimitExceeded"), ErrorKind::kRateLimited, true},
      {refusal(403, "quotaExceeded"), ErrorKind::kRateLimited, true},
      {refusal(403, "dailyLimitExceeded"), ErrorKind::kRateLimited, true},
      {refusal(403, "insufficientPermissions"), ErrorKind::kAuth, true},
      {refusal(403, "forbidden"), ErrorKind::kRefused, true},
      {refusal(413, "uploadTooLarge"), ErrorKind::kInvalid, true},
      {FakeAnswer::rate_limited(7), ErrorKind::kRateLimited, true},
      {FakeAnswer::failed(ErrorKind::kRateLimited), ErrorKind::kRateLimited, true},
      {refusal(500, "backendError"), ErrorKind::kUnavailable, false},
      {FakeAnswer::json(503, ""), ErrorKind::kUnavailable, false},
      {FakeAnswer::json(200, "{\"id\":"), ErrorKind::kUnavailable, false},
      {FakeAnswer::json(200, "{}"), ErrorKind::kUnavailable, false},
      {FakeAnswer::dropped(), ErrorKind::kNetwork, false},
  };
  for (const auto& row : rows) {
    INFO(row.answer.status << " " << row.answer.body);
    for (const auto* part : {"gmail/v1/users/me/drafts", "drafts/send"}) {
      Desk desk;
      Written write;
      desk.answer(part, row.answer);
      const auto error = failure(desk, write);
      CHECK(error.kind() == row.kind);
      CHECK(error.has_no_effect() == row.no_effect);
      CHECK(desk.effects().sends == 0);
      // Whatever it was, nothing was sent, and the next attempt sends one mail from one draft.
      desk.rig.host.clock.advance(60'000);
      CHECK(desk.find(write).answer == KRUX_EFFECT_DISPROVED);
      desk.execute(write);
      CHECK(desk.effects().sends == 1);
      CHECK(desk.effects().drafts_created == 1);
      CHECK(desk.rig.mailbox().drafts().empty());
    }
  }
}

TEST_CASE("a draft whose answer was lost is found and sent, not made again") {
  Desk desk;
  Written write;
  desk.lose_answer("gmail/v1/users/me/drafts");
  CHECK_FALSE(failure(desk, write).has_no_effect());
  CHECK(desk.effects().drafts_created == 1);
  CHECK(write.note.empty());
  CHECK(desk.find(write).answer == KRUX_EFFECT_DISPROVED);
  desk.execute(write);
  CHECK(desk.effects().drafts_created == 1);
  CHECK(desk.effects().sends == 1);
  CHECK(desk.rig.mailbox().drafts().empty());
}

TEST_CASE("a mail whose answer was lost is found, however Gmail has named it") {
  Desk desk;
  desk.rig.gmail.state.behaviour.message_id = GENERATE("replace_invalid", "replace_all");
  Written write;
  desk.lose_answer("drafts/send");
  CHECK_FALSE(failure(desk, write).has_no_effect());
  CHECK(desk.effects().sends == 1);
  desk.rig.host.clock.advance(60'000);
  const auto found = desk.find(write);
  REQUIRE(found.answer == KRUX_EFFECT_FOUND);
  std::string raw;
  CHECK(mail_of(desk, id_in(found.result_json), raw).header(kWriteIdHeader) == "w_1");
  // Asked to do it again all the same, it sees that it is done.
  CHECK(desk.execute(write) == found.result_json);
  CHECK(desk.effects().sends == 1);
}

TEST_CASE("a mail that was sent and trashed is found all the same, and one of another write is not taken for it") {
  Desk desk;
  desk.rig.gmail.state.behaviour.message_id = GENERATE("replace_invalid", "replace_all");
  Written other;
  other.write_id = "w_2";
  desk.execute(other);
  Written write;
  desk.lose_answer("drafts/send");
  failure(desk, write);
  const auto sent = id_in(desk.find(write).result_json);
  desk.rig.modify(sent, {"TRASH"}, {});
  CHECK(id_in(desk.find(write).result_json) == sent);
  desk.rig.erase(sent);
  CHECK(desk.find(write).answer == KRUX_EFFECT_ABSENT);
}

TEST_CASE("a mail that was sent and erased is not sent from another draft") {
  Desk desk;
  Written write;
  desk.lose_answer("drafts/send");
  failure(desk, write);
  desk.rig.erase(id_in(desk.find(write).result_json));
  REQUIRE(desk.find(write).answer == KRUX_EFFECT_ABSENT);
  const auto error = failure(desk, write);
  CHECK(error.kind() == ErrorKind::kRefused);
  CHECK(error.has_no_effect());
  CHECK(desk.effects().sends == 1);
  CHECK(desk.effects().drafts_created == 1);
}

TEST_CASE("what a person has done with a draft that Gmail would not send yet is not undone by the next attempt") {
  Desk desk;
  Written write;
  const auto first = GENERATE(refusal(403, "rateLimitExceeded"), FakeAnswer::rate_limited(7),
                              refusal(500, "backendError"), FakeAnswer::dropped());
  desk.answer("drafts/send", first);
  failure(desk, write);
  REQUIRE(desk.rig.mailbox().drafts().size() == 1);
  const auto draft_id = desk.rig.mailbox().drafts().begin()->first;
  const auto edit = [&] {
    const emu::Content content("From: agent@example.com\r\nTo: other@example.com\r\nSubject: mine now\r\n\r\nx\r\n");
    desk.rig.mailbox().replace_draft(draft_id, {content, desk.rig.host.clock.now_ms, {}, {}, {}});
  };
  const auto by_hand = [&](const std::string& method, const std::string& url, const std::string& body) {
    kruxos::testing::FakeRequest request;
    request.method = method;
    request.url = "gmail/v1/users/me/" + url;
    request.body = body;
    if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
    desk.rig.host.on_request(request);
  };
  int sent = 0;
  SECTION("deleted") {
    by_hand("DELETE", "drafts/" + draft_id, "");
  }
  SECTION("edited and sent") {
    edit();
    by_hand("POST", "drafts/send", ObjectWriter().text("id", draft_id).done());
    sent = 1;
  }
  SECTION("edited and deleted") {
    edit();
    by_hand("DELETE", "drafts/" + draft_id, "");
  }
  SECTION("sent as it was") {
    by_hand("POST", "drafts/send", ObjectWriter().text("id", draft_id).done());
    REQUIRE(desk.effects().sends == 1);
    desk.rig.host.clock.advance(60'000);
    const auto result = desk.execute(write);
    CHECK(result == desk.find(write).result_json);
    CHECK(desk.effects().sends == 1);
    CHECK(desk.effects().drafts_created == 1);
    return;
  }
  REQUIRE(desk.rig.mailbox().drafts().empty());
  REQUIRE(desk.effects().sends == sent);
  desk.rig.host.clock.advance(60'000);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto error = failure(desk, write);
    CHECK(error.kind() == ErrorKind::kRefused);
    CHECK(error.has_no_effect());
    CHECK_THAT(error.what(), Catch::Contains("send the mail anew"));
    CHECK(desk.effects().sends == sent);
    CHECK(desk.effects().drafts_created == 1);
    CHECK(desk.rig.mailbox().drafts().empty());
  }
}

TEST_CASE("a look that is not complete cannot tell") {
  Desk desk;
  desk.rig.gmail.state.behaviour.message_id = "replace_all";
  Written write;
  desk.lose_answer("drafts/send");
  failure(desk, write);
  desk.rig.erase(id_in(desk.find(write).result_json));
  for (int i = 0; i < 320; ++i) desk.rig.arrive("later", {"SENT"});
  const auto found = desk.find(write);
  CHECK(found.answer == KRUX_CANNOT_TELL);
  CHECK_THAT(found.why, Catch::Contains("More than 300 mails"));
  desk.rig.override_answer = [](const kruxos::testing::FakeRequest&) { return FakeAnswer::json(500, ""); };
  CHECK_THROWS_AS(desk.find(write), kruxos::ProxyError);
}

TEST_CASE("a draft that a person has changed is not sent") {
  Desk desk;
  Written write;
  desk.answer("drafts/send", refusal(500, "backendError"));
  failure(desk, write);
  REQUIRE(desk.rig.mailbox().drafts().size() == 1);
  const auto draft_id = desk.rig.mailbox().drafts().begin()->first;
  desk.rig.mailbox().replace_draft(
      draft_id,
      {emu::Content("To: bob@example.com\r\nSubject: mine now\r\n\r\nx\r\n"), desk.rig.host.clock.now_ms, {}, {}, {}});
  CHECK(desk.find(write).answer == KRUX_EFFECT_DISPROVED);
  const auto error = failure(desk, write);
  CHECK(error.kind() == ErrorKind::kRefused);
  CHECK(error.has_no_effect());
  CHECK(desk.effects().sends == 0);
  CHECK(desk.rig.mailbox().drafts().size() == 1);
}

TEST_CASE("a draft that is gone when it is to be sent leaves the outcome open") {
  Desk desk;
  Written write;
  desk.answer("drafts/send", refusal(404, "notFound"));
  CHECK_FALSE(failure(desk, write).has_no_effect());
}

TEST_CASE("a draft is made once, and undone unless it was changed or sent") {
  Desk desk;
  Written write;
  write.operation = "email.draft";
  const bool lost = GENERATE(false, true);
  std::string result;
  if (lost) {
    desk.lose_answer("gmail/v1/users/me/drafts");
    failure(desk, write);
    const auto found = desk.find(write);
    REQUIRE(found.answer == KRUX_EFFECT_FOUND);
    result = desk.execute(write);
    CHECK(result == found.result_json);
  } else {
    CHECK(desk.find(write).answer == KRUX_EFFECT_ABSENT);
    result = desk.execute(write);
  }
  CHECK(desk.effects().drafts_created == 1);
  const auto draft_id = std::string(text_of(parse(result), "draft_id"));
  CHECK(text_of(parse(result), "to") == "bob@example.com");
  CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_ABSENT);
  SECTION("undone") {
    desk.undo(write, result);
    CHECK(desk.rig.mailbox().drafts().empty());
    CHECK(desk.find_undo(write, result).answer == KRUX_EFFECT_FOUND);
    CHECK_THROWS_AS(desk.undo(write, result), kruxos::ProxyError);
    CHECK_NOTHROW(desk.undo(write, result, true));
  }
  SECTION("changed") {
    desk.rig.mailbox().replace_draft(draft_id,
                                     {emu::Content("Subject: mine\r\n\r\nx\r\n"), 1'700'000'000'000, {}, {}, {}});
    CHECK_THROWS_AS(desk.undo(write, result), kruxos::ProxyError);
    CHECK(desk.rig.mailbox().drafts().size() == 1);
    desk.undo(write, result, true);
    CHECK(desk.rig.mailbox().drafts().empty());
  }
}

TEST_CASE("what cannot be a mail is refused before anything is sent") {
  Desk desk;
  for (const auto* params : {R"({"to":"nobody"})", R"({"to":"a@example.com\r\nBcc: b@example.com"})", R"({"to":""})",
                             R"({"to":"a@example.com","from":"a@b.example, c@d.example","body":"x"})",
                             R"x({"to":"a@example.com","subject":"(no subject)"})x", "[]", "{"}) {
    CAPTURE(params);
    Written write;
    write.params = params;
    const auto error = failure(desk, write);
    CHECK(error.kind() == ErrorKind::kInvalid);
    CHECK(error.has_no_effect());
  }
  Written write;
  write.operation = "email.unheard";
  CHECK(failure(desk, write).kind() == ErrorKind::kRefused);
  CHECK(desk.rig.host.requests.empty());
}

TEST_CASE("what the attempts of a mail have left is taken away, and nothing else") {
  Desk desk;
  Written other, write;
  other.write_id = "w_2";
  desk.answer("drafts/send", refusal(429, "rateLimitExceeded"));
  failure(desk, other);
  const auto drafts = [&] { return desk.rig.mailbox().drafts().size(); };
  REQUIRE(drafts() == 1);
  SECTION("a draft that is noted") {
    desk.answer("drafts/send", refusal(429, "rateLimitExceeded"));
    failure(desk, write);
    CHECK_FALSE(write.note.empty());
    CHECK(drafts() == 2);
    desk.clean_up(write);
    CHECK(drafts() == 1);
    desk.clean_up(write);  // it is gone already
    CHECK(drafts() == 1);
  }
  SECTION("one whose answer was lost") {
    desk.lose_answer("upload/gmail/v1/users/me/drafts");
    failure(desk, write);
    CHECK(write.note.empty());
    CHECK(drafts() == 2);
    desk.clean_up(write);
    CHECK(drafts() == 1);
  }
  SECTION("none was made") {
    desk.answer("upload/gmail/v1/users/me/drafts", refusal(429, "rateLimitExceeded"));
    failure(desk, write);
    desk.clean_up(write);
    CHECK(drafts() == 1);
  }
  SECTION("one that somebody has changed stays") {
    desk.answer("drafts/send", refusal(429, "rateLimitExceeded"));
    failure(desk, write);
    write.note = R"({"draft_id":")" + std::string(text_of(parse(write.note), "draft_id")) + R"(","message_id":"0"})";
    CHECK_THROWS_WITH(desk.clean_up(write), Catch::Contains("was changed in the mailbox"));
    CHECK(drafts() == 2);
  }
}

}  // namespace KRUXOS_TEST_FILE
