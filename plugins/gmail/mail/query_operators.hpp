// What the operators of a query mean, apart from the grammar that puts them together.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "query.hpp"

namespace gmail {

/// Why a part of a query cannot be read; `offset` is its first byte in the query. Does not leave parse_query.
class QueryProblem : public std::runtime_error {
 public:
  QueryProblem(std::size_t offset, const std::string& why) : std::runtime_error(why), offset_(offset) {}
  std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_;
};

struct Operator;
/// `name`: without the colon, in any case. Null where there is none of that name.
const Operator* find_operator(std::string_view name);
std::string_view name_of(const Operator& op);

/// Throws QueryProblem at `offset` where the operator takes no such value. `value` is not empty.
Term term_of(const Operator& op, std::string_view value, std::size_t offset, std::int64_t now_ms);

/// "there is no operator 'form:'; did you mean 'from:'? …"
std::string unknown_operator(std::string_view name);
/// "'from:' needs …, such as …"
std::string needs_value(const Operator& op);

/// A day of after: and before: as Unix milliseconds, or nothing: 2024/02/29, 02/29/2024, with "-" and "." too, or Unix
/// seconds.
std::optional<std::int64_t> day_ms(std::string_view text);
/// `7d`, `3m`, `1y` before `now_ms`, or nothing. Months and years are the calendar's.
std::optional<std::int64_t> age_ms(std::string_view text, std::int64_t now_ms);

std::string lower(std::string_view text);  ///< ASCII letters alone

}  // namespace gmail
