#include "core/bundle/conformance.hpp"

#include <fmt/format.h>
#include <rapidjson/pointer.h>

#include <algorithm>

#include "core/bundle/placeholders.hpp"
#include "core/definition/base_url.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

/// Refuses placeholders other than these; an empty list stands for all that the kit knows.
void check_placeholders(const YamlValue& value, std::string_view text, const std::vector<std::string>& allowed = {}) {
  for (const auto& name : placeholders_in(text)) {
    const bool listed = std::find(allowed.begin(), allowed.end(), name) != allowed.end();
    if (allowed.empty() ? is_known_placeholder(name) : listed) continue;
    if (!allowed.empty())
      value.fail(fmt::format("{{{}}} is not filled in here; {{{}}} is.", name, fmt::join(allowed, "}, {")));
    value.fail(
        fmt::format("{{{}}} is not known: {{port}}, {{token}}, {{n}}, {{write_id}}, {{before.X}}, {{params.X}} "
                    "and {{result.X}} are.",
                    name));
  }
}

std::string with_port(const std::string& text) {
  return fill_placeholders(
      text, [](std::string_view name) { return name == "port" ? std::optional<std::string>("1") : std::nullopt; });
}

std::string checked_json(const YamlValue& value, bool object) {
  auto json = value.json();
  check_placeholders(value, json);
  if (object && value.node().kind != YamlNode::Kind::kMap) value.fail("a mapping (name: value) is expected here.");
  return json;
}

void check_path(const YamlValue& value, const std::string& path) {
  if (path.empty() || path.front() != '/' || path.starts_with("//") || path.find_first_of(" #\\") != std::string::npos)
    value.fail("the path starts with one '/' and has no spaces: it counts from the fake service's root.");
  check_placeholders(value, path);
}

std::string parse_method(const YamlValue& value, const std::string& text) {
  for (const std::string_view known : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    if (text == known) return text;
  }
  value.fail(fmt::format("\"{}\" is not one of GET, POST, PUT, PATCH, DELETE.", printable(text)));
}

/// "GET /path", or {method, path, body}.
BundleRequest parse_request(const YamlValue& value) {
  BundleRequest request;
  if (value.node().kind == YamlNode::Kind::kScalar) {
    const auto text = value.line(2000);
    const auto space = text.find(' ');
    if (space == std::string::npos) value.fail("write a request as \"GET /path\", or as {method, path, body}.");
    request.method = parse_method(value, text.substr(0, space));
    request.path = text.substr(space + 1);
    check_path(value, request.path);
    return request;
  }
  const YamlMap map(value, {"method", "path", "body"});
  const auto path = map.at("path");
  request.path = path.line(2000);
  check_path(path, request.path);
  if (auto v = map.find("body")) request.body_json = checked_json(*v, false);
  request.method = request.body_json.empty() ? "GET" : "POST";
  if (auto v = map.find("method")) request.method = parse_method(*v, v->text(10));
  return request;
}

std::vector<BundleRequest> parse_requests(const YamlValue& value) {
  std::vector<BundleRequest> requests;
  for (const auto& item : value.list(100)) requests.push_back(parse_request(item));
  return requests;
}

BundleMeasure parse_measure(const YamlValue& value) {
  const YamlMap map(value, {"request", "at"});
  BundleMeasure measure{parse_request(map.at("request")), {}};
  if (auto v = map.find("at")) {
    measure.pointer = v->text(500);
    if (!rapidjson::Pointer(measure.pointer).IsValid())
      v->fail("this is no JSON pointer: write \"/notes\", \"/state/posts\", or \"\" for the whole answer.");
  }
  return measure;
}

BundleWrite parse_write(const YamlValue& name, const YamlValue& value) {
  const YamlMap map(value, {"params", "before", "effects", "state", "change", "find"});
  BundleWrite write;
  write.operation = name.line(100);
  if (auto v = map.find("params")) write.params_json = checked_json(*v, true);
  if (auto v = map.find("before")) write.before = parse_requests(*v);
  if (auto v = map.find("effects")) write.effects = parse_measure(*v);
  if (auto v = map.find("state")) write.state = parse_measure(*v);
  if (auto v = map.find("change")) write.change = parse_requests(*v);
  if (auto v = map.find("find")) write.can_find = v->choice_of<bool>({{"exact", true}, {"cannot_tell", false}});
  return write;
}

/// An address on this machine, with {port} in it.
std::string parse_local_url(const YamlValue& value, bool base) {
  auto text = value.line(500);
  check_placeholders(value, text, {"port"});
  if (text.find("{port}") == std::string::npos) value.fail("the address has no {port}; the kit chooses the port.");
  const auto sample = with_port(text);
  const bool local = sample.starts_with("http://127.") || sample.starts_with("http://[::1]");
  if (!local) value.fail("the fake service must be reached at http://127.0.0.1:{port}/.");
  if (base) {
    if (const auto why = why_not_base_url(sample); !why.empty()) value.fail(why);
  }
  return text;
}

std::string parse_token(const YamlValue& value) {
  auto text = value.line(500);
  // The kit fills in {random} itself; it stands nowhere else.
  for (const auto& name : placeholders_in(text)) {
    if (name != "random") value.fail("only {random} is filled in here: 32 hexadecimal digits.");
  }
  for (const char c : text) {
    if (c <= ' ' || c > '~') value.fail("a token has no spaces, and ASCII letters alone.");
  }
  return text;
}

}  // namespace

BundleConformance parse_conformance(const YamlValue& value) {
  const YamlMap map(value, {"fake_service", "ready", "api_base_url", "token", "account", "config", "settings",
                            "prepare", "changes", "expire_cursors", "reads", "writes"});
  BundleConformance out;
  const auto command = map.at("fake_service");
  for (const auto& item : command.list(100)) {
    out.fake_service.push_back(item.line(2000));
    check_placeholders(item, out.fake_service.back(), {"port", "token"});
  }
  if (out.fake_service.empty()) command.fail("the list is empty.");
  out.api_base_url = parse_local_url(map.at("api_base_url"), true);
  out.ready = parse_local_url(map.at("ready"), false);
  out.token = "{random}";
  if (auto v = map.find("token")) out.token = parse_token(*v);
  if (auto v = map.find("account")) out.account = v->line(256);
  if (auto v = map.find("config")) out.config_json = checked_json(*v, true);
  if (auto v = map.find("settings")) {
    for (const auto& [name, text] : v->entries()) out.settings[name.line(32)] = text.line(1000);
  }
  if (auto v = map.find("prepare")) out.prepare = parse_requests(*v);
  if (auto v = map.find("changes")) out.changes = parse_requests(*v);
  if (auto v = map.find("expire_cursors")) out.expire_cursors = parse_request(*v);
  if (auto v = map.find("reads")) {
    for (const auto& [name, params] : v->entries()) out.reads[name.line(100)] = checked_json(params, true);
  }
  if (auto v = map.find("writes")) {
    for (const auto& [name, write] : v->entries()) out.writes.push_back(parse_write(name, write));
  }
  return out;
}

}  // namespace krux
