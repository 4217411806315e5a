// What a query or a form holds (application/x-www-form-urlencoded), taken strictly.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krux {

class FormValues {
 public:
  /// Nothing where an escape is broken, or hides a NUL or what is no UTF-8, or where there are more than 100 pairs.
  static std::optional<FormValues> parse(std::string_view text);

  /// An empty value is none (RFC 6749, 3.1). Of a name that stands twice the first one: see repeated().
  std::optional<std::string> find(const std::string& name) const;
  std::string get(const std::string& name) const { return find(name).value_or(""); }
  std::vector<std::string> all(const std::string& name) const;
  /// The first of `names` that stands twice; empty: none does.
  std::string repeated(std::initializer_list<const char*> names) const;

 private:
  std::map<std::string, std::vector<std::string>> values_;  ///< without empty ones
};

}  // namespace krux
