#include "core/capability/write_json.hpp"

#include "core/definition/forms.hpp"

#include <catch2/catch.hpp>

#include "core/capability/capability_handler.hpp"
#include "core/capability/errors.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

WriteRecord sample() {
  WriteRecord w;
  w.write_id = "w_1";
  w.operation = "notes.add";
  w.account = {"notes", "N1", 1};
  w.content_hash = "abc";
  w.buffer_until_ms = 1'700'000'030'000;
  w.created_at_ms = 1'700'000'000'000;
  w.params_json = R"({"title":"x"})";
  return w;
}

}  // namespace

TEST_CASE("a buffered write's result has all five names of it") {
  CHECK(buffered_json(sample(), false) ==
        R"({"write_id":"w_1","buffer_id":"w_1","status":"buffered","buffer_until":"2023-11-14T22:13:50.000Z",)"
        R"("scheduled_send":"2023-11-14T22:13:50.000Z","cancel_deadline":"2023-11-14T22:13:50.000Z",)"
        R"("content_hash":"abc"})");
  CHECK_THAT(buffered_json(sample(), true), Catch::Contains(R"("duplicate_of":"w_1")"));
}

TEST_CASE("a model is told each value of a write once, and nothing that is not there") {
  auto w = sample();
  CHECK(buffered_json(w, false, {}, WriteNames::kOne) ==
        R"({"write_id":"w_1","status":"buffered","cancel_deadline":"2023-11-14T22:13:50.000Z"})");
  w.state = WriteState::kCompleted;
  w.ended_at_ms = 1'700'000'031'000;
  for (const bool whole : {false, true}) {
    const auto json = parse_json(status_json(w, whole, {}, WriteNames::kOne), "status");
    for (const char* twin : {"buffer_id", "buffer_until", "scheduled_send", "waits_for_operator", "held_as_copy"})
      CHECK_FALSE(json.HasMember(twin));
    for (const char* absent : {"error", "result", "first_attempt_at", "next_attempt_at"})
      CHECK_FALSE(json.HasMember(absent));
    CHECK(find_string(json, "ended_at") == "2023-11-14T22:13:51.000Z");
    CHECK(json.HasMember("content_hash") == whole);
    CHECK(json.HasMember("arguments") == whole);
  }
}

TEST_CASE("a completed write's result is laid beside its status, which it cannot replace") {
  auto w = sample();
  w.result_json = R"({"status":"broken","write_id":"w_2","id":"n1","deep":{"a":[1]}})";
  CHECK(completed_json(w, false) == R"({"status":"ok","write_id":"w_1","id":"n1","deep":{"a":[1]}})");
  w.result_json.clear();
  CHECK(completed_json(w, false) == R"({"status":"ok","write_id":"w_1"})");
  // A model is told its state, by the same word as everywhere.
  w.state = WriteState::kCompleted;
  CHECK(completed_json(w, false, {}, WriteNames::kOne) == R"({"status":"completed","write_id":"w_1"})");
}

TEST_CASE("whoever asks for the same again is told which write answers, and a model what that means") {
  auto w = sample();
  w.state = WriteState::kCompleted;
  w.result_json = R"({"note":"n","duplicate_of":"x","undo_until":"never","recipients":1,"id":"n1"})";
  const std::string said =
      R"("duplicate_of":"w_1","note":"The same was asked for before: this is that write, and nothing more was begun.")";
  CHECK(completed_json(w, true, {}, WriteNames::kOne) ==
        R"({"status":"completed","write_id":"w_1",)" + said + R"(,"id":"n1"})");
  CHECK(completed_json(w, true) == R"({"status":"ok","write_id":"w_1","duplicate_of":"w_1","id":"n1"})");
  CHECK(completed_json(w, false, {}, WriteNames::kOne) == R"({"status":"completed","write_id":"w_1","id":"n1"})");
  w.result_json.clear();
  CHECK_THAT(buffered_json(w, true, {}, WriteNames::kOne), Catch::Contains(said));
  CHECK_THAT(buffered_json(w, false, {}, WriteNames::kOne), !Catch::Contains("note"));
  CHECK_THAT(buffered_json(w, true), !Catch::Contains("note"));
}

TEST_CASE("an undo says what it undoes, what becomes of that, and a model what to ask for") {
  auto undo = sample();
  undo.write_id = "rb_1";
  undo.rolls_back = "w_1";
  undo.immediate = true;
  undo.state = WriteState::kExecuting;
  CHECK_THAT(buffered_json(undo, false, {}, WriteNames::kOne),
             Catch::Contains(R"("undoes":"w_1","note":"w_1 is being undone. Ask for the status of rb_1, with )"
                             R"(wait_seconds, until it has ended: completed says that w_1 is rolled_back.")"));
  CHECK_THAT(buffered_json(undo, false), Catch::Contains(R"("undoes":"w_1")") && !Catch::Contains("note"));
  CHECK_THAT(status_json(undo, true), Catch::Contains(R"("undoes":"w_1")"));
  // Asked for once more: one note says both.
  CHECK_THAT(buffered_json(undo, true, {}, WriteNames::kOne),
             Catch::Contains("nothing more was begun. w_1 is being undone."));
  undo.state = WriteState::kCompleted;
  undo.result_json = R"({"status":"ok","undoes":"x"})";
  CHECK(completed_json(undo, false, {}, WriteNames::kOne) ==
        R"({"status":"completed","write_id":"rb_1","undoes":"w_1","note":"w_1 is undone: it is rolled_back now."})");
  CHECK(completed_json(undo, false) == R"({"status":"ok","write_id":"rb_1","undoes":"w_1"})");
}

TEST_CASE("a model that is shown a write's arguments is told of its recipients there alone") {
  auto w = sample();
  w.params_json = R"({"to":"a@b.test"})";
  const std::string recipients = R"({"to":"a@b.test"})";
  const auto whole = parse_json(status_json(w, true, recipients, WriteNames::kOne), "status");
  CHECK_FALSE(whole.HasMember("recipients"));
  CHECK(to_json(whole["arguments"]) == recipients);
  CHECK(to_json(parse_json(status_json(w, false, recipients, WriteNames::kOne), "status")["recipients"]) == recipients);
}

TEST_CASE("a write says until when it can be undone while it can") {
  auto w = sample();
  w.ended_at_ms = 1'700'000'031'000;
  w.rollback_ms = 86'400'000;
  w.point_json = "{}";
  w.result_json = R"({"id":"n1"})";
  const std::string until = R"("undo_until":"2023-11-15T22:13:51.000Z")";
  for (const auto names : {WriteNames::kAll, WriteNames::kOne}) {
    w.state = WriteState::kBuffered;
    CHECK_THAT(status_json(w, true, {}, names), !Catch::Contains("undo_until"));
    w.state = WriteState::kCompleted;
    CHECK_THAT(status_json(w, true, {}, names), Catch::Contains(until));
    CHECK_THAT(status_json(w, false, {}, names), Catch::Contains(until));
    CHECK_THAT(completed_json(w, false, {}, names), Catch::Contains(until));
    w.state = WriteState::kRolledBack;
    CHECK_THAT(status_json(w, true, {}, names), !Catch::Contains("undo_until"));
  }
  w.state = WriteState::kCompleted;
  w.point_json.clear();  // nothing that could be undone was noted
  CHECK_THAT(completed_json(w, false), !Catch::Contains("undo_until"));
}

TEST_CASE("a write's status is valid JSON in every state") {
  auto w = sample();
  w.error_type = ErrorCode::kWriteFailed;
  w.error_message = "\x1b[31mno";
  for (int state = 0; state <= static_cast<int>(WriteState::kDiscarded); ++state) {
    w.state = static_cast<WriteState>(state);
    const auto document = parse_json(status_json(w, true), "status");
    CHECK(to_json(document["status"]) == json_string(to_string(w.state)));
    CHECK(to_json(document["arguments"]["title"]) == json_string("x"));
    CHECK(std::string(document["error"]["message"].GetString()).find('\x1b') == std::string::npos);
  }
  CHECK_FALSE(parse_json(status_json(w, false), "status").HasMember("arguments"));
}

TEST_CASE("a record is named by its words with its id behind, and by its id where it has none") {
  const SummaryRecord mail{"mail", "messages", "{message_id}", "\"{subject}\" from {from}"};
  CHECK(record_in_words(mail.words, "m1", R"({"subject":"Plans","from":"Ada"})") == "\"Plans\" from Ada (m1)");
  CHECK(record_in_words(mail.words, "m1", R"({"subject":"Plans","from":7})") == "\"Plans\" from  (m1)");
  CHECK(record_in_words(mail.words, "m1", R"({"other":"x"})") == "m1");
  CHECK(record_in_words(mail.words, "m1", "") == "m1");
  const SummaryRecord listed{"mail", "messages", "{message_id}", "from {from.address}"};
  CHECK(record_in_words(listed.words, "m1", R"({"from":[{"name":"Ada","address":"a@b.test"},{"address":"c"}]})") ==
        "from a@b.test (m1)");
  for (const char* other : {R"({"from":[]})", R"({"from":"x"})", R"({"from":{"address":[]}})"})
    CHECK(record_in_words(listed.words, "m1", other) == "m1");
  const auto long_one = record_in_words(mail.words, "m1", R"({"subject":")" + std::string(500, 's') + "\"}");
  CHECK(long_one.size() < 120);
  CHECK(long_one.ends_with("(m1)"));
  CapabilityDefinition move;
  move.summary = "move {mail} to {room}";
  const auto params = parse_json(R"({"room":"R1","mail":"no"})", "params");
  CHECK(summary_of(move, params, {{"mail", "\"a\nb\" (m1)"}}).find('\n') == std::string::npos);
  CHECK(summary_of(move, params, {{"mail", "\"Plans\" (m1)"}}) == "move \"Plans\" (m1) to R1");
  CHECK(summary_of(move, params) == "move no to R1");
}

TEST_CASE("whom a write reaches is shown with it, whole, wherever it is shown") {
  ServiceDefinition definition;
  CapabilityDefinition mail;
  mail.name = "notes.add";
  mail.recipients = {"to", "cc", "bcc"};
  definition.capabilities = {mail};
  auto w = sample();
  CHECK(recipients_of(&definition, w).empty());
  CHECK(recipients_of(nullptr, w).empty());
  const std::string all(9'000, 'a');
  w.params_json = R"({"bcc":null,"cc":["c@d.test"],"to":")" + all + R"("})";
  const auto recipients = recipients_of(&definition, w);
  CHECK(recipients == R"({"to":")" + all + R"(","cc":["c@d.test"]})");
  for (const auto& json : {buffered_json(w, false, recipients), completed_json(w, false, recipients),
                           status_json(w, false, recipients), status_json(w, true, recipients)}) {
    CHECK(to_json(parse_json(json, "the answer", {64 << 20, 64})["recipients"]) == recipients);
  }
  w.state = WriteState::kPendingApproval;
  CHECK_THAT(error_json(to_error(w, 0, recipients), nullptr), Catch::Contains(recipients));
}

TEST_CASE("a write that waits for an approval waits for the operator") {
  auto w = sample();
  const auto waits = [&] { return to_json(parse_json(status_json(w, false), "status")["waits_for_operator"]); };
  CHECK(waits() == "false");
  w.state = WriteState::kPendingApproval;
  CHECK(waits() == "true");
  w.state = WriteState::kUnknown;
  w.escalated = true;
  CHECK(waits() == "true");
}

TEST_CASE("a summary is one line that is safe to print") {
  CapabilityDefinition c;
  c.summary = "#{channel}: {text}!";
  const auto line = [&](const std::string& params) { return summary_of(c, parse_json(params, "params")); };
  CHECK(line(R"({"channel":"general","text":"Hi"})") == "#general: Hi!");
  CHECK(line(R"({"channel":7})") == "#7: !");
  CHECK(line(R"({"channel":"a","text":"x\u001b[31m\ny\u202e"})") == "#a: x\\x1b[31m\\ny\\u202e!");
  const auto cut = line("{\"channel\":\"a\",\"text\":\"" + std::string(119, 'x') + "\xC3\xA4\xC3\xA4\"}");
  CHECK(cut == "#a: " + std::string(119, 'x') + "...!");
  c.summary.clear();
  CHECK(line(R"({"a":"x","b":[1]})") == "a: x, b: [1]");
}

TEST_CASE("what became of a write is told in the error of its state") {
  auto w = sample();
  w.state = WriteState::kUnknown;
  auto error = to_error(w, 0);
  CHECK(error.type() == ErrorCode::kOutcomeUnknown);
  CHECK_FALSE(error.retryable());
  CHECK_THAT(error.context_json(), Catch::Contains("\"write_id\":\"w_1\""));

  w.state = WriteState::kDeadLetter;
  w.due_at_ms = 70'000;
  error = to_error(w, 10'000);
  CHECK(error.type() == ErrorCode::kWriteFailed);
  CHECK(error.retryable());
  CHECK(error.retry_after_ms() == 60'000);
  CHECK_THAT(error.what(), Catch::Contains("tries w_1 again by itself"));
  w.escalated = true;
  CHECK_FALSE(to_error(w, 10'000).retryable());
  CHECK_THAT(to_error(w, 10'000).what(), Catch::StartsWith("It did not happen.") && Catch::Contains("takes it back"));
  w.irrevocable =
      true;  // an earlier attempt was sent again, and may have had its effect: it cannot be cancelled either
  CHECK_THAT(to_error(w, 10'000).what(), Catch::Contains("an earlier one may have happened") &&
                                             !Catch::Contains("It did not happen") &&
                                             !Catch::Contains("takes it back"));
  w.irrevocable = false;

  w.state = WriteState::kUnknown;
  CHECK_THAT(to_error(w, 10'000).what(), Catch::Contains("An operator was asked") && !Catch::Contains("looks for"));
  w.escalated = false;
  CHECK_THAT(to_error(w, 10'000).what(), Catch::Contains("The host looks for its effect"));

  w.state = WriteState::kPendingApproval;
  w.approval_reason = "It is asked for.";
  CHECK_THAT(to_error(w, 0).what(),
             Catch::StartsWith("It waits for a person's approval and has not been sent. It is") &&
                 Catch::Contains("takes it back"));
  w.irrevocable = true;
  CHECK_THAT(to_error(w, 0).what(), Catch::Contains("an earlier attempt may have happened. It is asked for.") &&
                                        !Catch::Contains("has not been sent") && !Catch::Contains("takes it back"));
  w.irrevocable = false;

  w.state = WriteState::kFailed;
  w.error_type = ErrorCode::kMessageNotFound;
  w.error_message = "There is no such note.";
  error = to_error(w, 0);
  CHECK(error.type() == ErrorCode::kMessageNotFound);
  CHECK_FALSE(error.retryable());
  w.error_type = ErrorType::named("not a type");
  CHECK(to_error(w, 0).type() == ErrorCode::kWriteFailed);
}

TEST_CASE("an adapter's failure becomes one of the documented errors") {
  struct Row {
    krux_status status;
    const char* type;
    bool retryable;
  };
  const Row rows[] = {
      {KRUX_AUTH, "NotConnected", false},
      {KRUX_RATE_LIMITED, "RateLimited", true},
      {KRUX_NETWORK, "ServiceUnavailable", true},
      {KRUX_REFUSED, "InvalidInput", false},
      {KRUX_INVALID, "InvalidInput", false},
      {KRUX_STORAGE, "DatabaseError", true},
      {KRUX_TIMEOUT, "Timeout", true},
      {KRUX_NOT_FOUND, "MessageNotFound", false},
      {KRUX_INTERNAL, "ServiceUnavailable", true},
      {KRUX_CONFLICT, "RollbackConflict", false},
      {KRUX_UNSUPPORTED, "OperationBlocked", false},
      {12345, "ServiceUnavailable", true},
  };
  for (const auto& row : rows) {
    const auto error = to_error(CallFailure{row.status, false, {}, "", std::nullopt}, "notes");
    CHECK(error.type().name() == row.type);
    CHECK(error.retryable() == row.retryable);
    CHECK(std::string(error.what()).size() > 10);
  }
  CHECK(
      to_error(CallFailure{KRUX_REFUSED, true, ErrorType::named("NoteLocked"), "It is locked.", std::nullopt}, "notes")
          .type()
          .name() == "NoteLocked");
  CHECK(to_error(CallFailure{KRUX_REFUSED, true, ErrorType::named("<b>"), "x", std::nullopt}, "notes").type() ==
        ErrorCode::kInvalidInput);
  const auto long_text = to_error(CallFailure{KRUX_REFUSED, true, {}, std::string(100'000, 'x'), std::nullopt}, "n");
  CHECK(std::string(long_text.what()).size() < 1100);
}

TEST_CASE("an error's JSON has its recovery, the definition's before the host's") {
  ServiceDefinition d;
  d.recovery["InvalidInput"] = {{"look", "Look first.", "notes.list"}};
  auto json = parse_json(error_json(invalid_input("Bad \"x\"."), &d), "error");
  CHECK(to_json(json["message"]) == json_string("Bad \"x\"."));
  CHECK(to_json(json["retryable"]) == "false");
  CHECK_FALSE(json.HasMember("retry_after"));
  CHECK(to_json(json["recovery"][0]["capability"]) == json_string("notes.list"));
  CHECK(json["context"].ObjectEmpty());
  json = parse_json(error_json(Error(ErrorCode::kRateLimited, "Slow.", true, 1500).with_context(R"({"a":1})"), &d),
                    "error");
  CHECK(to_json(json["retry_after"]) == "2");
  CHECK(to_json(json["recovery"][0]["action"]) == json_string("retry_later"));
  CHECK(to_json(json["context"]["a"]) == "1");
  json = parse_json(error_json(Error(ErrorType::named("Strange"), "\xff"), nullptr), "error");
  CHECK(json["recovery"].Empty());
}

}  // namespace KRUXOS_TEST_FILE
