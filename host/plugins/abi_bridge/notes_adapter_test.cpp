// examples/notes_adapter in the host, against a service of notes in memory.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/util/json.hpp"
#include "host/plugins/testdata/fakes.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using test::Bridge;
using test::failed;
using test::good;

namespace {

struct Note {
  std::string id, text, marker;
  std::string json() const {
    return R"({"id":)" + json_string(id) + R"(,"text":)" + json_string(text) + R"(,"marker":)" + json_string(marker) +
           R"(,"updated_ms":1000,"unknown":[1]})";
  }
};

/// Two notes a page.
struct NotesService {
  std::vector<Note> notes;
  int next_id = 1;
  int fail_with = 0;

  std::pair<int, std::string> answer(const HttpRequest& request) {
    if (fail_with != 0) return {fail_with, "{}"};
    const auto& url = request.url;
    if (url == "me") return {200, R"({"id":"u1","name":"Ann"})"};
    if (request.method == "POST") return create(request.body);
    if (url.starts_with("notes?marker="))
      return {200, list([&](const Note& note) { return note.marker == url.substr(13); })};
    if (url.starts_with("notes?")) return {200, page(url.substr(url.find("after=") + 6))};
    if (url == "token") return {204, ""};
    return one(request.method, url.substr(6));
  }

 private:
  std::pair<int, std::string> create(const std::string& body) {
    const auto params = parse_json(body, "body");
    notes.push_back({"n" + std::to_string(next_id++), std::string(*find_string(params, "text")),
                     std::string(*find_string(params, "marker"))});
    return {201, notes.back().json()};
  }
  template <class Fits>
  std::string list(Fits fits) const {
    std::string all;
    for (const auto& note : notes) {
      if (fits(note)) all += (all.empty() ? "" : ",") + note.json();
    }
    return "{\"notes\":[" + all + "]}";
  }
  std::string page(const std::string& after) const {
    std::string all, last;
    int count = 0;
    for (const auto& note : notes) {
      if (note.id <= after) continue;
      if (++count > 2) return "{\"notes\":[" + all + "],\"next\":\"" + last + "\"}";
      all += (all.empty() ? "" : ",") + note.json();
      last = note.id;
    }
    return "{\"notes\":[" + all + "]}";
  }
  std::pair<int, std::string> one(const std::string& method, const std::string& id) {
    for (auto note = notes.begin(); note != notes.end(); ++note) {
      if (note->id != id) continue;
      const auto json = note->json();
      if (method == "DELETE") notes.erase(note);
      return {method == "DELETE" ? 204 : 200, json};
    }
    return {404, "{}"};
  }
};

struct Notes {
  Bridge bridge{test::either()};
  NotesService service;
  std::shared_ptr<ServiceAdapter> adapter;
  Notes() {
    bridge.http->answer = [this](const HttpRequest& request) { return service.answer(request); };
    adapter = bridge.make("notes");
  }
  AdapterWrite write(const std::string& text) const {
    return {"w_1", "notes.create", "{\"text\":" + json_string(text) + "}", "", "{}", 1, 0, 0};
  }
};

}  // namespace

TEST_CASE("The notes adapter fits its definition") {
  // Of a copy: the checkout's modes are whatever its owner's umask made them.
  const support::Scratch copy;
  support::copy_safe(std::string(KRUXOS_NOTES_DEFINITIONS) + "/notes.yaml", copy.path() / "notes.yaml");
  const auto definition = load_definition(copy.path() / "notes.yaml");
  CHECK(definition.service == "notes");
  CHECK(definition.find("notes.create"));
  const DefinitionSet set{copy.path()};
  const DefinitionSetIndex index(set);
  const auto report = inspect_plugin(test::registry().find("notes")->file, test::options(&index));
  CHECK(report.first_failure() == "");
  std::string why;
  CHECK(index.find("nothing", why) == nullptr);
  CHECK_THAT(why, Catch::Contains("nothing.yaml"));
  std::filesystem::permissions(copy.path(), std::filesystem::perms(0777));
  const DefinitionSet open{copy.path()};
  CHECK(DefinitionSetIndex(open).find("notes", why) == nullptr);
  CHECK_THAT(why, Catch::Contains("chmod go-w"));
}

TEST_CASE("The notes adapter syncs page by page, and sweeps what is gone") {
  Notes notes;
  notes.service.notes = {{"a1", "one", ""}, {"a2", "two", ""}, {"a3", "three", ""}};
  const auto& session = notes.bridge.session;
  CHECK(good(notes.adapter->ask<"full_sync">(notes.bridge.call(), session)).next == SyncStep::Next::kMore);
  CHECK(session->committed.size() == 2);
  CHECK_THAT(session->cursor("pass").value_or(""), Catch::Contains(R"("after":"a2")"));
  const auto generation = session->committed.front().generation;
  CHECK(good(notes.adapter->ask<"full_sync">(notes.bridge.call(), session)).next == SyncStep::Next::kDone);
  CHECK(session->committed.size() == 3);
  CHECK(session->sweeps == std::vector<std::string>{fmt::format("notes  {}", generation)});
  CHECK(good(notes.adapter->ask<"incremental_sync">(notes.bridge.call(), session, 5)).next == SyncStep::Next::kMore);
  CHECK(session->committed[0].json == R"({"id":"a1","text":"one","marker":"","updated_ms":1000})");
  CHECK_THAT(session->cursor("pass").value_or(""), Catch::Contains(R"("after":"a2")"));
  // Above all before, also where the host has taken the cursors away.
  CHECK(session->committed.front().generation >= generation);
}

TEST_CASE("The notes adapter reads from the replica alone") {
  Notes notes;
  notes.bridge.reader->rows = {{"a1", R"({"id":"a1"})"}};
  CHECK(good(notes.adapter->ask<"read">(notes.bridge.call(), notes.bridge.reader, "notes.read",
                                        R"({"note_id":"a1"})")) == R"({"note":{"id":"a1"}})");
  CHECK(failed(notes.adapter->ask<"read">(notes.bridge.call(), notes.bridge.reader, "notes.read", R"({"note_id":"x"})"))
            .type.name() == "NoteNotFound");
  CHECK(good(notes.adapter->ask<"read">(notes.bridge.call(), notes.bridge.reader, "notes.search",
                                        R"({"query":"a","limit":20,"offset":0})")) ==
        R"({"notes":[{"id":"a1"}],"total":1})");
  REQUIRE(notes.bridge.reader->last.where.children.size() == 1);
  CHECK(notes.bridge.reader->last.where.children[0].text == "a");
  CHECK(notes.bridge.http->requests().empty());
}

TEST_CASE("The notes adapter writes with a marker, and finds by it what may have happened") {
  Notes notes;
  CHECK_THAT(good(notes.adapter->ask<"execute_write">(notes.bridge.call("w_1"), notes.write("hi \"you\""))),
             Catch::Contains("\"marker\":\"w_1\""));
  CHECK(notes.service.notes.at(0).text == "hi \"you\"");
  CHECK(good(notes.adapter->ask<"find_effect">(notes.bridge.call(), notes.write("hi"))).answer ==
        EffectFound::Answer::kFound);
  notes.service.notes.clear();
  CHECK(good(notes.adapter->ask<"find_effect">(notes.bridge.call(), notes.write("hi"))).answer ==
        EffectFound::Answer::kAbsent);
}

TEST_CASE("The notes adapter tells what was refused from what may have happened") {
  Notes notes;
  const auto failure = [&](int status) {
    notes.service.fail_with = status;
    return failed(notes.adapter->ask<"execute_write">(notes.bridge.call("w_1"), notes.write("x")));
  };
  CHECK((failure(400).status == KRUX_REFUSED && failure(400).effect_none));
  CHECK((failure(401).status == KRUX_AUTH && failure(401).effect_none));
  CHECK((failure(429).status == KRUX_RATE_LIMITED && failure(429).effect_none));
  CHECK((failure(503).status == KRUX_UNAVAILABLE && !failure(503).effect_none));
}

TEST_CASE("The notes adapter undoes what nobody has changed") {
  Notes notes;
  CHECK(good(notes.adapter->ask<"supports_rollback">(notes.bridge.call(), "notes.create")));
  RollbackRequest request{"rb_1", "notes.create", "{}", "{}", "", false};
  request.result_json = good(notes.adapter->ask<"execute_write">(notes.bridge.call("w_1"), notes.write("first")));
  notes.service.notes.at(0).text = "changed";
  CHECK(failed(notes.adapter->ask<"rollback">(notes.bridge.call(), request)).status == KRUX_CONFLICT);
  CHECK(good(notes.adapter->ask<"find_rollback">(notes.bridge.call(), request)).answer == EffectFound::Answer::kAbsent);
  notes.service.notes.at(0).text = "first";
  CHECK(good(notes.adapter->ask<"rollback">(notes.bridge.call(), request)) == R"({"deleted":true})");
  CHECK(notes.service.notes.empty());
  CHECK(good(notes.adapter->ask<"find_rollback">(notes.bridge.call(), request)).answer == EffectFound::Answer::kFound);
}

TEST_CASE("The notes adapter knows its account") {
  Notes notes;
  const auto identity = good(notes.adapter->ask<"verify">(notes.bridge.call()));
  CHECK(identity.account_id == "u1");
  CHECK(identity.display_name == "Ann");
  CHECK_FALSE(identity.scopes_known);
  CHECK(good(notes.adapter->ask<"revoke">(notes.bridge.call())));
}

}  // namespace KRUXOS_TEST_FILE
