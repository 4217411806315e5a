#include "host/web/web_page.hpp"

#include "host/web/page_text.hpp"
#include "host/web/web_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace web_test;

namespace {

const std::string kHostile =
    "</pre><script>alert(1)</script>\" onload=\"x\x1b[31m \xe2\x80\xae"
    "evil\xe2\x80\xac \xe2\x80\x8b&amp;";

}  // namespace

TEST_CASE("a page loads nothing of others, is kept by nobody, and stands in no frame") {
  WebFixture f;
  f.begin();
  for (const auto& path : {std::string("/"), f.base, f.on(), std::string("/nothing")}) {
    INFO(path);
    const auto answer = f.get(path);
    const auto& policy = answer.headers.at("Content-Security-Policy");
    CHECK_THAT(policy, Catch::StartsWith("default-src 'none';") && Catch::Contains("frame-ancestors 'none'") &&
                           Catch::Contains("base-uri 'none'") && Catch::Contains("form-action 'self'") &&
                           !Catch::Contains("unsafe"));
    CHECK(answer.headers.at("Cache-Control") == "no-store");
    CHECK(answer.headers.at("Referrer-Policy") == "same-origin");
    CHECK(answer.headers.at("X-Content-Type-Options") == "nosniff");
    CHECK_THAT(answer.body, !Catch::Contains("style=") && !Catch::Contains(" onclick") && !Catch::Contains("<script>"));
    CHECK_THAT(answer.body, Catch::Contains("<html lang=\"en\">") && Catch::Contains("name=\"viewport\"") &&
                                Catch::Contains("<main>") && Catch::Contains("<h1>"));
  }
  const auto script = f.get("/page.js");
  CHECK(script.headers.at("Content-Type") == "text/javascript; charset=utf-8");
  CHECK(script.body.size() < 30'000);
  CHECK(f.get("/page.css").headers.at("Content-Type") == "text/css; charset=utf-8");
  CHECK(f.get("/../etc/passwd").status == 404);
}

TEST_CASE("the list shows what waits first, in words") {
  WebFixture f;
  f.begin();
  CHECK_THAT(f.get(f.base).body, Catch::Contains("Nothing waits."));
  f.api.answers["writes person"] = list_json();
  f.api.answers["writes buffered,held,executing"] = list_json("buffered");
  const auto page = f.get(f.base).body;
  CHECK_THAT(page, Catch::Contains("Waiting for your approval <span class=\"count\">(1)</span>") &&
                       Catch::Contains("#general: Hello</a>") && Catch::Contains("Reaches to: ann@a.example") &&
                       Catch::Contains("tell the team") && Catch::Contains("assistant"));
  CHECK(page.find("Waiting for your approval") < page.find("Going out by themselves"));
  f.api.answers["approval_figures"] =
      R"({"approvals":{"accepted":93,"rejected":7,"last_hour":12,"at_once":60,"median_ms":4000}})";
  CHECK_THAT(f.get(f.base).body, Catch::Contains("93 of 100 accepted, 4 s from asking"));
  f.api.errors.emplace("writes", database_error("The disk is full."));
  const auto failed = f.get(f.base);
  CHECK(failed.status == 503);
  CHECK_THAT(failed.body, Catch::Contains("The disk is full."));
}

TEST_CASE("one write is shown whole, with who asked, why it waits and when it goes out") {
  WebFixture f;
  f.begin();
  f.api.answers["write"] = write_json(
      "pending_approval",
      R"(,"edits":[{"edited_at_ms":1699999990000,"who":"agent:a","from":{"text":"Hi"},)"
      R"("to":{"text":"Hello"}}],"history":[],"rules":[{"rule":"unknown","because":["Eve was never written to."]}],)"
      R"("reach":["It names 3 addresses."])");
  const auto page = f.get(f.on()).body;
  for (const auto* part : {"<h1>#general: Hello</h1>",
                           "waits for your approval",
                           "<pre dir=\"auto\">C1</pre>",
                           "#general",
                           "ann@a.example",
                           "The tier asks.",
                           "It names 3 addresses.",
                           "Eve was never written to.",
                           "assistant",
                           "morning",
                           "tell the team",
                           "30 s after you accept it",
                           "<del>",
                           "Hi</del>",
                           "Hello</ins>",
                           "1 min ago",
                           "id=\"accept\"",
                           "id=\"reject\"",
                           "name=\"p.text\"",
                           "data-hash=\"aaaa\""})
    CHECK_THAT(page, Catch::Contains(part));
  f.api.answers["write"] = write_json("completed", R"(,"rollback_until_ms":1700000060000)");
  CHECK_THAT(f.get(f.on()).body, Catch::Contains("id=\"rollback\"") && !Catch::Contains("id=\"accept\""));
  f.api.answers["write"] = write_json("unknown", R"(,"needs_operator":true)");
  CHECK_THAT(f.get(f.on()).body, Catch::Contains("id=\"happened\"") && Catch::Contains("id=\"resend\""));
  f.api.answers["write"] = write_json("pending_approval", R"(,"held_as_copy":true)");
  CHECK_THAT(f.get(f.on()).body, Catch::Contains("kruxos held") && !Catch::Contains("id=\"accept\""));
  f.api.errors.emplace("write", not_found("There is no write."));
  CHECK(f.get(f.on()).status == 404);
  CHECK(f.get(f.base + "writes/none").status == 404);
}

TEST_CASE("texts of agents and services are shown harmless on the page, and bounded") {
  WebFixture f;
  f.begin();
  const auto hostile = json_string(kHostile);
  f.api.answers["write"] =
      R"({"write":{"write_id":")" + kId + R"(","state":"pending_approval","content_hash":"aaaa","agent":)" + hostile +
      R"(,"summary":)" + hostile + R"(,"approval_reason":)" + hostile + R"(,"rules":[{"rule":)" + hostile +
      R"(,"because":[)" + hostile + "]}]" + R"(,"reach":[)" + hostile + R"(],"session":{"name":)" + hostile +
      R"(,"purpose":)" + hostile + R"(},"recipients":{"to":[)" + hostile + R"(]},"params":{)" + hostile + ":" +
      hostile + R"(},"params_shown":{},"error":{"type":"X","message":)" + hostile +
      R"(},"history":[{"kind":"decision","who":)" + hostile + R"(,"message":)" + hostile + R"(,"outcome":)" + hostile +
      R"(}],"edits":[{"who":)" + hostile + R"(,"from":{},"to":{"a":)" + hostile + "}}]}}";
  const auto one = f.get(f.on()).body;
  const auto row = f.api.answers["write"];
  f.api.answers["writes"] = R"({"writes":[)" + row.substr(9, row.size() - 10) + "]}";
  // The form that edits it holds the text as it is, escaped: what is not touched must come back unchanged.
  const auto form = one.find("<details id=\"edit\">"), behind = one.find("</details>", form);
  REQUIRE(form != std::string::npos);
  for (const auto& page : {one.substr(0, form) + one.substr(behind), f.get(f.base).body}) {
    CHECK_THAT(page, !Catch::Contains("<script>alert") && !Catch::Contains("</pre><script") &&
                         !Catch::Contains("\" onload") && !Catch::Contains("\x1b") &&
                         !Catch::Contains("\xe2\x80\xae") && Catch::Contains("&lt;script&gt;") &&
                         Catch::Contains("\\x1b[31m"));
  }
  CHECK_THAT(one.substr(form, behind - form), !Catch::Contains("<script>") && !Catch::Contains("\" onload"));

  // Not shown whole: nothing to accept, by saving what was not touched neither.
  f.api.answers["write"] = write_json("pending_approval", {}, R"({"text":")" + std::string(8'000, 'x') + "\"}");
  const auto short_page = f.get(f.on()).body;
  CHECK_THAT(short_page, Catch::Contains("id=\"edit\"") && !Catch::Contains("id=\"accept\"") &&
                             !Catch::Contains("Save and accept") && Catch::Contains("Show all of it"));
  CHECK_THAT(f.get(f.on() + "?whole=1").body, Catch::Contains("Save and accept"));
  f.api.answers["write"] = write_json("pending_approval", {}, R"({"text":")" + std::string(200'000, 'x') + "\"}");
  const auto cut = f.get(f.on()).body;
  CHECK(cut.size() < 40'000);
  CHECK_THAT(cut, Catch::Contains("Show all of it") && !Catch::Contains("id=\"accept\"") &&
                      Catch::Contains("id=\"reject\"") && !Catch::Contains("id=\"edit\""));
  const auto whole = f.get(f.on() + "?whole=1").body;
  CHECK(whole.size() > 200'000);
  CHECK_THAT(whole, Catch::Contains("id=\"accept\""));
  f.api.answers["write"] = write_json("pending_approval", {}, R"({"text":")" + std::string(3'000'000, 'x') + "\"}");
  const auto still = f.get(f.on() + "?whole=1").body;
  CHECK(still.size() < 700'000);
  CHECK_THAT(still, !Catch::Contains("id=\"accept\"") && Catch::Contains("kruxos approve show"));
}

TEST_CASE("a text is cut between characters, never within one") {
  bool cut = false;
  CHECK(web::shown("aé", 2, &cut) == "a…");
  CHECK(cut);
  CHECK(web::shown_lines("a\nb", 10) == "a\nb");
  CHECK(web::shown("a\nb") == "a\\nb");
}

TEST_CASE("an open page hears that writes have changed, until it is signed out") {
  WebFixture f;
  f.begin();
  RawClient listening(f.port);
  listening.send(f.get_text(f.base + "events"));
  const auto head = listening.receive(true);
  CHECK(head.status == 200);
  CHECK(head.headers.at("Content-Type") == "text/event-stream");
  const auto chunk = [&] {
    std::string line;
    while (!line.ends_with("\r\n")) line += listening.receive_bytes(1);
    const auto size = std::stoul(line, nullptr, 16);
    auto bytes = listening.receive_bytes(size);
    listening.receive_bytes(2);
    return bytes;
  };
  CHECK(chunk() == "retry: 3000\n\n");
  f.web->on_write_changed()(WriteRecord());
  CHECK(chunk() == "event: changed\ndata: 1\n\n");
  // However many change: once in half a second.
  for (int i = 0; i < 100; ++i) f.web->on_write_changed()(WriteRecord());
  while (f.clock.waiters() == 0) std::this_thread::yield();
  f.clock.advance(500);
  CHECK(chunk() == "event: changed\ndata: 1\n\n");
  f.post(f.base + "end", "token=" + f.token);
  f.web->on_write_changed()(WriteRecord());
  while (f.clock.waiters() == 0) std::this_thread::yield();
  f.clock.advance(500);
  CHECK(chunk().empty());
  CHECK(f.get(f.base + "events").status == 303);
}

}  // namespace KRUXOS_TEST_FILE
