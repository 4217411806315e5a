// What a text has that can be told apart from all else: addresses, links, codes and numbers. By its form alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krux {

enum class ValueKind : std::uint8_t {
  kAddress,  ///< "amy@example.com", in small letters
  kLink,     ///< its host in small letters, without "www."
  kCode,     ///< six to nineteen digits, also in groups ("5582-9017"), without what separates them; or eight and more
             ///< letters and digits with two of each at least, in small letters
  kPhone,    ///< "+49 (171) 123-4567": its last nine digits, since what stands before differs by where one calls from
};

struct TextValue {
  ValueKind kind;
  std::string text;
  std::size_t at = 0, size = 0;  ///< where it stands in the text that was looked at

  bool operator==(const TextValue& other) const { return kind == other.kind && text == other.text; }
};

/// At most `most` of them, as they stand there. Days ("2026-11-26") and times are no codes.
std::vector<TextValue> values_in(std::string_view text, std::size_t most);

/// Whether members of that name name or date something, so that what looks like a code there is none.
bool names_or_dates(std::string_view key);
/// The same of all texts of a JSON document that is known to be valid, but for codes in members that name or date
/// something (`id`, `…_id`, `ts`, `…_ts`, `date`, `…_at`, `…offset`, `cursor`).
std::vector<TextValue> values_in_json(std::string_view json, std::size_t most);

}  // namespace krux
