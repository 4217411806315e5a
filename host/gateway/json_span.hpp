// Takes a JSON text apart without building a document: agents' requests are checked once and their parts handed on as
// the very text that arrived.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/json.hpp"

namespace krux {

enum class JsonKind { kNull, kBool, kNumber, kString, kObject, kArray };

/// A part of a valid JSON text, and lives as long as that does.
struct JsonSpan {
  JsonKind kind = JsonKind::kNull;
  std::string_view raw;  ///< as it stood, quotes included
  std::string text;      ///< strings: unescaped; may hold what why_odd_text() refuses, whose field the caller knows
};

struct JsonMember {
  std::string name;  ///< empty in an array
  JsonSpan value;
};

struct JsonParts {
  JsonKind kind = JsonKind::kNull;
  std::vector<JsonMember> members;  ///< of an object or an array, in order; of an array the first kMaxParts
  std::size_t count = 0;            ///< how many there are

  const JsonSpan* find(std::string_view name) const;
};

inline constexpr std::size_t kMaxParts = 256;

/// The text's members, or nothing and in `why` the reason: no JSON, no UTF-8, a NUL byte, too long, nested too deep, or
/// an object (the outermost one; its members' own are looked at when they are taken apart) with more than kMaxParts
/// keys or one that stands twice.
std::optional<JsonParts> take_apart(std::string_view text, const JsonLimits& limits, std::string& why);

}  // namespace krux
