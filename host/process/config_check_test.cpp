#include "host/process/config_check.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/definition/definition_loader.hpp"
#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

constexpr const char* kNotes = R"(schema: 1
service: notes
prefix: note
display_name: Notes
description: Notes.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://notes.example/
capabilities:
  - {name: note.search, kind: read, tier: autonomous, purpose: Search., when_to_use: Often.}
  - {name: note.send, kind: write, tier: notify, purpose: Send., when_to_use: Often.}
  - {name: note.cancel, kind: cancel, tier: autonomous, purpose: Cancel., when_to_use: Before.}
)";

struct Checked {
  support::Scratch dir;
  PluginRegistry plugins;
  KnownServices known;

  Checked() {
    PluginInfo notes;
    notes.service = "notes";
    notes.state = PluginInfo::State::kLoaded;
    notes.config_schema_json =
        R"({"type":"object","additionalProperties":false,"properties":{"look_back_hours":{"type":"integer"}}})";
    plugins.add_refused(notes);
  }
  std::string operator()(const std::string& text, const std::vector<std::string>& environment = {}) {
    std::ofstream(dir.path() / "c.yaml") << text;
    try {
      const auto config = load_config(dir.path() / "c.yaml", environment, {});
      check_paths(config);
      check_names(config,
                  {{std::make_shared<ServiceDefinition>(parse_definition(kNotes, "notes.yaml"))}, known, plugins});
      return "in order";
    } catch (const ConfigError& error) {
      std::string what = error.what();
      const auto name = dir.path().string() + "/";
      for (auto at = what.find(name); at != std::string::npos; at = what.find(name)) what.erase(at, name.size());
      return what;
    }
  }
};

}  // namespace

TEST_CASE("a delay is of a write that there is") {
  Checked check;
  CHECK(check("write_buffer: {delays: {note.send: 60}}") == "in order");
  CHECK(check("write_buffer:\n  delays:\n    note.sned: 60\n") ==
        "c.yaml:3: write_buffer.delays.note.sned: there is no operation \"note.sned\" (did you mean \"note.send\"?). "
        "Writes of note are: note.send.");
  CHECK(check("write_buffer: {delays: {note.search: 60}}") ==
        "c.yaml:1: write_buffer.delays.note.search: note.search is no write: only writes wait. Remove it.");
  CHECK_THAT(check("write_buffer: {delays: {note.cancel: 60}}"), Catch::Contains("note.cancel is no write"));
  CHECK_THAT(check("write_buffer: {delays: {nothing.like: 60}}"),
             Catch::Contains("there is no operation \"nothing.like\". Writes are: note.send."));
  CHECK_THAT(check("", {"KRUXOS_WRITE_BUFFER__DELAYS__NOTE__SNED=60"}),
             Catch::StartsWith("environment KRUXOS_WRITE_BUFFER__DELAYS__NOTE__SNED: "));
}

TEST_CASE("a section is of a service that there is") {
  Checked check;
  CHECK(check("services: {notes: {enabled: true}}") == "in order");
  CHECK_THAT(check("services:\n  nots: {enabled: true}\n"),
             Catch::StartsWith("c.yaml:2: services.nots: there is no service \"nots\" (did you mean \"notes\"?)."));
  CHECK_THAT(check("services:\n  nots: {}\n"), Catch::StartsWith("c.yaml:2: services.nots: "));
  CHECK_THAT(check("services:\n  nots:\n"), Catch::StartsWith("c.yaml:2: services.nots: "));
  CHECK_THAT(check("", {"KRUXOS_SERVICES__NOTS__ENABLED=true"}),
             Catch::StartsWith("environment KRUXOS_SERVICES__NOTS__ENABLED: services.nots: "));
}

TEST_CASE("a service that cannot be used now is known all the same") {
  Checked check;
  check.known.names = {"mail"};
  CHECK(check("services: {mail: {enabled: true, adapter: {x: 1}}}\nwrite_buffer: {delays: {email.send: 60}}") ==
        "in order");
  CHECK_THAT(check("write_buffer: {delays: {note.sned: 60}}"), Catch::Contains("note.sned"));
  CHECK_THAT(check("services: {other: {enabled: true}}"), Catch::Contains("there is no service \"other\""));
  check.known.are_all = false;
  CHECK(check("services: {other: {enabled: true}}") == "in order");
}

TEST_CASE("an adapter's setting is one that it takes") {
  Checked check;
  CHECK(check("services: {notes: {adapter: {look_back_hours: 3}}}") == "in order");
  CHECK(check("services:\n  notes:\n    adapter:\n      look_back_hour: 3\n") ==
        "c.yaml:4: services.notes.adapter.look_back_hour: the adapter has no setting \"look_back_hour\" (did you mean "
        "\"look_back_hours\"?). Its settings are: look_back_hours.");
  CHECK(check("services:\n  notes:\n    adapter: {look_back_hours: soon}\n") ==
        "c.yaml:3: services.notes.adapter.look_back_hours: \"soon\" does not fit: it must be a whole number.");
}

TEST_CASE("the vault's key lies outside the data directory") {
  Checked check;
  CHECK(check("data_dir: data\nvault_key_file: keys/vault.key\n") == "in order");
  CHECK_THAT(check("data_dir: data\nvault_key_file: data/keys/../vault.key\n"),
             Catch::StartsWith("c.yaml:2: vault_key_file: ") && Catch::Contains("lies inside the data directory"));
  CHECK_THAT(check("data_dir: data\n", {"KRUXOS_VAULT_KEY_FILE=" + (check.dir.path() / "data/vault.key").string()}),
             Catch::StartsWith("environment KRUXOS_VAULT_KEY_FILE: vault_key_file: "));
}

TEST_CASE("the vault's key lies outside the adapters' directory, which their processes may read") {
  Checked check;
  const std::string data = "data_dir: data\n";
  CHECK(check(data + "plugins_dir: kruxos/adapters\nvault_key_file: kruxos/vault.key\n") == "in order");
  CHECK_THAT(check(data + "plugins_dir: kruxos\nvault_key_file: kruxos/keys/vault.key\n"),
             Catch::StartsWith("c.yaml:3: vault_key_file: ") && Catch::Contains("lies inside the plugins directory"));
}

TEST_CASE("the vault's key lies outside the bundles' directory") {
  Checked check;
  const std::string data = "data_dir: kruxos/data\n";
  CHECK(check(data + "bundles_dir: kruxos/bundles\nvault_key_file: kruxos/vault.key\n") == "in order");
  CHECK_THAT(check(data + "bundles_dir: kruxos\nvault_key_file: kruxos/vault.key\n"),
             Catch::StartsWith("c.yaml:3: vault_key_file: ") && Catch::Contains("lies inside the bundles directory"));
  CHECK_THAT(check(data + "bundles_dir: kruxos/bundles\nvault_key_file: kruxos/bundles/notes-1/../vault.key\n"),
             Catch::Contains("lies inside the bundles directory"));
}

TEST_CASE("the audit log's key and its signed heads have files of their own") {
  Checked check;
  const std::string base = "data_dir: data\nvault_key_file: keys/vault.key\n";
  CHECK(check(base + "audit: {key_file: keys/audit.key, anchor_file: keys/heads}\n") == "in order");
  CHECK_THAT(check(base + "audit: {key_file: data/audit.key}\n"),
             Catch::StartsWith("c.yaml:3: audit.key_file: ") && Catch::Contains("lies inside the data directory") &&
                 Catch::Contains("set audit.key_file"));
  CHECK_THAT(check(base + "plugins_dir: adapters\naudit: {key_file: adapters/audit.key}\n"),
             Catch::StartsWith("c.yaml:4: audit.key_file: ") && Catch::Contains("lies inside the plugins directory"));
  CHECK_THAT(check(base + "audit: {anchor_file: data/heads}\n"),
             Catch::StartsWith("c.yaml:3: audit.anchor_file: ") && Catch::Contains("lies inside the data directory"));
  CHECK_THAT(check(base + "audit: {key_file: keys/../keys/vault.key}\n"),
             Catch::StartsWith("c.yaml:3: audit.key_file: ") && Catch::Contains("is vault_key_file, too"));
  CHECK_THAT(check(base + "audit: {anchor_file: keys/vault.key}\n"),
             Catch::StartsWith("c.yaml:3: audit.anchor_file: "));
  CHECK_THAT(check(base + "audit: {key_file: keys/a, anchor_file: keys/a}\n"),
             Catch::Contains("is audit.key_file, too"));
}

TEST_CASE("the webhook's secret has a file of its own, outside of what is copied") {
  Checked check;
  const std::string base = "data_dir: data\nvault_key_file: keys/vault.key\n";
  CHECK(check(base + "webhook: {secret_file: keys/webhook}\n") == "in order");
  CHECK_THAT(check(base + "webhook: {secret_file: data/webhook}\n"),
             Catch::StartsWith("c.yaml:3: webhook.secret_file: ") && Catch::Contains("lies inside the data directory"));
  CHECK_THAT(check(base + "webhook: {secret_file: keys/vault.key}\n"), Catch::Contains("is vault_key_file, too"));
  CHECK_THAT(check(base + "webhook: {secret_file: keys/audit.key}\n"), Catch::Contains("is audit.key_file, too"));
}

TEST_CASE("a check finds what the start could not read or make, and makes nothing") {
  const support::Scratch dir;
  const auto problem = [&](const std::string& text) {
    std::ofstream(dir.path() / "c.yaml") << text;
    try {
      check_files(load_config(dir.path() / "c.yaml", {}, {}));
      return std::string("in order");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
  };
  const std::string base = "data_dir: data\nvault_key_file: keys/vault.key\naudit: {key_file: keys/audit.key}\n";
  CHECK(problem(base) == "in order");
  CHECK_FALSE(std::filesystem::exists(dir.path() / "data"));
  CHECK_FALSE(std::filesystem::exists(dir.path() / "keys"));
  std::ofstream(dir.path() / "file") << "x";
  CHECK_THAT(problem("data_dir: file/data\nvault_key_file: keys/vault.key\naudit: {key_file: keys/audit.key}\n"),
             Catch::StartsWith("data_dir: ") && Catch::Contains("file is no directory. Name another place."));
  CHECK_THAT(problem("data_dir: data\nvault_key_file: file/vault.key\naudit: {key_file: keys/audit.key}\n"),
             Catch::StartsWith("vault_key_file: ") && Catch::Contains("is no directory"));
  std::filesystem::create_directory(dir.path() / "audit.key");
  CHECK_THAT(problem("data_dir: data\nvault_key_file: keys/vault.key\naudit: {key_file: audit.key}\n"),
             Catch::StartsWith("audit.key_file: ") && Catch::Contains("it is no file"));
  CHECK_THAT(problem(base + "server: {tls: {certificate: file, key: file}}\n"),
             Catch::Contains("server.tls.certificate") && Catch::Contains("cannot be used"));
  CHECK_THAT(problem(base + "net: {ca_file: file}\n"),
             Catch::StartsWith("No certificate authorities can be read from ") && Catch::Contains("net.ca_file"));
}

}  // namespace KRUXOS_TEST_FILE
