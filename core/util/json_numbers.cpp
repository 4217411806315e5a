#include "core/util/json_numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace krux {
namespace {

/// Nothing where it is none of that type.
template <class Number>
std::optional<JsonNumber> number_in(std::string_view text) {
  Number number{};
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional<JsonNumber>(number) : std::nullopt;
}

}  // namespace

std::optional<JsonNumber> read_json_number(std::string_view text) {
  if (text.find_first_of(".eE") == std::string_view::npos) {
    if (const auto whole = number_in<std::int64_t>(text)) return whole;
    if (const auto whole = number_in<std::uint64_t>(text)) return whole;
  }
  if (const auto number = number_in<double>(text)) return number;
  // Beyond a double's range: what is next to nothing is 0.
  const double rounded = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(rounded) ? std::optional<JsonNumber>(rounded) : std::nullopt;
}

}  // namespace krux
