// Signed heads of the audit log in a file outside of the data directory: what is cut off the log's end shows there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/outbox.hpp"

namespace krux {

class SigningKey;

struct Anchor {
  std::string log_id, key, signature;
  AuditHead head;
  std::int64_t at_ms = 0;
};

Anchor make_anchor(const SigningKey& key, std::string_view log_id, const AuditHead& head, std::int64_t at_ms);
/// Whether its own key has signed it.
bool is_signed(const Anchor& anchor);

/// As it is written: one JSON object {"log_id", "seq", "hash", "at_ms", "key", "signature"}.
std::string anchor_json(const Anchor& anchor);

/// One line is appended, durable on return. Throws krux::Error DatabaseError.
void append_anchor(const std::filesystem::path& file, const Anchor& anchor);
/// Those of that log, of all logs where it is empty, in the order of the lines. `unreadable`: how many lines
/// are none. A file that is not there has none. Throws krux::Error InvalidInput where it cannot be read.
std::vector<Anchor> read_anchors(const std::filesystem::path& file, std::string_view log_id, std::int64_t& unreadable);

}  // namespace krux
