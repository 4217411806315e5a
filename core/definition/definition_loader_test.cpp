#include "core/definition/definition_loader.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/policy/definition_set.hpp"
#include "core/util/error.hpp"
#include "core/util/yaml_tree.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

const std::string kGood = R"(schema: 1
service: notes
display_name: Notes
description: Notes of a small service.
version: 1.2.3
adapter: {min_version: 0.1.0, below_version: 2.0.0}
api_base_url: https://notes.example/api/
hosts: [notes.example, "*.files.example.com", 127.0.0.1]
sync_interval: 2 min
rollback_retention: 3 d
call_timeout: 1.5 s
quota: [{match: "list*", per_minute: 20, burst: 5, per: folder}]
limits: [{operations: [notes.add], limit: 10, window: 1 h, per: title}]
on_exceed: reject
connect: {scopes: [read], token_pattern: "n-[a-z]+", help: Paste the token.}
capabilities:
  - name: notes.search
    kind: read
    tier: autonomous
    purpose: Search notes.
    when_to_use: To find notes.
    tags: [read]
    inputs:
      - {name: query, type: String, description: The text., default: ""}
      - {name: limit, type: Integer, description: How many., default: 20, minimum: 1, maximum: 100, aliases: [max_results]}
    outputs: [{name: notes, type: Array, description: The notes.}]
  - name: notes.add
    kind: write
    tier: notify
    purpose: Add a note.
    when_to_use: To keep something.
    delay: 5 min
    settle: 10 s
    undoable: true
    summary: "{title}"
    inputs: [{name: title, type: String, description: The title., required: true}, {name: body, type: String, description: The text.}]
    one_input_of: [[title, body]]
  - {name: notes.cancel, kind: cancel, tier: autonomous, purpose: Cancel., when_to_use: Before it happens.}
recovery:
  NotFound: [{action: search, description: Search again., capability: notes.search}]
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  try {
    parse_definition(text, "notes.yaml");
    return "accepted";
  } catch (const ConfigError& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a definition is read whole") {
  const auto d = parse_definition(kGood, "notes.yaml");
  CHECK(d.prefix == "notes");
  CHECK(d.sync_interval_ms == 120'000);
  CHECK(d.rollback_retention_ms == 3 * 24 * 3'600'000);
  CHECK(d.call_timeout_ms == 1500);
  CHECK(d.adapter_max_version == "2.0.0");
  CHECK_FALSE(d.escalate_on_exceed);
  REQUIRE(d.quota.size() == 1);
  CHECK(d.quota[0].key == "folder");
  REQUIRE(d.limits.size() == 1);
  CHECK(d.limits[0].window_ms == 3'600'000);
  REQUIRE(d.capabilities.size() == 3);
  const auto* search = d.find("notes.search");
  REQUIRE(search);
  CHECK(search->inputs[0].default_json == "\"\"");
  CHECK(search->inputs[1].default_json == "20");
  const auto* add = d.find("notes.add");
  REQUIRE(add);
  CHECK(add->delay_ms == 300'000);
  CHECK(add->when_absent == WhenAbsent::kAsk);
  CHECK(d.find("notes.cancel")->inputs.at(0).aliases == std::vector<std::string>{"buffer_id"});
  CHECK(d.recovery.at("NotFound").at(0).capability == "notes.search");
}

TEST_CASE("an operation that names no delay leaves it to the host") {
  CHECK_FALSE(parse_definition(with("    delay: 5 min\n", ""), "n").find("notes.add")->delay_ms);
  const auto immediate = parse_definition(with("delay: 5 min", "delay: immediate"), "n");
  CHECK(immediate.find("notes.add")->immediate);
  CHECK(immediate.find("notes.add")->delay_ms == 0);
}

TEST_CASE("a capability says what it gives, whom it may show it to, and what it takes away") {
  const auto d = parse_definition(
      with(
          "outputs: [{name: notes, type: Array, description: The notes.}]",
          "core: false\n    confidentiality: public\n    outputs: [{name: notes, type: Array, description: The notes., "
          "items: {type: Object, fields: [{name: id, type: String}, {name: at, type: DateTime, description: When.}, "
          "{name: marks, type: Array, items: {type: String}}]}}, {name: box, type: Object, description: B., fields: "
          "[{name: size, type: Integer}]}]"),
      "n");
  const auto* search = d.find("notes.search");
  CHECK_FALSE(search->core);
  CHECK(search->confidentiality == Confidentiality::kPublic);
  REQUIRE(search->outputs.size() == 2);
  const auto& item = search->outputs[0].items.at(0);
  CHECK(item.type == InputType::kObject);
  REQUIRE(item.fields.size() == 3);
  CHECK((item.fields[0].name == "id" && item.fields[0].description.empty()));
  CHECK((item.fields[1].type == InputType::kDateTime && item.fields[1].description == "When."));
  CHECK(item.fields[2].items.at(0).type == InputType::kString);
  CHECK(search->outputs[1].fields.at(0).name == "size");
  CHECK(content_outputs(*search).empty());

  const auto plain = parse_definition(kGood, "n");
  const auto* add = plain.find("notes.add");
  CHECK((add->destructive && add->core));
  CHECK_FALSE(
      parse_definition(with("    delay: 5 min\n", "    destructive: false\n"), "n").find("notes.add")->destructive);
}

TEST_CASE("an output may be content for a model") {
  const auto d = parse_definition(
      with("outputs: [{name: notes, type: Array, description: The notes.}]",
           "outputs: [{name: notes, type: Array, description: The notes.}, {name: face, type: Object, description: F., "
           "content: image}, {name: said, type: String, description: S., content: text}]"),
      "n");
  const auto content = content_outputs(*d.find("notes.search"));
  REQUIRE(content.size() == 2);
  CHECK((content[0].name == "face" && content[0].kind == ContentKind::kImage));
  CHECK((content[1].name == "said" && content[1].kind == ContentKind::kText));
}

TEST_CASE("a definition that does not fit is refused with its place and what is accepted") {
  struct Row {
    std::string from, to;
    const char* says;
  };
  const Row rows[] = {
      {"tier: notify", "teir: notify",
       "notes.yaml:29:5: capabilities[1]: the key \"teir\" is not known here (did you mean \"tier\"?)"},
      {"    summary:", "    ordered: true\n    summary:", "needs a target"},
      {"    summary:", "    recipients_are: texts\n    summary:", "none are named"},
      {"    summary:", "    recipients: [title]\n    recipients_are: numbers\n    summary:", "recipients_are"},
      {"    summary:", "    summary_records: [{name: a, collection: b, id: \"{none}\", words: \"{c}\"}]\n    summary:",
       "\"none\" is not an input"},
      {"    summary:", "    summary_records: [{name: a, collection: b, id: c, words: d}]\n    summary:",
       "no member of the record is named"},
      {"    summary:", "    summary_records: [{name: a, collection: b, id: c, words: \"{d e}\"}]\n    summary:",
       "names no member of a record"},
      {"    summary:", "    ordered: \"{a b}\"\n    summary:", "names no parameter"},
      {"    summary:", "    ordered: \"{thread\"\n    summary:", "has no }"},
      {"    summary:", "    ordered: thread\n    summary:", "true or false"},
      {"type: Array, description: The notes.", "type: Array, description: The notes., fields: []",
       "only for type Object"},
      {"type: Array, description: The notes.", "type: Object, description: O., items: {type: String}",
       "only for type Array"},
      {"type: Array, description: The notes.", "type: Array, description: A., items: {type: Array}",
       "cannot be an Array again"},
      {"type: Array, description: The notes.", "type: Array, description: A., items: {type: String, fields: []}",
       "only for type Object"},
      {"type: Array, description: The notes.", "type: Array", "\"description\" is missing"},
      {"type: Array, description: The notes.",
       "type: Object, description: O., fields: [{name: a, type: Object, fields: [{name: b, type: Object, fields: "
       "[{name: "
       "c, type: Object, fields: [{name: d, type: String}]}]}]}]",
       "at most 3 deep"},
      {"type: Array, description: The notes.",
       "type: Object, description: O., fields: [{name: a, type: String}, {name: a, type: String}]",
       "stands here twice"},
      {"type: Array, description: The notes.", "type: Array, description: N., content: image", "of type Object"},
      {"type: Array, description: The notes.", "type: Object, description: N., content: text", "of type String"},
      {"type: Array, description: The notes.", "type: Object, description: N., content: film", "audio"},
      {"type: Array, description: The notes.",
       "type: Object, description: N., fields: [{name: a, type: Object, content: image}]", "not a field of one"},
      {"    delay: 5 min\n", "    outputs: [{name: a, type: Object, description: A., content: image}]\n",
       "of kind read"},
      {"outputs: [{name: notes", "destructive: false\n    outputs: [{name: notes",
       "only for capabilities of kind write"},
      {"    delay: 5 min\n", "    confidentiality: public\n", "only for capabilities of kind read"},
      {"outputs: [{name: notes", "confidentiality: secret\n    outputs: [{name: notes", "private"},
      {"schema: 1", "schema: 2", "install a newer version"},
      {"schema: 1", "schema: \"1\"", "a whole number from 1"},
      {"service: notes", "service: Notes", "notes.yaml:2:10: service: \"Notes\" is not accepted"},
      {"service: notes\n", "", "the key \"service\" is missing"},
      {"service: notes", "service: notes\nprefix: proxy", "the host's own"},
      {"version: 1.2.3", "version: 1.2", "is not a version"},
      {"version: 1.2.3", "version: 1.2.x", "is not a version"},
      {"below_version: 2.0.0", "below_version: 0.1.0", "must be above"},
      {"https://notes.example/api/", "http://notes.example/api/", "use https"},
      {"https://notes.example/api/", "https://u:p@notes.example/api/", "user or password"},
      {"https://notes.example/api/", "https://notes.example/api", "must end with /"},
      {"https://notes.example/api/", "ftp://notes.example/", "only https"},
      {"https://notes.example/api/", "notes", "is not an address"},
      {"https://notes.example/api/", "https://notes.example/?a=/", "? and #"},
      {"[notes.example,", "[\"*\",", "asterisk"},
      {"[notes.example,", "[\"*.com\",", "at least two parts"},
      {"[notes.example,", "[\"a.*.com\",", "asterisk"},
      {"[notes.example,", "[\"https://notes.example\",", "is not a host name"},
      {"[notes.example,", "[Notes.example,", "is not a host name"},
      {"[notes.example,", "[10.0.0.1,", "is not a host name"},
      {"[notes.example,", "[notes.example, notes.example,", "twice"},
      {"sync_interval: 2 min", "sync_interval: 2", "is not a time span"},
      {"sync_interval: 2 min", "sync_interval: 2 minutes", "is not a time span"},
      {"sync_interval: 2 min", "sync_interval: -2 min", "is not a time span"},
      {"sync_interval: 2 min", "sync_interval: 1 ms", "is not from 1 s to 1 d"},
      {"per_minute: 20", "per_minute: 0", "is not from"},
      {"per_minute: 20", "per_minute: nan", "a number from"},
      {"limit: 10, window", "limit: 0, window", "is not from 1"},
      {"operations: [notes.add]", "operations: [notes.search]", "is not a write"},
      {"window: 1 h, per: title", "window: 1 h, per: colour", "has no input \"colour\""},
      {"on_exceed: reject", "on_exceed: rejected", "(did you mean \"reject\"?)"},
      {"n-[a-z]+", "n-[a-z", "ends too early"},
      {"n-[a-z]+", "n-([a-z]+)*", "brackets are counted"},
      {"name: notes.add\n", "name: note.add\n", "notes.<name> is expected"},
      {"name: notes.add\n", "name: notes.Add\n", "notes.<name> is expected"},
      {"name: notes.add\n", "name: notes.search\n", "defined for the second time"},
      {"kind: write", "kind: writes", "(did you mean \"write\"?)"},
      {"tier: notify", "tier: free", "is not one of autonomous, notify, approval_required, blocked"},
      {"purpose: Add a note.", "purpose: \"\"", "the text is empty"},
      {"purpose: Add a note.", "purpose: [a]", "a text is expected here, not a list"},
      {"delay: 5 min", "delay: soon", "is not a time span"},
      {"delay: 5 min", "fetches: true", "only for capabilities of kind read"},
      {"delay: 5 min", "asks: [form]", "only for capabilities of kind read"},
      {"delay: 5 min", "takes_long: true", "only for capabilities of kind read"},
      {"tags: [read]", "takes_long: true", "only for reads that ask their service (fetches: true)"},
      {"tags: [read]", "fetches: true\n    takes_long: often", "as_task"},
      {"tags: [read]", "asks: [password]", "nothing that can be asked: form, url, model, roots"},
      {"tags: [read]", "asks: form", "list"},
      {"tags: [read]", "delay: 5 min", "only for capabilities of kind write"},
      {"undoable: true", "undoable: yes", "true or false"},
      {"undoable: true", "when_absent: resend", "harmless_to_repeat"},
      {"undoable: true", "counts_as: [{input: title, holds: [x], capability: notes.search}]", "no other write"},
      {"undoable: true", "counts_as: [{input: title, holds: [x], capability: notes.add}]", "no other write"},
      {"undoable: true", "counts_as: [{input: colour, holds: [x], capability: notes.add}]", "colour"},
      {"undoable: true", "counts_as: [{input: title, holds: [], capability: notes.add}]", "list is empty"},
      {"tags: [read]", "counts_as: [{input: query, holds: [x], capability: notes.add}]",
       "only for capabilities of kind write"},
      {"type: Integer", "type: Integer, uploads: true", "only for type Array"},
      {"summary: \"{title}\"", "summary: \"{titel}\"", "(did you mean \"title\"?)"},
      {"summary: \"{title}\"", "summary: \"{title\"", "has no }"},
      {"type: Integer", "type: Int", "is not one of String, Integer"},
      {"default: 20", "default: \"20\"", "the default does not fit the input: must be a whole number"},
      {"default: 20", "default: 200", "must be from 1 to 100"},
      {"default: 20", "default: 20, required: true", "has no default"},
      {"default: \"\"", "default: 7", "must be a text"},
      {"minimum: 1,", "minimum: 101,", "the maximum is below"},
      {"default: 20,", "min_length: 3,", "only for type String or Array"},
      {"aliases: [max_results]", "aliases: [query]", "for the second time"},
      {"aliases: [max_results]", "aliases: [account]", "the host's own"},
      {"name: query", "name: \"que ry\"", "is no name for an input"},
      {"[[title, body]]", "[[title, bodi]]", "(did you mean \"body\"?)"},
      {"[[title, body]]", "[[title]]", "two inputs or more"},
      {"  NotFound:", "  not found:", "is not an error type"},
      {"capability: notes.search", "capability: notes.serach", "(did you mean \"notes.search\"?)"},
      {"version: 1.2.3", "version: 1.2.3\nversion: 1.2.4", "for the second time (first in line 5)"},
      {"description: Notes of", "description: &a Notes of", "anchors"},
      {"description: Notes of a small service.", "description: *a", "not valid YAML"},
      {"description: Notes of", "description: !!str Notes of", "tags"},
      {"service: notes", "service: notes\nschema: 1\n---\nservice: notes", "for the second time"},
      {"schema: 1", "? [a]\n: 1", "a key must be a name"},
  };
  for (const auto& row : rows) {
    INFO(row.to);
    const auto why = refusal(with(row.from, row.to));
    CHECK_THAT(why, Catch::StartsWith("notes.yaml:") && Catch::Contains(row.says));
  }
}

TEST_CASE("files that are no definition at all are refused") {
  CHECK_THAT(refusal(""), Catch::Contains("a mapping (key: value) is expected here, not nothing"));
  CHECK_THAT(refusal("- a\n- b\n"), Catch::Contains("not a list"));
  CHECK_THAT(refusal("a: [1, 2\nb: 3\n"), Catch::Contains("not valid YAML"));
  CHECK_THAT(refusal("a: \xff\xfe\n"), Catch::Contains("not UTF-8"));
  CHECK_THAT(refusal(std::string("a: \0b\n", 6)), Catch::Contains("control character"));
  CHECK_THAT(refusal(std::string((1 << 20) + 1, 'a')), Catch::Contains("at most"));
  CHECK_THAT(refusal("a: " + std::string(200'000, '[')), Catch::Contains("nested deeper"));
  CHECK_THAT(refusal(std::string(200'000, '?')), Catch::StartsWith("notes.yaml:"));
  CHECK_THAT(refusal("x: 1\n---\ny: 2\n"), Catch::Contains("second document"));
  std::string many = "a: [";
  for (int i = 0; i < 200'000; ++i) many += "1,";
  CHECK_THAT(refusal(many + "1]"), Catch::Contains("more than"));
  // Nine levels of nine aliases each.
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 9; ++i)
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + ",*a" +
            std::to_string(i - 1) + "]\n";
  CHECK_THAT(refusal(bomb), Catch::Contains("anchors"));
}

TEST_CASE("a file's problems have sentences") {
  CHECK_THROWS_WITH(load_definition("/nonexistent/notes.yaml"), "/nonexistent/notes.yaml: there is no such file.");
  CHECK_THROWS_WITH(load_definition("/"), Catch::Contains("not a regular file"));
}

TEST_CASE("mutated definitions are accepted or refused with a sentence, and nothing else") {
  std::mt19937 random(7);
  const std::string alphabet = "{}[]:,&*!|>'\"%@`#-? \n\t\xff\xc3\x00~<a1.";
  int accepted = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = kGood;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      const auto at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.insert(at, 1, alphabet[random() % alphabet.size()]);
          break;
        case 2:
          text.erase(at, 1 + random() % 20);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 60));
      }
    }
    const auto why = refusal(text);
    if (why == "accepted") {
      ++accepted;
    } else {
      ++refused;
      if (!(why.starts_with("notes.yaml:") && why.size() < 3000 && why.back() == '.')) FAIL(why);
    }
  }
  CHECK(accepted > 10);
  CHECK(refused > 1000);
}

TEST_CASE("a capability may have the prefix alone for its name") {
  auto text = with("- name: notes.search", "- name: notes");
  const std::string recovery = "capability: notes.search";
  text.replace(text.find(recovery), recovery.size(), "capability: notes");
  const auto named = parse_definition(text, "n");
  CHECK(named.capabilities[0].name == "notes");
  CHECK_THROWS_WITH(parse_definition(with("- name: notes.search", "- name: notes_search"), "n"),
                    Catch::Contains("or the prefix alone"));
}

TEST_CASE("an input says which header repeats it, and which values of the replica a client may offer") {
  const auto query = [](const std::string& more) {
    return parse_definition(with("description: The text., default: \"\"}", "description: The text." + more + "}"), "n")
        .capabilities[0]
        .inputs[0];
  };
  CHECK(query(", header: X-Region_1").header == "X-Region_1");
  CHECK(query(", values_from: {collection: notes, member: title}").values_from->member == "title");
  const std::pair<const char*, const char*> rows[] = {
      {", aliases: [text], header: A", "remove the header or the aliases"},
      {", header: \"a b\"", "no part of a header's name"},
      {", header: \"a:\"", "no part of a header's name"},
      {", header: \"\"", "header"},
      {", one_of: [a], values_from: {collection: notes, member: title}", "remove one of the two"},
      {", values_from: {collection: notes}", "member"},
      {", values_from: {collection: Notes, member: title}", "small letters"},
  };
  for (const auto& [more, why] : rows) CHECK_THROWS_WITH(query(more), Catch::Contains(why));
  const auto twice = with("maximum: 100, aliases: [max_results]}", "maximum: 100, header: REGION}");
  const auto at = twice.find("description: The text., default");
  auto both = twice;
  both.insert(at, "header: Region, ");
  CHECK_THROWS_WITH(parse_definition(both, "n"), Catch::Contains("another input too"));
  CHECK_THROWS_WITH(parse_definition(with("{name: notes, type: Array, description: The notes.}",
                                          "{name: notes, type: Array, description: The notes., header: A}"),
                                     "n"),
                    Catch::Contains("header"));
}

}  // namespace KRUXOS_TEST_FILE
