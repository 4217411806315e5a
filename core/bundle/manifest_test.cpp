#include "core/bundle/manifest.hpp"

#include <catch2/catch.hpp>

#include "core/bundle/placeholders.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "support/safe_file.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using Catch::Contains;

namespace {

const std::string kPlain = R"(manifest: 1
service: notes
version: 1.2.3
abi: 1
library: libnotes.so
definition: notes.yaml
hosts: [api.notes.example]
)";

const std::string kConformance = R"(conformance:
  fake_service: [python3, fake.py, --port, "{port}", --token, "{token}"]
  ready: http://127.0.0.1:{port}/health
  api_base_url: http://127.0.0.1:{port}/
)";

/// What is said of the manifest; empty when it is accepted.
std::string refusal(const std::string& text) {
  try {
    parse_manifest(text, "m.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

}  // namespace

TEST_CASE("A manifest says which files and hosts belong to an adapter") {
  const auto manifest =
      parse_manifest(kPlain + "policy: notes.policy.yaml\nhashes: {libnotes.so: " + sha256_hex("x") + "}\n", "m.yaml");
  CHECK(manifest.service == "notes");
  CHECK(manifest.version == "1.2.3");
  CHECK(manifest.abi == 1);
  CHECK(manifest.library == "libnotes.so");
  CHECK(manifest.definition == "notes.yaml");
  CHECK(manifest.policy == "notes.policy.yaml");
  CHECK(manifest.hosts == std::vector<std::string>{"api.notes.example"});
  CHECK(manifest.hashes.at("libnotes.so") == sha256_hex("x"));
  CHECK_FALSE(manifest.conformance);
}

TEST_CASE("A manifest says how the adapter is tried out") {
  const auto manifest = parse_manifest(kPlain + kConformance + R"(  token: note-{random}
  account: A1
  config: {page_size: 2}
  prepare: [{path: /seed, body: {notes: 3}}]
  changes: [{method: DELETE, path: /notes/1}]
  expire_cursors: POST /expire
  reads: {notes.read: {note_id: n1}}
  writes:
    notes.create:
      params: {text: "hello {n}", tags: [a, 1]}
      before: [POST /reset]
      effects: {request: GET /notes, at: /notes}
      state: {request: GET /notes}
      change: [{method: PATCH, path: "/notes/{result.id}", body: {text: "{params.text}!"}}]
      find: cannot_tell
)",
                                       "m.yaml");
  REQUIRE(manifest.conformance);
  const auto& kit = *manifest.conformance;
  CHECK(kit.fake_service.size() == 6);
  CHECK(kit.token == "note-{random}");
  CHECK(kit.account == "A1");
  CHECK(kit.config_json == R"({"page_size":2})");
  CHECK(kit.prepare.at(0).method == "POST");
  CHECK(kit.prepare.at(0).body_json == R"({"notes":3})");
  CHECK(kit.changes.at(0).method == "DELETE");
  CHECK(kit.expire_cursors->path == "/expire");
  CHECK(kit.reads.at("notes.read") == R"({"note_id":"n1"})");
  const auto* write = kit.find("notes.create");
  REQUIRE(write);
  CHECK(write->params_json == R"({"text":"hello {n}","tags":["a",1]})");
  CHECK(write->effects->pointer == "/notes");
  CHECK(write->state->pointer.empty());
  CHECK(write->change.at(0).path == "/notes/{result.id}");
  CHECK_FALSE(write->can_find);
  CHECK(kit.find("notes.delete") == nullptr);
}

TEST_CASE("What a manifest does not hold is refused with its place") {
  CHECK_THAT(refusal(kPlain + "libary: x\n"), Contains("m.yaml:8:1") && Contains("did you mean \"library\""));
  CHECK_THAT(refusal(replaced(kPlain, "manifest: 1", "manifest: 2")), Contains("m.yaml:1") && Contains("newer"));
  CHECK_THAT(refusal(replaced(kPlain, "manifest: 1\n", "")), Contains("\"manifest\" is missing"));
  CHECK_THAT(refusal(replaced(kPlain, "service: notes", "service: No-tes")), Contains("m.yaml:2"));
  for (const auto* version : {"1", "1.2", "1.2.3.4", "1.2.x", "1..3", "1.2.", "-1.2.3", "1234567.0.0"}) {
    CHECK_THAT(refusal(replaced(kPlain, "1.2.3", version)), Contains("m.yaml:3"));
  }
  CHECK_THAT(refusal(replaced(kPlain, "abi: 1", "abi: one")), Contains("m.yaml:4"));
  for (const auto* name : {"../libnotes.so", "/libnotes.so", "a/b.so", "a\\b.so", "..", "notes.txt", ".so", "-x.so"}) {
    CHECK_THAT(refusal(replaced(kPlain, "libnotes.so", name)), Contains("m.yaml:5"));
  }
  CHECK_THAT(refusal(replaced(kPlain, "notes.yaml", "other.yaml")), Contains("must be notes.yaml"));
  CHECK_THAT(refusal(replaced(kPlain, "[api.notes.example]", "[]")), Contains("m.yaml:7"));
  CHECK_THAT(refusal(replaced(kPlain, "[api.notes.example]", "[API/notes]")), Contains("m.yaml:7"));
  CHECK_THAT(refusal(kPlain + "hashes: {libnotes.so: ABC}\n"), Contains("m.yaml:8") && Contains("SHA-256"));
  CHECK_THAT(refusal(kPlain + "hashes: {../x: " + sha256_hex("x") + "}\n"), Contains("not the name of a file"));
  CHECK_THAT(refusal("- 1\n"), Contains("m.yaml:1"));
  CHECK_THAT(refusal(""), Contains("m.yaml"));
}

TEST_CASE("What the kit could not use is refused with its place") {
  const auto with = [](const std::string& lines) { return refusal(kPlain + kConformance + lines); };
  CHECK(with("") == "");
  CHECK_THAT(with("  reddy: x\n"), Contains("m.yaml:12:3") && Contains("ready"));
  CHECK_THAT(refusal(kPlain + "conformance: {ready: x}\n"), Contains("fake_service"));
  CHECK_THAT(refusal(kPlain + replaced(kConformance, "http://127.0.0.1:{port}/\n", "https://notes.example:{port}/\n")),
             Contains("m.yaml:11") && Contains("127.0.0.1"));
  CHECK_THAT(refusal(kPlain + replaced(kConformance, "127.0.0.1:{port}/\n", "127.0.0.1:{port}/v1\n")),
             Contains("m.yaml:11"));
  CHECK_THAT(refusal(kPlain + replaced(kConformance, "{port}/health", "80/health")), Contains("no {port}"));
  CHECK_THAT(refusal(kPlain + replaced(kConformance, "\"{token}\"", "\"{tokn}\"")), Contains("{tokn}"));
  CHECK_THAT(with("  token: \"a b\"\n"), Contains("m.yaml:12"));
  CHECK_THAT(with("  token: \"{n}\"\n"), Contains("{random}"));
  CHECK_THAT(with("  changes: [notes]\n"), Contains("m.yaml:12"));
  CHECK_THAT(with("  changes: [FETCH /notes]\n"), Contains("FETCH"));
  CHECK_THAT(with("  changes: [GET notes]\n"), Contains("starts with one '/'"));
  CHECK_THAT(with("  changes: [GET //other.example/notes]\n"), Contains("starts with one '/'"));
  CHECK_THAT(with("  changes: [{path: \"/notes/{who}\"}]\n"), Contains("{who}"));
  CHECK_THAT(with("  changes: [{path: /x, body: {a: \"{nn}\"}}]\n"), Contains("{nn}"));
  CHECK_THAT(with("  reads: {notes.read: [1]}\n"), Contains("a mapping"));
  CHECK_THAT(with("  writes: {notes.create: {effects: {request: GET /n, at: notes}}}\n"), Contains("JSON pointer"));
  CHECK_THAT(with("  writes: {notes.create: {find: maybe}}\n"), Contains("exact, cannot_tell"));
}

TEST_CASE("No bytes make the manifest's parser do anything but accept or refuse") {
  const auto whole = kPlain + kConformance;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'\0', '\xff', '{', '"', '\n', ':', '-'}) {
      auto text = whole;
      text[i] = c;
      refusal(text);
    }
    refusal(whole.substr(0, i));
  }
}

TEST_CASE("A bundle's files are there and have the hashes that are given") {
  const support::Scratch scratch;
  const auto file = [&](const char* name) { return scratch.path() / name; };
  support::write_safe(file("libnotes.so"), "library");
  support::write_safe(file("notes.yaml"), "definition");
  const auto write = [&](const std::string& more) { support::write_safe(file("manifest.yaml"), kPlain + more); };
  write("hashes: {libnotes.so: " + sha256_hex("library") + "}\n");
  CHECK(load_manifest(scratch.path()).file == load_manifest(file("manifest.yaml")).file);
  CHECK(bundle_file_hash(load_manifest(scratch.path()), "notes.yaml") == sha256_hex("definition"));
  write("hashes: {notes.yaml: " + sha256_hex("another") + "}\n");
  CHECK_THROWS_WITH(load_manifest(scratch.path()), Contains("notes.yaml has the SHA-256"));
  write("policy: notes.policy.yaml\n");
  CHECK_THROWS_WITH(load_manifest(scratch.path()), Contains("notes.policy.yaml is missing"));
  write("");
  std::filesystem::remove(file("libnotes.so"));
  std::filesystem::create_symlink(file("notes.yaml"), file("libnotes.so"));
  CHECK_THROWS_WITH(load_manifest(scratch.path()), Contains("no regular file"));
  CHECK_THROWS_AS(load_manifest(file("nowhere")), ConfigError);
}

TEST_CASE("The definition is the one that the manifest speaks of") {
  ServiceDefinition definition;
  definition.service = "notes";
  definition.api_base_url = "https://api.notes.example/v1/";
  auto manifest = parse_manifest(kPlain, "m.yaml");
  CHECK(why_not_definition(manifest, definition) == "");
  definition.hosts = {"files.notes.example"};
  CHECK_THAT(why_not_definition(manifest, definition), Contains("files.notes.example"));
  manifest.hosts = {"api.notes.example", "files.notes.example", "other.example"};
  CHECK_THAT(why_not_definition(manifest, definition), Contains("other.example"));
  definition.service = "other";
  CHECK_THAT(why_not_definition(manifest, definition), Contains("other"));
}

TEST_CASE("Placeholders are names between braces, and nothing else is") {
  CHECK(placeholders_in("a {port}/{result.id} {not one} {} {{n}} {x") ==
        std::vector<std::string>{"port", "result.id", "n"});
  const auto fill = [](std::string_view name) { return name == "n" ? std::optional<std::string>("7") : std::nullopt; };
  CHECK(fill_placeholders("{\"a\":\"{n}\",\"b\":{\"c\":\"{other}\"}}", fill) ==
        "{\"a\":\"7\",\"b\":{\"c\":\"{other}\"}}");
  CHECK(is_known_placeholder("before.ts"));
  CHECK_FALSE(is_known_placeholder("before."));
  CHECK_FALSE(is_known_placeholder("ports"));
}

}  // namespace KRUXOS_TEST_FILE
