#include "core/util/yaml_value.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

using Kind = YamlNode::Kind;

const char* kind_in_words(const YamlNode& node) {
  switch (node.kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return "a single value";
    case Kind::kSequence:
      return "a list";
    case Kind::kMap:
      return "a mapping";
  }
  return "something else";
}

std::string join(const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Short enough for a sentence, and safe to print.
std::string shown(std::string_view text) {
  return printable(text.substr(0, 80)) + (text.size() > 80 ? "..." : "");
}

std::string in_words(std::int64_t ms) {
  for (const auto& [unit, length] : {std::pair{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1000}}) {
    if (ms >= length && ms % length == 0) return fmt::format("{} {}", ms / length, unit);
  }
  return fmt::format("{} ms", ms);
}

std::optional<std::int64_t> unit_ms(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{
      {{"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
  for (const auto& [name, ms] : units) {
    if (name == unit) return ms;
  }
  return std::nullopt;
}

}  // namespace

void YamlValue::fail(const std::string& message) const {
  throw ConfigError(fmt::format("{}{}: {}{}{}", place(), node_->line > 0 ? fmt::format(":{}", node_->column) : "",
                                printable(path_), path_.empty() ? "" : ": ", message));
}

std::string YamlValue::place() const {
  return node_->line > 0 ? fmt::format("{}:{}", file_, node_->line) : file_;
}

std::string YamlValue::file_path(const std::string& below) const {
  return path_.empty() ? below : path_ + "." + below;
}

std::string YamlValue::text(std::size_t max_length) const {
  if (node_->kind != Kind::kScalar) fail(fmt::format("a text is expected here, not {}.", kind_in_words(*node_)));
  if (node_->text.size() > max_length)
    fail(fmt::format("the text has {} bytes, at most {} are accepted.", node_->text.size(), max_length));
  for (const char c : node_->text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
      fail("the text has a control character in it; remove it.");
  }
  return node_->text;
}

std::string YamlValue::line(std::size_t max_length) const {
  auto value = text(max_length);
  if (value.empty()) fail("the text is empty.");
  if (value.find_first_of("\n\t") != std::string::npos) fail("the text must stay on one line.");
  return value;
}

std::int64_t YamlValue::integer(std::int64_t least, std::int64_t most) const {
  const auto value =
      node_->kind == Kind::kScalar && !node_->quoted ? parse_number<std::int64_t>(node_->text) : std::nullopt;
  if (!value) fail(fmt::format("a whole number from {} to {} is expected here.", least, most));
  if (*value < least || *value > most) fail(fmt::format("{} is not from {} to {}.", *value, least, most));
  return *value;
}

double YamlValue::number(double least, double most) const {
  const auto value = node_->kind == Kind::kScalar && !node_->quoted ? parse_number<double>(node_->text) : std::nullopt;
  if (!value || !std::isfinite(*value)) fail(fmt::format("a number from {} to {} is expected here.", least, most));
  if (*value < least || *value > most) fail(fmt::format("{} is not from {} to {}.", *value, least, most));
  return *value;
}

bool YamlValue::boolean() const {
  if (node_->kind == Kind::kScalar && !node_->quoted) {
    if (node_->text == "true") return true;
    if (node_->text == "false") return false;
  }
  fail("true or false is expected here.");
}

std::int64_t YamlValue::duration_ms(std::int64_t least_ms, std::int64_t most_ms) const {
  const auto value = text(40);
  const auto digits = value.find_first_not_of("0123456789.");
  const auto amount = parse_number<double>(std::string_view(value).substr(0, digits));
  const auto letters = digits == std::string::npos ? digits : value.find_first_not_of(' ', digits);
  const auto unit = letters == std::string::npos ? std::nullopt : unit_ms(std::string_view(value).substr(letters));
  if (!amount || !unit)
    fail(fmt::format("\"{}\" is not a time span: a number and one of ms, s, min, h, d is expected, such as 30 s.",
                     shown(value)));
  const double ms = *amount * static_cast<double>(*unit);
  if (!(ms >= static_cast<double>(least_ms) && ms <= static_cast<double>(most_ms)))
    fail(fmt::format("\"{}\" is not from {} to {}.", shown(value), in_words(least_ms), in_words(most_ms)));
  return std::llround(ms);
}

std::int64_t YamlValue::seconds_as_ms(std::int64_t least_ms, std::int64_t most_ms) const {
  return std::llround(number(static_cast<double>(least_ms) / 1000, static_cast<double>(most_ms) / 1000) * 1000);
}

std::size_t YamlValue::choice(const std::vector<std::string>& names) const {
  const auto value = text();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == value) return i;
  }
  fail(fmt::format("\"{}\" is not one of {}{}.", shown(value), join(names), did_you_mean(value, names)));
}

std::vector<YamlValue> YamlValue::list(std::size_t max_items) const {
  if (node_->kind != Kind::kSequence) fail(fmt::format("a list is expected here, not {}.", kind_in_words(*node_)));
  if (node_->items.size() > max_items)
    fail(fmt::format("the list has {} entries, at most {} are accepted.", node_->items.size(), max_items));
  std::vector<YamlValue> values;
  for (std::size_t i = 0; i < node_->items.size(); ++i)
    values.emplace_back(node_->items[i], file_, fmt::format("{}[{}]", path_, i));
  return values;
}

std::vector<std::string> YamlValue::lines(std::size_t max_items) const {
  std::vector<std::string> texts;
  for (const auto& value : list(max_items)) {
    texts.push_back(value.line());
    for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
      if (texts[i] == texts.back()) value.fail(fmt::format("\"{}\" stands in the list twice.", shown(texts.back())));
    }
  }
  return texts;
}

std::vector<std::pair<YamlValue, YamlValue>> YamlValue::entries() const {
  if (node_->kind != Kind::kMap)
    fail(fmt::format("a mapping (key: value) is expected here, not {}.", kind_in_words(*node_)));
  std::vector<std::pair<YamlValue, YamlValue>> all;
  for (std::size_t i = 0; i < node_->keys.size(); ++i) {
    all.emplace_back(YamlValue(node_->keys[i], file_, path_),
                     YamlValue(node_->items[i], file_, file_path(node_->keys[i].text)));
  }
  return all;
}

std::string YamlValue::json() const {
  std::string out;
  switch (node_->kind) {
    case Kind::kNull:
      return "null";
    case Kind::kSequence:
      for (const auto& item : list()) out += (out.empty() ? "[" : ",") + item.json();
      return out.empty() ? "[]" : out + "]";
    case Kind::kMap:
      for (const auto& [key, value] : entries())
        out += (out.empty() ? "{" : ",") + json_string(key.text()) + ":" + value.json();
      return out.empty() ? "{}" : out + "}";
    case Kind::kScalar:
      break;
  }
  if (node_->quoted) return json_string(text());
  if (node_->text == "true" || node_->text == "false" || parse_number<std::int64_t>(node_->text)) {
    // "-0" and "007" are numbers to YAML, not to JSON.
    const auto number = parse_number<std::int64_t>(node_->text);
    return number ? fmt::format("{}", *number) : node_->text;
  }
  const auto number = parse_number<double>(node_->text);
  return number && std::isfinite(*number) ? fmt::format("{}", *number) : json_string(text());
}

YamlMap::YamlMap(const YamlValue& value, std::vector<std::string> allowed) : value_(value), entries_(value.entries()) {
  for (const auto& [key, item] : entries_) {
    const auto& name = key.node().text;
    bool known = false;
    for (const auto& a : allowed) known = known || a == name;
    if (!known)
      key.fail(fmt::format("the key \"{}\" is not known here{}. Keys are: {}.", shown(name),
                           did_you_mean(name, allowed), join(allowed)));
  }
}

std::optional<YamlValue> YamlMap::find(std::string_view key) const {
  for (const auto& [name, item] : entries_) {
    if (name.node().text == key && item.node().kind != Kind::kNull) return item;
  }
  return std::nullopt;
}

YamlValue YamlMap::at(std::string_view key) const {
  if (auto item = find(key)) return *item;
  value_.fail(fmt::format("the key \"{}\" is missing.", key));
}

}  // namespace krux
