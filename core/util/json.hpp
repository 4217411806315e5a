// RapidJSON as this project uses it. Parsing is iterative (the recursive parser overflows the stack on deep nesting),
// checks UTF-8, and is limited in depth.
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#if defined(RAPIDJSON_SSE2) || defined(RAPIDJSON_SSE42) || defined(RAPIDJSON_NEON)
#error "RapidJSON 1.1.0 writes 0x1a to 0x1f raw with its vector instructions, which is no JSON: do not define these."
#endif

namespace krux {

using JsonValue = rapidjson::Value;
using JsonDocument = rapidjson::Document;
using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

/// What becomes of U+0000 and of halves of surrogate pairs, which JSON's escapes can spell and texts cannot hold.
enum class OddText {
  kRefused,   ///< the JSON is not valid
  kReplaced,  ///< each becomes U+FFFD: for what services say
  kKept,      ///< they stand in the values, for whoever refuses them by field: see find_odd_text()
};

struct JsonLimits {
  std::size_t max_bytes = 1 << 20;
  int max_depth = 32;
  OddText odd_text = OddText::kRefused;
  std::size_t max_keys = std::numeric_limits<std::size_t>::max();  ///< of one object
};

/// Parses one JSON text, and nothing behind it but white space. Throws krux::Error InvalidInput: "`what` is not valid
/// JSON: ... at byte N". Duplicate keys are refused.
JsonDocument parse_json(std::string_view text, std::string_view what, const JsonLimits& limits = {});

/// Whether `text` is one valid JSON object within the limits, without building a document; the reason goes to `why`.
bool is_json_object(std::string_view text, const JsonLimits& limits = {}, std::string* why = nullptr);

/// Makes the escapes of U+0000 and of halves of surrogate pairs in `json` those of U+FFFD; returns how many there were.
/// Offsets stay what they were.
std::size_t replace_odd_escapes(std::span<char> json);
/// The same, but halves stay: each becomes one that RapidJSON reads. For OddText::kKept by other parsers than these.
void make_halves_readable(std::span<char> json);

/// Why no service takes `text`, to be put behind its name: it holds U+0000 or half of a surrogate pair; empty: it is
/// good. `text` is UTF-8 but for such halves.
std::string why_odd_text(std::string_view text);
/// The first text of `value` (it, a member of it, a key) that why_odd_text() has something against: where it stands,
/// beginning with `name` ("to[2]"), and why.
struct OddTextFound {
  std::string where, why;
};
std::optional<OddTextFound> find_odd_text(const JsonValue& value, std::string_view name);

std::string to_json(const JsonValue& value);

/// RFC 8785 (JCS): sorted keys, shortest numbers, no white space. What content hashes are made of. Throws InvalidInput
/// for numbers that JCS cannot represent (beyond IEEE 754 double).
std::string canonical_json(const JsonValue& value);

/// `text` as a JSON string literal, quotes included.
std::string json_string(std::string_view text);

// Members, or nothing when they are missing or of another type.
const JsonValue* find_member(const JsonValue& object, std::string_view name);
std::optional<std::string_view> find_string(const JsonValue& object, std::string_view name);
std::optional<std::int64_t> find_int(const JsonValue& object, std::string_view name);
std::optional<bool> find_bool(const JsonValue& object, std::string_view name);

inline std::string_view view(const JsonValue& string_value) {
  return {string_value.GetString(), string_value.GetStringLength()};
}

}  // namespace krux
