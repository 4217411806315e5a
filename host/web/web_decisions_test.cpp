#include "host/web/web_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace web_test;
using Asked = std::vector<std::string>;

namespace {

const std::string kWho = " operator:me";

}  // namespace

TEST_CASE("decisions on the page name what was shown, and say who decides") {
  WebFixture f;
  f.begin();
  const auto reaches = [&](const std::string& action, const std::string& more, const std::string& asked) {
    INFO(action);
    const auto answer = f.decide(action, more);
    CHECK(answer.status == 303);
    CHECK(answer.headers.at("Location") == f.base + "?done=" + kId);
    CHECK(f.api.asked().back() == asked);
  };
  const std::string shown = "&content_hash=aaaa&state=pending_approval";
  reaches("accept", shown, "accept_write " + kId + " aaaa" + kWho);
  reaches("reject", shown + "&reason=not+now%21", "reject_write " + kId + " not now!" + kWho);
  reaches("reject", shown, "reject_write " + kId + " " + kWho);
  reaches("cancel", "&content_hash=aaaa&state=buffered", "cancel_write " + kId + kWho);
  reaches("rollback", "&state=completed", "rollback_write " + kId + kWho);
  reaches("rollback", "&state=completed&force=1", "rollback_write " + kId + " force" + kWho);
  reaches("resend", "&state=unknown", "decide_outcome " + kId + " operator_resend unknown" + kWho);
  reaches("discard", "&state=dead_letter", "decide_outcome " + kId + " operator_discard dead_letter" + kWho);
  reaches("happened", "&state=unknown", "decide_outcome " + kId + " operator_happened unknown" + kWho);
  for (const auto& [action, more] :
       {std::pair("accept", ""), std::pair("resend", "&state=odd"), std::pair("edit", "")}) {
    CHECK(f.decide(action, more).status == 409);
    CHECK(f.api.asked().back() == "write " + kId);
  }
  CHECK(f.decide("anything").status == 404);
  CHECK(f.post(f.base + "writes/none/accept", "token=" + f.token).status == 404);
  f.api.answers["write"] = write_json("buffered");
  CHECK_THAT(f.get(f.base + "?done=" + kId).body,
             Catch::Contains("role=\"status\"") && Catch::Contains("goes out by itself"));
}

TEST_CASE("the like is approved where the page offers it, and ended from the list") {
  WebFixture f;
  f.begin();
  CHECK_THAT(f.get(f.base + "writes/" + kId).body, !Catch::Contains("name=\"like\""));
  f.api.answers["write"] = write_json("pending_approval", R"(,"like":{"reaches":["<C1>"]})");
  CHECK_THAT(f.get(f.base + "writes/" + kId).body,
             Catch::Contains("name=\"like\"") && Catch::Contains("to &lt;C1&gt;"));
  CHECK(f.decide("accept", "&content_hash=aaaa&state=pending_approval&like=3600").status == 303);
  CHECK(f.api.asked().back() == "accept_write " + kId + " aaaa like 3600 s 20" + kWho);
  for (const auto* odd : {"0", "x", "86401", "99999999999999999999", "60x"}) {
    INFO(odd);
    CHECK(f.decide("accept", std::string("&content_hash=aaaa&state=pending_approval&like=") + odd).status != 303);
  }
  f.api.answers["standing_approvals"] =
      R"({"standing_approvals":[{"standing_id":"sa_1","agent":"assistant","operation":"chat.send","reaches":["<C1>"],)"
      R"("used":3,"most":20,"until_ms":1700000060000,"granted_by":"operator:ann"}]})";
  CHECK_THAT(f.get(f.base).body, Catch::Contains("Approved beforehand") && Catch::Contains("&lt;C1&gt;") &&
                                     Catch::Contains("3 of 20") && Catch::Contains("standing/sa_1/end"));
  CHECK(f.post(f.base + "standing/sa_1/end", "token=wrong").status != 303);
  CHECK(f.post(f.base + "standing/sa_1/end", "token=" + f.token).status == 303);
  CHECK(f.api.asked().back() == "end_standing_approval sa_1" + kWho);
}

TEST_CASE("what changed meanwhile is to be looked at again, and what was decided meanwhile is an answer") {
  WebFixture f;
  f.begin();
  f.api.errors.emplace("accept_write", conflict("The write is not what was shown any more."));
  auto changed = write_json();
  changed.replace(changed.find("aaaa"), 4, "bbbb");
  f.api.answers["write"] = changed;
  const auto other = f.decide("accept");
  CHECK(other.status == 409);
  CHECK_THAT(other.body, Catch::Contains("This has changed meanwhile") && Catch::Contains("role=\"alert\"") &&
                             Catch::Contains("value=\"bbbb\""));

  f.api.answers["write"] = write_json(
      "buffered",
      R"(,"history":[{"kind":"decision","outcome":"edit","who":"operator:ann","started_at_ms":1699999970000},)"
      R"({"kind":"decision","outcome":"accept","who":"operator:bob","started_at_ms":1699999980000}])");
  const auto decided = f.decide("accept");
  CHECK(decided.status == 200);
  CHECK_THAT(decided.body, Catch::Contains("Already decided: accepted by operator:bob, 20 s ago (at 22:13:00 UTC)") &&
                               Catch::Contains("role=\"status\"") && !Catch::Contains("id=\"accept\""));
  // What else stands against it is said as it is.
  f.api.answers["write"] = write_json();
  const auto gone = f.decide("accept");
  CHECK_THAT(gone.body, Catch::Contains("not what was shown any more"));
  f.api.errors.clear();
  f.api.errors.emplace("rollback_write", Error(ErrorCode::kRollbackConflict, "Somebody has changed it since."));
  f.api.answers["write"] = write_json("completed");
  CHECK_THAT(f.decide("rollback", "&state=completed").body, Catch::Contains("Somebody has changed it since."));
}

TEST_CASE("an edit on the page sends what was changed alone, and accepts what came of it") {
  WebFixture f;
  f.begin();
  f.api.answers["write"] =
      write_json("pending_approval", {}, R"({"channel":"C1","text":"Hello\r\nyou\n","to":["a"],"empty":""})");
  f.api.answers["edit_write"] = R"({"write":{"content_hash":"cccc"}})";
  const std::string shown = "&content_hash=aaaa&state=pending_approval";
  const std::string rest = "&p.channel=C1&p.to=%5B%22a%22%5D&p.empty=";
  const auto edit = [&](const std::string& more) { return f.decide("edit", shown + more); };
  CHECK(edit(rest + "&p.text=Hello%0D%0Ayou%0D%0A!&then=accept").status == 303);
  CHECK(f.api.asked() == Asked{"write " + kId, "edit_write " + kId + R"( aaaa {"text":"Hello\nyou\n!"})" + kWho,
                               "accept_write " + kId + " cccc" + kWho});
  CHECK(edit("&p.channel=C2&p.to=%5B%22b%22%5D&p.empty=&p.text=Hello%0D%0Ayou%0D%0A&then=keep").status == 303);
  CHECK(f.api.asked() == Asked{"write " + kId, "edit_write " + kId + R"( aaaa {"channel":"C2","to":["b"]})" + kWho});
  // Nothing changed: what was shown is accepted, or there is nothing to do.
  CHECK(edit(rest + "&p.text=Hello%0D%0Ayou%0D%0A&then=accept").status == 303);
  CHECK(f.api.asked() == Asked{"write " + kId, "accept_write " + kId + " aaaa" + kWho});
  CHECK_THAT(edit(rest + "&p.text=Hello%0D%0Ayou%0D%0A").body, Catch::Contains("The edit changes nothing."));
  CHECK_THAT(edit("&p.channel=C1&p.to=%5Bodd&p.empty=&p.text=Hello%0D%0Ayou%0D%0A").body,
             Catch::Contains("to must be JSON"));
  f.api.asked();
  // It was edited meanwhile: no edit upon another content.
  CHECK(f.decide("edit", "&content_hash=0000&state=pending_approval" + rest + "&p.text=x&then=accept").status == 409);
  CHECK(f.api.asked() == Asked{"write " + kId, "write " + kId});
  // Between edit and acceptance somebody edits it once more.
  f.api.errors.emplace("accept_write", conflict("The write is not what was shown any more."));
  auto changed = write_json();
  changed.replace(changed.find("aaaa"), 4, "dddd");
  CHECK(edit(rest + "&p.text=y&then=accept").status == 409);
}

TEST_CASE("an edit that counts as its editor's acceptance is not accepted once more") {
  WebFixture f;
  f.begin();
  f.api.answers["write"] = write_json("pending_approval", {}, R"({"text":"Hello"})");
  f.api.answers["edit_write"] =
      R"({"write":{"content_hash":"cccc","approvals":{"needed":2,"given":[{"who":"operator:me","accepted_at_ms":1}]}}})";
  CHECK(f.decide("edit", "&content_hash=aaaa&state=pending_approval&p.text=x&then=accept").status == 303);
  CHECK(f.api.asked() == Asked{"write " + kId, "edit_write " + kId + R"( aaaa {"text":"x"})" + kWho});
}

TEST_CASE("a write for two says who has accepted it, and who else is needed") {
  WebFixture f;
  const auto two = [](const std::string& given) { return R"(,"approvals":{"needed":2,"given":[)" + given + "]}"; };
  const std::string ann = R"({"who":"operator:<ann>","accepted_at_ms":1})";
  f.api.answers["write"] = write_json("pending_approval", two(""));
  f.begin();
  CHECK_THAT(f.get(f.on()).body, Catch::Contains("2 people must accept it, and nobody has yet."));
  f.api.answers["write"] = write_json("pending_approval", two(ann));
  CHECK_THAT(f.get(f.on()).body, Catch::Contains("Accepted by &lt;ann&gt;; one more person is needed."));
  CHECK_THAT(f.get(f.base + "?done=" + kId).body, Catch::Contains("waits for your approval. Accepted by &lt;ann&gt;"));
  const auto one = write_json("pending_approval", two(ann));
  f.api.answers["writes person"] = R"({"writes":[)" + one.substr(9, one.size() - 10) + "]}";
  CHECK_THAT(f.get(f.base).body, Catch::Contains("waits for your approval (1 of 2)"));
  // The same person again.
  f.api.errors.emplace("accept_write", Error(ErrorCode::kConflictError, "You (operator:me) have accepted it already."));
  const auto again = f.decide("accept");
  CHECK(again.status == 409);
  CHECK_THAT(again.body, Catch::Contains("have accepted it already"));
}

}  // namespace KRUXOS_TEST_FILE
