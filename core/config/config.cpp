#include "core/config/config.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>

#include "core/config/settings.hpp"
#include "core/definition/base_url.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

namespace fs = std::filesystem;

/// Variables of the clients: not the host's, and not refused.
constexpr std::string_view kClientVariables[] = {"KRUXOS_HOST", "KRUXOS_API_KEY", "KRUXOS_CLIENT_SECRET",
                                                 "KRUXOS_OPERATOR"};

/// Takes the layers, lowest first, into one Config.
class Loader {
 public:
  explicit Loader(Config& config) : config_(config) {}

  void file(const fs::path& file) {
    const auto name = file.string();
    nodes_.push_back(parse_yaml(read_text_file(file), name));
    const auto& root = nodes_.back();
    if (root.kind == YamlNode::Kind::kNull) return;
    base_ = fs::absolute(file).parent_path();
    section(YamlValue(root, name, ""), "");
  }

  void variable(const std::string& assignment) {
    const auto equals = assignment.find('=');
    const auto name = assignment.substr(0, equals);
    const auto& clients = kClientVariables;
    if (equals == std::string::npos || !name.starts_with("KRUXOS_") || name.starts_with("KRUXOS_TEST_")) return;
    if (std::find(std::begin(clients), std::end(clients), name) != std::end(clients)) return;
    std::string key;
    for (std::size_t at = std::string_view("KRUXOS_").size(); at < name.size(); ++at) {
      const bool dot = name.compare(at, 2, "__") == 0;
      key += dot ? '.' : static_cast<char>(name[at] >= 'A' && name[at] <= 'Z' ? name[at] + 32 : name[at]);
      if (dot) ++at;
    }
    outside(key, assignment.substr(equals + 1), name, "environment " + name);
  }

  void flag(const std::string& assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos)
      throw ConfigError(fmt::format("flag {}: a value is missing; write it as key=value, such as server.port=7701.",
                                    printable(assignment)));
    const auto key = assignment.substr(0, equals);
    outside(key, assignment.substr(equals + 1), "flag " + key, "flag " + key);
  }

  void finish() {
    for (auto& [service, members] : adapter_) {
      std::string json;
      for (const auto& [name, value] : members) json += (json.empty() ? "{" : ",") + json_string(name) + ":" + value;
      config_.services[service].adapter_config_json = json + "}";
    }
  }

 private:
  void section(const YamlValue& value, const std::string& prefix) {
    for (const auto& [key, item] : value.entries()) {
      const auto path = prefix + key.node().text;
      if (prefix == "services.") config_.service_places.try_emplace(key.node().text, key.place());
      if (item.node().kind == YamlNode::Kind::kNull) {
        if (!is_section(path)) item.fail("there is no value; remove the key to keep the default.");
      } else if (is_section(path)) {
        section(item, path + ".");
      } else {
        set(path, item, key, item.place());
      }
    }
  }

  static bool is_section(const std::string& path) {
    if (path == "services" || path == "write_buffer.delays") return true;
    if (path.starts_with("services.")) {
      const auto rest = std::string_view(path).substr(9);
      const auto dot = rest.find('.');
      return dot == std::string_view::npos || rest.substr(dot) == ".adapter" || rest.substr(dot) == ".runner" ||
             rest.substr(dot) == ".oauth";
    }
    const auto& all = host_settings();
    return std::any_of(all.begin(), all.end(), [&](const auto& s) { return s.key.starts_with(path + "."); });
  }

  /// A value from a variable or a flag, which has no file around it.
  void outside(const std::string& key, const std::string& text, const std::string& name, const std::string& origin) {
    base_ = fs::current_path();
    if (!is_valid_utf8(text)) throw ConfigError(fmt::format("{}: the value is not UTF-8 text.", printable(name)));
    nodes_.push_back(takes_list(key) ? parse_list(text, name) : scalar(text));
    const YamlValue value(nodes_.back(), printable(name), "");
    set(key, value, value, origin);
  }

  static YamlNode scalar(const std::string& text) {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.text = text;
    node.line = 0;
    return node;
  }

  /// A list as YAML writes it, or values between commas.
  static YamlNode parse_list(const std::string& text, const std::string& name) {
    auto node = parse_yaml(text, name);
    if (node.kind == YamlNode::Kind::kSequence) return node;
    YamlNode list;
    list.kind = YamlNode::Kind::kSequence;
    list.line = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto comma = std::min(text.find(',', at), text.size());
      const auto from = std::min(text.find_first_not_of(' ', at), comma);
      list.items.push_back(scalar(text.substr(from, comma - from)));
      at = comma + 1;
    }
    return list;
  }

  static bool takes_list(const std::string& key) {
    const auto& all = host_settings();
    if (key.starts_with("services.") && key.ends_with(".quota")) return true;
    return std::any_of(all.begin(), all.end(), [&](const auto& s) { return s.key == key && s.is_list; });
  }

  void set(const std::string& path, const YamlValue& value, const YamlValue& key, const std::string& origin) {
    if (path.starts_with("services.")) return set_of_service(path, value, key, origin);
    if (path.starts_with("write_buffer.delays.")) return set_delay(path, value, key, origin);
    for (const auto& setting : host_settings()) {
      if (setting.key != path) continue;
      setting.apply({value, base_}, config_);
      config_.shown[path] = {setting.json(config_), origin};
      return;
    }
    refuse_unknown(path, key);
  }

  void set_delay(const std::string& path, const YamlValue& value, const YamlValue& key, const std::string& origin) {
    const auto operation = path.substr(std::string_view("write_buffer.delays.").size());
    const auto dot = operation.find('.');
    if (!is_plain_name(operation.substr(0, dot)) ||
        (dot != std::string::npos && !is_plain_name(operation.substr(dot + 1))))
      key.fail(fmt::format("\"{}\" is not an operation, such as notes.add.", printable(operation)));
    config_.write_buffer.delays_ms[operation] = parse_delay(value);
    config_.shown[path] = {value.json(), origin};
  }

  void set_of_service(const std::string& path, const YamlValue& value, const YamlValue& key,
                      const std::string& origin) {
    const auto dot = path.find('.', 9);
    const auto service = path.substr(9, dot - 9), name = dot == std::string::npos ? "" : path.substr(dot + 1);
    if (!is_plain_name(service)) key.fail(fmt::format("\"{}\" is not the name of a service.", printable(service)));
    config_.service_places.try_emplace(service, origin);
    if (name.starts_with("adapter.") || is_adapter_shorthand(name)) {
      const auto member = name.substr(name.starts_with("adapter.") ? 8 : 0);
      if (!is_plain_name(member)) key.fail(fmt::format("\"{}\" is no name of a setting.", printable(member)));
      adapter_[service][member] = value.json();
      config_.shown["services." + service + ".adapter." + member] = {value.json(), origin};
      return;
    }
    for (const auto& setting : service_settings()) {
      if (setting.key != name) continue;
      setting.apply({value, base_}, config_.services[service]);
      config_.shown[path] = {setting.json(config_.services[service]), origin};
      return;
    }
    std::vector<std::string> known{"adapter"};
    for (const auto& setting : service_settings()) known.emplace_back(setting.key);
    refuse(name, known, key, "A service's settings are", " The adapter's own stand below adapter:.");
  }

  static void refuse_unknown(const std::string& path, const YamlValue& key) {
    std::vector<std::string> known{"services", "write_buffer.delays"};
    for (const auto& setting : host_settings()) known.emplace_back(setting.key);
    refuse(path, known, key, "Settings are", "");
  }

  [[noreturn]] static void refuse(const std::string& given, const std::vector<std::string>& known, const YamlValue& key,
                                  const char* what, const char* more) {
    // Those of the section that was meant, where there is such: all of them would hide the sentence.
    const auto section = given.substr(0, given.find('.') + 1);
    const auto is_near = [&](const std::string& name) { return !section.empty() && name.starts_with(section); };
    const bool any_near = std::any_of(known.begin(), known.end(), is_near);
    std::string all;
    for (const auto& name : known) {
      if (!any_near || is_near(name)) all += (all.empty() ? "" : ", ") + name;
    }
    key.fail(fmt::format("there is no setting \"{}\"{}. {}: {}.{}", printable(given), did_you_mean(given, known), what,
                         all, more));
  }

  Config& config_;
  std::deque<YamlNode> nodes_;  ///< what the values borrow from
  fs::path base_;
  std::map<std::string, std::map<std::string, std::string>> adapter_;
};

fs::path home() {
  const char* variable = std::getenv("HOME");
  if (variable && *variable == '/') return variable;
  const auto* user = getpwuid(geteuid());
  return user && user->pw_dir && *user->pw_dir == '/' ? user->pw_dir : "/";
}

/// As the XDG base directories have it: what is kept over restarts and belongs to this machine.
fs::path state_home() {
  const char* variable = std::getenv("XDG_STATE_HOME");
  return variable && *variable == '/' ? fs::path(variable) : home() / ".local/state";
}

void set_default_directories(Config& config, const fs::path& executable) {
  std::error_code error;
  const auto program = executable.empty() ? fs::read_symlink("/proc/self/exe", error) : fs::absolute(executable);
  const auto prefix = program.parent_path().parent_path();
  config.data_dir = home() / ".local/share/kruxos";
  config.places_dir = state_home() / "kruxos/places";
  config.vault_key_file = home() / ".config/kruxos/vault.key";
  config.plugins_dir = prefix / "lib/kruxos/adapters";
  config.definitions_dir = prefix / "share/kruxos/definitions";
  if (const auto policies = prefix / "share/kruxos/policies"; fs::exists(policies, error))
    config.policies_dir = policies;
}

/// Tokens travel nowhere unencrypted, and clients compare addresses by the letter.
void check_sign_in(const Config::Server& server) {
  if (!server.sign_in.enabled) return;
  const bool tls = !server.tls_certificate.empty();
  const bool loopback = server.host == "localhost" || is_loopback(server.host);
  if (!tls && !loopback)
    throw ConfigError(fmt::format(
        "server.sign_in.enabled: {} can be reached by other machines, and tokens would travel there unencrypted. Give "
        "server.tls.certificate and server.tls.key, or, where something in front of the host does TLS, let server.host "
        "be 127.0.0.1 and server.sign_in.public_url the https address.",
        printable(server.host)));
  const auto& url = server.sign_in.public_url;
  if (url.empty() && tls)
    throw ConfigError(
        "server.sign_in.public_url: the address is missing under which hosts reach this one, such as "
        "https://kruxos.example.com.");
  if (tls && url.starts_with("http:"))
    throw ConfigError(fmt::format("server.sign_in.public_url: {} is no https address, and the host listens with TLS.",
                                  printable(url)));
}

void check_whole(const Config& config) {
  const auto& server = config.server;
  if (server.tls_certificate.empty() != server.tls_key.empty())
    throw ConfigError("server.tls: certificate and key belong together; give both or none.");
  if (server.tls_certificate.empty() && server.host != "localhost" && !is_loopback(server.host) &&
      !server.allow_plain_http)
    throw ConfigError(fmt::format(
        "server.host: {} can be reached by other machines, and agents' keys would travel there unencrypted. Give "
        "server.tls.certificate and server.tls.key, or, where something in front of the host does TLS, set "
        "server.allow_plain_http to true.",
        printable(server.host)));
  check_sign_in(server);
  if (server.port != 0 && server.port == server.health_port)
    throw ConfigError(fmt::format("server.port and server.health_port are both {}; choose two ports.", server.port));
}

}  // namespace

Config load_config(const fs::path& file, const std::vector<std::string>& environment,
                   const std::vector<std::string>& flags, const fs::path& executable) {
  Config config;
  set_default_directories(config, executable);
  Loader loader(config);
  if (!file.empty()) loader.file(file);
  for (const auto& variable : environment) loader.variable(variable);
  for (const auto& flag : flags) loader.flag(flag);
  loader.finish();
  if (config.bundles_dir.empty()) config.bundles_dir = config.data_dir / "bundles";
  const auto keys = config.vault_key_file.parent_path();
  if (config.audit.key_file.empty()) config.audit.key_file = keys / "audit.key";
  if (config.audit.anchor_file.empty()) config.audit.anchor_file = keys / "audit.heads";
  if (config.webhook.secret_file.empty()) config.webhook.secret_file = keys / "webhook.secret";
  check_whole(config);
  for (const auto& setting : host_settings())
    config.shown.try_emplace(std::string(setting.key), Config::Shown{setting.json(config), "default"});
  return config;
}

std::string config_json(const Config& config) {
  std::string out;
  for (const auto& [key, shown] : config.shown) {
    out += out.empty() ? "{" : ",";
    out +=
        fmt::format(R"({}:{{"value":{},"origin":{}}})", json_string(key), shown.value_json, json_string(shown.origin));
  }
  return out + "}";
}

}  // namespace krux
