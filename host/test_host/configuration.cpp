#include "host/test_host/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr const char* kOwn[] = {"data_dir",          "plugins_dir",        "definitions_dir", "policies_dir",
                                "bundles_dir",       "places_dir",         "vault_key_file",  "audit.key_file",
                                "audit.anchor_file", "webhook.secret_file"};

/// Of the writes that wait at all.
std::string delays(const std::vector<TestedService>& services, double seconds) {
  std::string all;
  for (const auto& service : services) {
    for (const auto& capability : service.definition->capabilities) {
      if (capability.kind == CapabilityKind::kWrite && !capability.immediate)
        all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", capability.name, seconds);
    }
  }
  return all;
}

}  // namespace

std::int64_t time_in_ms(const std::string& words) {
  constexpr std::int64_t kLongest = 366 * kDay;
  std::int64_t count = -1;
  const auto [end, failure] = std::from_chars(words.data(), words.data() + words.size(), count);
  auto unit = std::string_view(end, static_cast<std::size_t>(words.data() + words.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, ms] : {std::pair<std::string_view, std::int64_t>{"ms", 1},
                                 {"s", kSecond},
                                 {"min", kMinute},
                                 {"h", kHour},
                                 {"d", kDay}}) {
    if (failure == std::errc() && unit == name && count >= 0 && count <= kLongest / ms) return count * ms;
  }
  throw ConfigError(
      fmt::format("\"{}\" is no time: 500 ms, 90 s, 30 min, 24 h or 7 d, up to a year.", printable(words)));
}

void check_settings(const std::vector<std::string>& settings) {
  for (const auto& setting : settings) {
    const auto key = setting.substr(0, setting.find('='));
    if (std::find(std::begin(kOwn), std::end(kOwn), key) != std::end(kOwn))
      throw ConfigError(
          fmt::format("A host for tests has its own {}, in a directory of its own: leave --set {} out.", key, key));
  }
}

std::string configuration_of(const std::filesystem::path& directory, const cli::TestHostOptions& options,
                             const std::vector<TestedService>& services) {
  check_settings(options.settings);
  std::string yaml = "server: {port: 0, health_port: 0}\noperator: {agents_share_user: false}\n";
  for (const auto& [key, name] : {std::pair{"data_dir", "data"},
                                  {"places_dir", "places"},
                                  {"vault_key_file", "keys/vault.key"},
                                  {"plugins_dir", "adapters"},
                                  {"definitions_dir", "definitions"},
                                  {"policies_dir", "policies"}})
    yaml += fmt::format("{}: {}\n", key, json_string((directory / name).string()));
  if (!options.delay.empty() || !options.driven_time) {
    const auto seconds = options.delay.empty() ? 1.0 : static_cast<double>(time_in_ms(options.delay)) / 1000;
    yaml += fmt::format("write_buffer: {{default_delay_seconds: {}, delays: {{{}}}}}\n", seconds,
                        delays(services, seconds));
  }
  if (!options.driven_time) yaml += "retry: {schedule_seconds: [1, 1], settle_seconds: 1}\n";
  std::string connected;
  for (const auto& service : services) {
    if (service.definition->needs_no_token())
      connected += fmt::format("  {}: {{enabled: true}}\n", service.definition->service);
  }
  return yaml + (connected.empty() ? "" : "services:\n" + connected);
}

}  // namespace krux
