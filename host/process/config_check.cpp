#include "host/process/config_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/nearest.hpp"
#include "core/util/paths.hpp"
#include "core/util/text.hpp"
#include "core/vault/key_file.hpp"
#include "host/bundles/pins.hpp"
#include "host/plugins/config_schema.hpp"

namespace krux {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string listed(Names names) {
  std::sort(names.begin(), names.end());
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

/// "file.yaml:7", "environment KRUXOS_...": where the setting was given.
std::string place_of(const Config& config, const std::string& key) {
  const auto at = config.shown.find(key);
  return at == config.shown.end() ? std::string("The configuration") : at->second.origin;
}

[[noreturn]] void refuse_setting(const std::string& place, const std::string& key, const std::string& sentence) {
  throw ConfigError(fmt::format("{}: {}: {}", printable(place), printable(key), sentence));
}

Names names_of_services(const ConfigSurroundings& around) {
  auto names = around.known.names;
  for (const auto& definition : around.definitions) names.push_back(definition->service);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void check_services(const Config& config, const ConfigSurroundings& around) {
  if (!around.known.are_all) return;
  const auto known = names_of_services(around);
  for (const auto& [service, place] : config.service_places) {
    if (has(known, service)) continue;
    refuse_setting(place, "services." + service,
                   fmt::format("there is no service \"{}\"{}. Services with a definition here: {}. Remove the section "
                               "where it is of an adapter that is not installed any more.",
                               printable(service), did_you_mean(service, known), listed(known)));
  }
}

/// Whether an operation's service may be one whose definition cannot be used, so that nothing is known of it.
bool may_be_unusable(const ConfigSurroundings& around, const std::string& prefix) {
  const auto& all = around.definitions;
  const bool defined =
      std::any_of(all.begin(), all.end(), [&](const auto& definition) { return definition->prefix == prefix; });
  const bool every_known_is_defined =
      std::all_of(around.known.names.begin(), around.known.names.end(), [&](const auto& name) {
        return std::any_of(all.begin(), all.end(), [&](const auto& definition) { return definition->service == name; });
      });
  return !defined && (!every_known_is_defined || !around.known.are_all);
}

void check_delay(const Config& config, const ConfigSurroundings& around, const std::string& operation) {
  const auto key = "write_buffer.delays." + operation;
  const auto prefix = operation.substr(0, operation.find('.'));
  Names writes, writes_of_service;
  for (const auto& definition : around.definitions) {
    for (const auto& capability : definition->capabilities) {
      if (capability.kind == CapabilityKind::kWrite) {
        if (capability.name == operation) return;
        writes.push_back(capability.name);
        if (definition->prefix == prefix) writes_of_service.push_back(capability.name);
      } else if (capability.name == operation) {
        refuse_setting(place_of(config, key), key,
                       fmt::format("{} is no write: only writes wait. Remove it{}.", operation,
                                   did_you_mean(operation, writes_of_service)));
      }
    }
  }
  if (may_be_unusable(around, prefix)) return;
  refuse_setting(
      place_of(config, key), key,
      fmt::format("there is no operation \"{}\"{}. Writes{} are: {}.", printable(operation),
                  did_you_mean(operation, writes), writes_of_service.empty() ? "" : " of " + printable(prefix),
                  listed(writes_of_service.empty() ? writes : writes_of_service)));
}

void check_adapter(const Config& config, const ConfigSurroundings& around, const std::string& service,
                   const std::string& adapter_config_json) {
  const auto* plugin = around.plugins.find(service);
  if (!plugin) return;
  const auto problem = find_config_problem(plugin->config_schema_json, adapter_config_json);
  if (!problem) return;
  const auto section = "services." + service + ".adapter";
  const auto key = problem->key.empty() ? section : section + "." + problem->key;
  const auto at = config.service_places.find(service);
  const auto place = config.shown.contains(key)          ? place_of(config, key)
                     : at == config.service_places.end() ? std::string("The configuration")
                                                         : at->second;
  refuse_setting(place, key, problem->sentence);
}

/// With the line that puts the key there: that of `setting`, or the directory's.
void check_key_place(const Config& config, const char* setting, const std::filesystem::path& file) {
  struct Directory {
    const char* setting;
    const std::filesystem::path& path;
    const char* what;
  };
  for (const auto& directory :
       {Directory{"data_dir", config.data_dir, "data"}, Directory{"bundles_dir", config.bundles_dir, "bundles"},
        Directory{"plugins_dir", config.plugins_dir, "plugins"}}) {
    try {
      check_key_outside(file, directory.path, directory.what, setting);
    } catch (const ConfigError& error) {
      const auto given = place_of(config, setting);
      const bool by_directory = given == "default";
      throw ConfigError(fmt::format("{}: {}: {}", printable(by_directory ? place_of(config, directory.setting) : given),
                                    by_directory ? directory.setting : setting, error.what()));
    }
  }
}

/// Whoever writes the log's files must not be able to change what was anchored.
void check_anchor_place(const Config& config) {
  const auto& file = config.audit.anchor_file;
  if (!lies_in(file, config.data_dir)) return;
  throw ConfigError(
      fmt::format("{}: audit.anchor_file: {} lies inside the data directory, with the audit log that it is to tell of. "
                  "Name a file elsewhere.",
                  printable(place_of(config, "audit.anchor_file")), printable(file.string())));
}

/// A key that is replaced, or lines that are appended, would end what the other one holds.
void refuse_same(const Config& config, const char* setting, const std::filesystem::path& file, const char* other,
                 const std::filesystem::path& held) {
  std::error_code absent;
  const auto place = [&](const std::filesystem::path& path) { return std::filesystem::weakly_canonical(path, absent); };
  if (file.empty() || place(file) != place(held)) return;
  throw ConfigError(fmt::format("{}: {}: {} is {}, too. Name a file of its own.", printable(place_of(config, setting)),
                                setting, printable(file.string()), other));
}

}  // namespace

void check_paths(const Config& config) {
  check_key_place(config, "vault_key_file", config.vault_key_file);
  check_key_place(config, "audit.key_file", config.audit.key_file);
  check_key_place(config, "webhook.secret_file", config.webhook.secret_file);
  check_anchor_place(config);
  refuse_same(config, "audit.key_file", config.audit.key_file, "vault_key_file", config.vault_key_file);
  refuse_same(config, "audit.anchor_file", config.audit.anchor_file, "vault_key_file", config.vault_key_file);
  refuse_same(config, "audit.anchor_file", config.audit.anchor_file, "audit.key_file", config.audit.key_file);
  refuse_same(config, "webhook.secret_file", config.webhook.secret_file, "vault_key_file", config.vault_key_file);
  refuse_same(config, "webhook.secret_file", config.webhook.secret_file, "audit.key_file", config.audit.key_file);
}

void check_names(const Config& config, const ConfigSurroundings& around) {
  check_services(config, around);
  for (const auto& [operation, delay] : config.write_buffer.delays_ms) check_delay(config, around, operation);
  for (const auto& [service, settings] : config.services) {
    check_adapter(config, around, service, settings.adapter_config_json);
  }
}

KnownServices known_services(const Config& config) {
  KnownServices known;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(config.definitions_dir, error)) {
    if (entry.path().extension() == ".yaml") known.names.push_back(entry.path().stem().string());
  }
  try {
    for (const auto& pin : read_pins(config.data_dir).bundles) known.names.push_back(pin.terms.service);
  } catch (const ConfigError&) {  // the start says so, and loads no bundle
    known.are_all = false;
  }
  return known;
}

}  // namespace krux
