// The table of the configuration's settings: what each is called, takes, and shows.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {

/// One given value and where relative paths in it begin.
struct Given {
  YamlValue value;
  std::filesystem::path base;
};

/// A setting of the whole host ("server.port").
struct Setting {
  std::string_view key;
  bool is_list;  ///< takes a list: "a,b" in a variable or a flag
  void (*apply)(const Given&, Config&);
  std::string (*json)(const Config&);  ///< its present value
};
const std::vector<Setting>& host_settings();

/// A setting of one service: the key below services.<name>.
struct ServiceSetting {
  std::string_view key;
  bool is_list;
  void (*apply)(const Given&, ServiceConfig&);
  std::string (*json)(const ServiceConfig&);
};
const std::vector<ServiceSetting>& service_settings();

/// Settings of an adapter that may also stand directly in its service's section.
bool is_adapter_shorthand(std::string_view key);

/// The delay of an operation, in seconds, as milliseconds.
std::int64_t parse_delay(const YamlValue& value);

}  // namespace krux
