#include "core/config/config.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <random>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
namespace fs = std::filesystem;

namespace {

Config from_file(const std::string& text, const std::vector<std::string>& environment = {},
                 const std::vector<std::string>& flags = {}) {
  const support::Scratch dir;
  std::ofstream(dir.path() / "c.yaml") << text;
  return load_config(dir.path() / "c.yaml", environment, flags);
}

std::string refusal(const std::string& text, const std::vector<std::string>& environment = {},
                    const std::vector<std::string>& flags = {}) {
  try {
    from_file(text, environment, flags);
    return "accepted";
  } catch (const ConfigError& e) {
    return e.what();
  }
}

std::string origin(const Config& config, const std::string& key) {
  const auto document = parse_json(config_json(config), "config");
  const auto* entry = find_member(document, key);
  return entry ? std::string(find_string(*entry, "origin").value_or("")) : "missing";
}

}  // namespace

TEST_CASE("everything has a default") {
  const auto config = load_config({}, {}, {}, "/opt/kruxos/bin/kruxosd");
  CHECK(config.data_dir == fs::path(getenv("HOME")) / ".local/share/kruxos");
  CHECK(config.vault_key_file == fs::path(getenv("HOME")) / ".config/kruxos/vault.key");
  CHECK(config.plugins_dir == "/opt/kruxos/lib/kruxos/adapters");
  CHECK(config.definitions_dir == "/opt/kruxos/share/kruxos/definitions");
  CHECK(config.server.host == "127.0.0.1");
  CHECK(config.server.port == 7700);
  CHECK(config.server.health_port == 7704);
  CHECK(config.server.connections == 1024);
  CHECK(config.server.mcp_labels_key == "ifc");
  CHECK(config.write_buffer.default_delay_ms == 30'000);
  CHECK(config.retry.schedule_ms == std::vector<std::int64_t>{60'000, 120'000, 240'000, 480'000, 960'000});
  CHECK_FALSE(config.retry.settle_ms);
  CHECK(config.retry.look_gaps_ms == std::vector<std::int64_t>{60'000, 120'000, 240'000, 480'000});
  CHECK(config.retry.late_look_gap_ms == 960'000);
  CHECK(config.services.empty());
  CHECK(origin(config, "server.port") == "default");
}

TEST_CASE("a program in a place that is no UTF-8 has a configuration that can be shown") {
  const auto json = parse_json(config_json(load_config({}, {}, {}, "/opt/\xff/bin/kruxosd")), "it");
  CHECK(*find_string(*find_member(json, "plugins_dir"), "value") == "/opt/\\xff/lib/kruxos/adapters");
}

TEST_CASE("a file sets everything") {
  const auto config = from_file(R"(
data_dir: data
plugins_dir: /srv/plugins
definitions_dir: ./definitions/../d
vault_key_file: ~/keys/vault.key
vault: {protection: passphrase, argon2_passes: 4, argon2_memory_mib: 64}
server: {host: 0.0.0.0, port: 0, health_port: 0, tls: {certificate: c.pem, key: k.pem}}
log: {level: debug, format: json}
services:
  notes:
    enabled: false
    isolation: process
    runner: {memory_mb: 256, open_files: 32}
    api_base_url: http://127.0.0.1:9999/api/
    sync_interval_seconds: 0.5
    initial_messages_per_channel: 50
    quota: [{match: list, per_minute: 1}]
    adapter: {fast: true, name: x}
  tasks:
write_buffer: {default_delay_seconds: 1.5, delays: {notes.add: 0, notes.edit: 10}, executor_concurrency: 2}
retry: {schedule_seconds: [1, 0.25], settle_seconds: 0, look_gaps_seconds: [0.5, 2], late_look_seconds: 30}
net: {ca_file: ca.pem, allow_private_hosts: [10.0.0.0/8, 192.168.1.1, "fd00::/8"]}
worker_threads: 3
metrics: {enabled: false}
)");
  CHECK(config.data_dir.is_absolute());
  CHECK(config.data_dir.filename() == "data");
  CHECK(config.definitions_dir == config.data_dir.parent_path() / "d");
  CHECK(config.vault_key_file == fs::path(getenv("HOME")) / "keys/vault.key");
  CHECK(config.vault.passphrase);
  CHECK(config.vault.argon2_passes == 4);
  CHECK(config.vault.argon2_memory_mib == 64);
  CHECK(config.server.tls_key.filename() == "k.pem");
  CHECK(config.log.json);
  const auto& notes = config.services.at("notes");
  CHECK_FALSE(notes.enabled);
  CHECK(notes.sync_interval_ms == 500);
  CHECK(notes.isolation == Isolation::kProcess);
  CHECK((notes.runner.memory_mb == 256 && notes.runner.open_files == 32));
  CHECK(notes.adapter_config_json == R"({"fast":true,"initial_messages_per_channel":50,"name":"x"})");
  CHECK(notes.quota->at(0).match == "list");
  CHECK(config.write_buffer.default_delay_ms == 1500);
  CHECK(config.write_buffer.delays_ms.at("notes.edit") == 10'000);
  CHECK(config.retry.schedule_ms == std::vector<std::int64_t>{1000, 250});
  CHECK(config.retry.settle_ms == 0);
  CHECK(config.retry.look_gaps_ms == std::vector<std::int64_t>{500, 2000});
  CHECK(config.retry.late_look_gap_ms == 30'000);
  CHECK(config.net.allow_private_hosts.size() == 3);
  CHECK(config.worker_threads == 3);
  CHECK_FALSE(config.metrics.enabled);
}

TEST_CASE("flag over environment over file over default") {
  const std::string file = "server: {port: 1001}\nlog: {level: warn}\n";
  CHECK(from_file(file).server.port == 1001);
  const std::vector<std::string> environment{"KRUXOS_SERVER__PORT=1002",
                                             "PATH=/bin",
                                             "KRUXOS_API_KEY=abc",
                                             "KRUXOS_OPERATOR=ann",
                                             "KRUXOS_DATA_DIR=/data",
                                             "KRUXOS_RETRY__SCHEDULE_SECONDS=1, 2,3",
                                             "KRUXOS_WRITE_BUFFER__DELAYS__NOTES__ADD_ALL=5",
                                             "KRUXOS_SERVICES__NOTES__ADAPTER__PAGE_SIZE=15"};
  auto config = from_file(file, environment);
  CHECK(config.server.port == 1002);
  CHECK(config.data_dir == "/data");
  CHECK(config.retry.schedule_ms == std::vector<std::int64_t>{1000, 2000, 3000});
  CHECK(config.write_buffer.delays_ms.at("notes.add_all") == 5000);
  CHECK(config.services.at("notes").adapter_config_json == R"({"page_size":15})");
  CHECK(origin(config, "server.port") == "environment KRUXOS_SERVER__PORT");
  CHECK_THAT(origin(config, "log.level"), Catch::EndsWith("c.yaml:2"));

  config = from_file(file, environment,
                     {"server.port=1003", "services.notes.api_base_url=https://n.example/",
                      "services.notes.quota=[{match: a, per_minute: 2}]", "net.allow_private_hosts=[]"});
  CHECK(config.server.port == 1003);
  CHECK(config.services.at("notes").api_base_url == "https://n.example/");
  CHECK(config.services.at("notes").quota->size() == 1);
  CHECK(origin(config, "server.port") == "flag server.port");
}

TEST_CASE("a bad file is refused with its line and what is accepted") {
  struct Row {
    const char *text, *says;
  };
  const Row rows[] = {
      {"sever: {port: 1}", "c.yaml:1:1: there is no setting \"sever\""},
      {"server:\n  prot: 1", "c.yaml:2:3: server: there is no setting \"server.prot\" (did you mean \"server.port\"?)"},
      {"server: {port: 65536}", "server.port: 65536 is not from 0 to 65535"},
      {"server: {port: \"7700\"}", "a whole number"},
      {"server: {port: 77.5}", "a whole number"},
      {"server: {port: }", "there is no value"},
      {"server: 7700", "a mapping (key: value) is expected here, not a single value"},
      {"server: {port: 7704}", "are both 7704"},
      {"server: {tls: {certificate: a}}", "give both or none"},
      {"server: {host: \"http://x\"}", "to listen on"},
      {"log: {level: loud}", "is not one of trace, debug, info"},
      {"services: {notes: {enabled: maybe}}", "true or false"},
      {"services: {notes: {isolation: thread}}", "is not one of in_process, process"},
      {"services: {notes: {runner: {memory_mb: 1}}}", "64"},
      {"services: {notes: {runner: {open_files: 1}}}", "16"},
      {"services: {notes: {runner: {memory: 100}}}", "there is no setting \"runner.memory\""},
      {"services: {notes: {api_base_url: \"http://n.example/\"}}", "use https"},
      {"services: {notes: {oauth: {callback_port: 70000}}}", "70000 is not from 0 to 65535"},
      {"services: {notes: {oauth: {token_url: http://example.com/token}}}", "http is accepted only for the loopback"},
      {"services: {notes: {oauth: {secret: x}}}", "there is no setting \"oauth.secret\""},
      {"services: {notes: {intial: 1}}", "there is no setting \"intial\""},
      {"services: {Notes: {enabled: true}}", "is not the name of a service"},
      {"services: {notes: {quota: [{match: a}]}}", "\"per_minute\" is missing"},
      {"services: {notes: 7}", "a mapping"},
      {"server: {host: 0.0.0.0}", "agents' keys would travel there unencrypted"},
      {"server: {host: example.internal}", "agents' keys would travel there unencrypted"},
      {"policies_dir: [/p]", "a text is expected"},
      {"write_buffer: {default_delay_seconds: 30 s}", "a number from"},
      {"write_buffer: {default_delay_seconds: -1}", "is not from"},
      {"write_buffer: {delays: {Add: 1}}", "is not an operation"},
      {"write_buffer: {executor_concurrency: 0}", "is not from 1 to 64"},
      {"retry: {schedule_seconds: []}", "the list is empty"},
      {"retry: {schedule_seconds: 60}", "a list is expected"},
      {"retry: {schedule_seconds: [0]}", "is not from"},
      {"retry: {look_gaps_seconds: []}", "the list is empty"},
      {"retry: {late_look_seconds: 0}", "is not from"},
      {"net: {allow_private_hosts: [intranet.example]}", "is not an address or a network"},
      {"net: {allow_private_hosts: [10.0.0.0/33]}", "is not an address or a network"},
      {"net: {allow_private_hosts: [10.0.0.0/]}", "is not an address or a network"},
      {"net: {allow_private_hosts: [\"::/129\"]}", "is not an address or a network"},
      {"metrics: {enabled: some}", ""},
      {"worker_threads: 0", "is not from 1 to 256"},
      {"server: {mcp_labels_key: \"a b\"}", "server.mcp_labels_key: \"a b\" is no key of _meta"},
      {"server: {mcp_labels_key: a/b/c}", "is no key of _meta"},
      {"server: {mcp_labels_key: /a}", "is no key of _meta"},
      {"server: {allowed_origins: [\"*\"]}", "\"*\" is no origin of web pages"},
      {"server: {allowed_origins: [\"null\"]}", "\"null\" is no origin of web pages"},
      {"server: {allowed_origins: [\"https://app.example/\"]}", "is no origin"},
      {"server: {allowed_origins: [\"http://app.example\"]}", "is no origin"},
      {"server: {allowed_origins: [\"http://localhost.example\"]}", "is no origin"},
      {"server: {allowed_origins: [\"http://localhost:0080\"]}", "is no origin"},
      {"server: {allowed_origins: [\"https://App.example\"]}", "is no origin"},
      {"server: {allowed_origins: \"https://app.example\"}", ""},
      {"server: {sign_in: {enabled: 1}}", ""},
      {"server: {sign_in: {public_url: kruxos.example}}", "\"kruxos.example\" is no origin"},
      {"server: {sign_in: {public_url: \"https://kruxos.example/\"}}", "is no origin"},
      {"server: {sign_in: {public_url: \"https://KruxOS.example\"}}", "is no origin"},
      {"server: {sign_in: {public_url: \"https://kruxos.example/mcp?x\"}}", "is no origin"},
      {"server: {sign_in: {public_url: \"http://kruxos.example\"}}", "is no origin"},
      {"server: {sign_in: {access_token_minutes: 4}}", "4 is not from 5 to 1440"},
      {"server: {sign_in: {idle_days: 0}}", "0 is not from 1 to 365"},
      {"server: {sign_in: {url: x}}", "there is no setting"},
      {"server: {connections: 15}", "server.connections: 15 is not from 16 to 65536"},
      {"data_dir: \"\"", "the text is empty"},
      {"data_dir: [a]", "a text is expected"},
      {"data_dir: a\ndata_dir: b", "for the second time"},
      {"- a", "a mapping"},
      {"data_dir: &a b", "anchors"},
      {"\x01", "control character"},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    CHECK_THAT(refusal(row.text), Catch::Contains(row.says));
  }
}

TEST_CASE("sign-in is off, and refused where tokens would travel unencrypted or nobody would know where to",
          "[config]") {
  CHECK_FALSE(load_config({}, {}, {}).server.sign_in.enabled);
  CHECK(load_config({}, {}, {}).server.allowed_origins.empty());
  CHECK(from_file("server: {allowed_origins: [\"https://app.example\", \"http://localhost:6274\"]}")
            .server.allowed_origins == std::vector<std::string>{"https://app.example", "http://localhost:6274"});
  const std::string on = "sign_in: {enabled: true}";
  CHECK(from_file("server: {" + on + "}").server.sign_in.enabled);
  CHECK_THAT(refusal("server: {host: 0.0.0.0, allow_plain_http: true, " + on + "}"),
             Catch::Contains("tokens would travel there unencrypted"));
  const std::string tls = "server: {host: 0.0.0.0, tls: {certificate: c, key: k}, sign_in: {enabled: true";
  CHECK_THAT(refusal(tls + "}}"), Catch::Contains("server.sign_in.public_url: the address is missing"));
  CHECK_THAT(refusal(tls + ", public_url: \"http://127.0.0.1:7700\"}}"), Catch::Contains("is no https address"));
  const auto whole =
      from_file(tls + ", public_url: \"https://kruxos.example\", access_token_minutes: 10, idle_days: 2}}");
  CHECK(whole.server.sign_in.public_url == "https://kruxos.example");
  CHECK(whole.server.sign_in.access_token_ms == 600'000);
  CHECK(whole.server.sign_in.idle_ms == 2 * 86'400'000);
  // Something on this machine does TLS.
  CHECK(from_file("server: {sign_in: {enabled: true, public_url: \"https://kruxos.example\"}}").server.sign_in.enabled);
  // What is off is not looked at.
  CHECK(
      from_file("server: {host: 0.0.0.0, allow_plain_http: true, sign_in: {enabled: false}}").server.allow_plain_http);
}

TEST_CASE("the webhook's path is shown nowhere, and bad addresses are refused without being repeated") {
  const auto config = from_file("webhook: {url: 'https://hooks.example/T0PSECRET?k=v', details: true}\n");
  CHECK(config.webhook.url == "https://hooks.example/T0PSECRET?k=v");
  CHECK(config.webhook.details);
  CHECK(config.webhook.secret_file == config.vault_key_file.parent_path() / "webhook.secret");
  CHECK_THAT(config_json(config), Catch::Contains("https://hooks.example/...") && !Catch::Contains("T0PSECRET"));
  CHECK(load_config({}, {}, {}).webhook.url.empty());
  for (const std::string bad : {"http://hooks.example/T0PSECRET", "hooks.example/T0PSECRET", "ftp://a/T0PSECRET",
                                "https://me:T0PSECRET@hooks.example/", "https://hooks.example/T0PSECRET#x"}) {
    CAPTURE(bad);
    CHECK_THAT(refusal("webhook: {url: '" + bad + "'}\n"), Catch::Contains("c.yaml:1:16: webhook.url: ") &&
                                                               Catch::Contains("no address of a webhook") &&
                                                               !Catch::Contains("T0PSECRET"));
  }
  CHECK_THAT(refusal("webhook: {queue_url: 'javascript:alert(1)'}\n"), Catch::Contains("no address of a page"));
}

TEST_CASE("bad variables and flags are refused by their names") {
  const auto of = [](const std::string& variable) { return refusal("", {variable}); };
  CHECK_THAT(of("KRUXOS_SERVER__PORT=x"), Catch::StartsWith("KRUXOS_SERVER__PORT: a whole number"));
  CHECK_THAT(of("KRUXOS_SERVER__PROT=1"), Catch::Contains("did you mean \"server.port\"?"));
  CHECK_THAT(of("KRUXOS_SERVER=1"), Catch::Contains("there is no setting \"server\""));
  CHECK_THAT(of("KRUXOS_SERVICES__NOTES=1"), Catch::Contains("there is no setting"));
  CHECK_THAT(of("KRUXOS_RETRY__SCHEDULE_SECONDS=1,x"), Catch::Contains("a number from"));
  CHECK_THAT(of("KRUXOS_RETRY__SCHEDULE_SECONDS=[1"), Catch::Contains("not valid YAML"));
  CHECK_THAT(of("KRUXOS_DATA_DIR=\xff"), Catch::Contains("not UTF-8"));
  CHECK_THAT(of("KRUXOS_DATA_DIR="), Catch::Contains("empty"));
  const auto flag = [](const std::string& text) { return refusal("", {}, {text}); };
  CHECK_THAT(flag("server.port"), Catch::Contains("a value is missing"));
  CHECK_THAT(flag("server.port=-1"), Catch::StartsWith("flag server.port: "));
  CHECK_THAT(flag("=1"), Catch::Contains("there is no setting"));
}

TEST_CASE("files that are not there or no files") {
  CHECK_THROWS_WITH(load_config("/nonexistent/c.yaml", {}, {}), Catch::Contains("there is no such file"));
  CHECK_THROWS_WITH(load_config("/", {}, {}), Catch::Contains("not a regular file"));
  CHECK_NOTHROW(from_file(""));
  CHECK_NOTHROW(from_file("# nothing but a comment\n"));
}

TEST_CASE("mutated configurations are accepted or refused with a sentence") {
  const std::string good =
      "data_dir: data\nserver: {port: 1, tls: {certificate: c, key: k}}\nservices: {notes: {quota: [{match: a, "
      "per_minute: 1}], adapter: {x: [1, {y: 2}]}}}\nretry: {schedule_seconds: [1, 2]}\n";
  std::mt19937 random(11);
  for (int round = 0; round < 1500; ++round) {
    std::string text = good;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      const auto at = random() % text.size();
      if (random() % 2) {
        text[at] = static_cast<char>(random());
      } else {
        text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
    }
    const auto why = refusal(text);
    if (why != "accepted" && why.back() != '.') FAIL(why);
  }
}

}  // namespace KRUXOS_TEST_FILE
