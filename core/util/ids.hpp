// Identifiers: a prefix and a UUIDv7 (RFC 9562), so that they sort by the time they were made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace krux {

/// "w_0192f0c1-...": `prefix` is one of "w_", "appr_", "sess_", "rb_", "cu_". Random bits come from the system.
std::string make_id(std::string_view prefix, std::int64_t wall_ms);

/// An id that can be found by a number: `order` is Unix milliseconds times 4096 plus a counter, and stands in the
/// UUID's first 64 bits (RFC 9562, 6.2 method 1). The other bits are random.
std::string make_ordered_id(std::string_view prefix, std::int64_t order);
/// The `order` of such an id; nothing for a text that is none.
std::optional<std::int64_t> order_of_id(std::string_view prefix, std::string_view id);

/// Whether `text` is `prefix` followed by a UUID in its canonical lower-case form.
bool is_id(std::string_view prefix, std::string_view text);

/// `count` random bytes as lower-case hexadecimal. Fit for keys.
std::string random_hex(std::size_t count);

}  // namespace krux
