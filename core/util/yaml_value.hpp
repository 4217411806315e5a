// One value of a YAML file, read as the type that is expected there. Every refusal is a ConfigError
// "file:line:column: path: what is wrong and what is accepted".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/util/yaml_tree.hpp"

namespace krux {

/// Borrows the node.
class YamlValue {
 public:
  /// `path` names the value in sentences ("inputs[2].default"); empty for the whole file.
  YamlValue(const YamlNode& node, std::string file, std::string path)
      : node_(&node), file_(std::move(file)), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& message) const;

  const YamlNode& node() const { return *node_; }
  const std::string& path() const { return path_; }
  /// "file:line"; the file's name alone where the node has no line (0: it does not come from a file).
  std::string place() const;

  /// A scalar's text, without control characters other than line feeds and tabs.
  std::string text(std::size_t max_length = 4000) const;
  /// text() that is not empty and stays on one line.
  std::string line(std::size_t max_length = 500) const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  double number(double least, double most) const;
  bool boolean() const;
  /// "250 ms", "30 s", "5 min", "24 h", "7 d", in milliseconds.
  std::int64_t duration_ms(std::int64_t least_ms, std::int64_t most_ms) const;
  /// A plain number of seconds, fractions allowed, in milliseconds.
  std::int64_t seconds_as_ms(std::int64_t least_ms, std::int64_t most_ms) const;
  /// One of `names`; returns its index.
  std::size_t choice(const std::vector<std::string>& names) const;
  std::vector<YamlValue> list(std::size_t max_items = 1000) const;
  std::vector<std::string> lines(std::size_t max_items = 1000) const;
  /// Key and value of a map with any keys.
  std::vector<std::pair<YamlValue, YamlValue>> entries() const;
  /// As one JSON value: plain scalars become numbers, true, false and null where they look like them.
  std::string json() const;

  template <class Enum>
  Enum choice_of(std::initializer_list<std::pair<const char*, Enum>> names) const {
    std::vector<std::string> texts;
    for (const auto& [text, value] : names) texts.emplace_back(text);
    return (names.begin() + choice(texts))->second;
  }

 private:
  std::string file_path(const std::string& below) const;
  const YamlNode* node_;
  std::string file_, path_;
};

/// A map whose keys are all known.
class YamlMap {
 public:
  YamlMap(const YamlValue& value, std::vector<std::string> allowed);

  std::optional<YamlValue> find(std::string_view key) const;  ///< nothing also where the key has no value
  YamlValue at(std::string_view key) const;                   ///< refused when missing
  const YamlValue& value() const { return value_; }

 private:
  YamlValue value_;
  std::vector<std::pair<YamlValue, YamlValue>> entries_;
};

}  // namespace krux
