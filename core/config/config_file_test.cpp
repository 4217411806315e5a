// The configuration that the package installs: made of docs/configuration.md, held against what the host takes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "core/config/config.hpp"
#include "core/config/settings.hpp"
#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::vector<std::string> lines_of_file() {
  std::ifstream file(KRUXOS_PACKAGED_CONFIG);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  REQUIRE(lines.size() > 100);
  return lines;
}

/// Where the # of a setting stands that is commented out; npos: the line is no such setting.
std::size_t mark_of(const std::string& line) {
  const auto at = line.find_first_not_of(' ');
  if (at == std::string::npos || line[at] != '#' || at + 1 == line.size() || line[at + 1] == ' ') return line.npos;
  return at;
}
std::string taken_in(const std::string& line) {
  const auto mark = mark_of(line);
  return mark == line.npos ? line : line.substr(0, mark) + line.substr(mark + 1);
}
bool is_example(const std::string& line) {
  return line.ends_with("# an example");
}

Config load(const std::vector<std::string>& lines) {
  const support::Scratch dir;
  std::ofstream out(dir.path() / "kruxosd.yaml");
  for (const auto& line : lines) out << line << "\n";
  out.close();
  return load_config(dir.path() / "kruxosd.yaml", {}, {}, "/usr/bin/kruxosd");
}

Config load_all(bool examples) {
  auto lines = lines_of_file();
  for (auto& line : lines) {
    if (examples || !is_example(line)) line = taken_in(line);
  }
  return load(lines);
}

std::size_t depth_of(const std::string& line) {
  return line.find_first_not_of(' ');
}

}  // namespace

TEST_CASE("the packaged configuration says where the service keeps its things, and nothing else") {
  const auto config = load(lines_of_file());
  std::set<std::string> given;
  for (const auto& [key, shown] : config.shown) {
    if (shown.origin != "default") given.insert(key);
  }
  CHECK(given == std::set<std::string>{"data_dir", "places_dir", "vault_key_file"});
  CHECK(config.data_dir == "/var/lib/kruxos");
  CHECK(config.services.empty());
}

TEST_CASE("every setting is in the packaged configuration, and all of them can be taken in") {
  const auto config = load_all(true);
  for (const auto& setting : host_settings()) {
    INFO(setting.key);
    CHECK(config.shown.at(std::string(setting.key)).origin != "default");
  }
  for (const auto& setting : service_settings()) {
    INFO(setting.key);
    CHECK(std::any_of(config.services.begin(), config.services.end(), [&](const auto& service) {
      return config.shown.contains("services." + service.first + "." + std::string(setting.key));
    }));
  }
  for (const auto& [service, settings] : config.services) {
    INFO(service);
    CHECK(settings.adapter_config_json != "{}");
  }
  CHECK(config.write_buffer.delays_ms.size() == 1);
}

TEST_CASE("what the packaged configuration shows as a default is the default") {
  const auto as_installed = load(lines_of_file()), all = load_all(false);
  for (const auto& setting : host_settings()) {
    const std::string key(setting.key);
    // It is one where the directory exists.
    if (key == "policies_dir") continue;
    INFO(key);
    CHECK(all.shown.at(key).value_json == as_installed.shown.at(key).value_json);
  }
}

TEST_CASE("each setting of the packaged configuration can be taken in by itself") {
  const auto lines = lines_of_file();
  std::set<std::string> need_another;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (mark_of(lines[at]) == std::string::npos) continue;
    auto changed = lines;
    changed[at] = taken_in(lines[at]);
    // With the sections around it.
    auto depth = depth_of(lines[at]);
    for (auto above = at; above-- > 0;) {
      if (lines[above].empty() || depth_of(lines[above]) >= depth || !taken_in(lines[above]).ends_with(":")) continue;
      changed[above] = taken_in(lines[above]);
      depth = depth_of(lines[above]);
    }
    INFO(changed[at]);
    try {
      load(changed);
    } catch (const ConfigError& error) {
      need_another.insert(error.what());
    }
  }
  CHECK(need_another == std::set<std::string>{"server.tls: certificate and key belong together; give both or none."});
}

}  // namespace KRUXOS_TEST_FILE
