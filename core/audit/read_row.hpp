// A row of audit.db as it is read.
#pragma once

#include <string_view>

#include "core/audit/chain.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// What read_chained_row() reads of a statement: "SELECT " + kRowColumns + " FROM entries ...".
inline constexpr std::string_view kRowColumns =
    "seq, at_ms, source, kind, agent_id, service, account_id, write_id, body, prev, hash";

/// What it points to lives until the statement's next step.
struct ReadRow {
  AuditRowView row;
  AuditHash prev{}, hash{};
};

inline ReadRow read_chained_row(const Statement& s) {
  ReadRow read;
  read.row = {s.integer(0), s.integer(1), s.integer(2), s.text(3), s.text(4),
              s.text(5),    s.text(6),    s.text(7),    s.text(8)};
  read.prev = hash_of_blob(s.blob(9)).value_or(AuditHash{});
  read.hash = hash_of_blob(s.blob(10)).value_or(AuditHash{});
  return read;
}

}  // namespace krux
