#include "core/audit/chain.hpp"
#include "core/audit/verify.hpp"
#include "core/util/json_out.hpp"

namespace krux {

std::string audit_check_json(const AuditCheck& check) {
  return json_object([&](JsonWriter& out) {
    put(out, "whole", check.whole());
    put(out, "log_id", check.log_id);
    put(out, "rows", check.rows);
    put(out, "first", check.first);
    put(out, "last", check.last);
    put(out, "head_hash", hash_hex(check.head));
    put(out, "heads", check.heads);
    if (check.heads > 0) {
      put(out, "newest_head", check.newest_head);
      put(out, "newest_head_at_ms", check.newest_head_ms);
    }
    put_objects(out, "problems", check.problems, [&](const AuditProblem& problem) {
      put(out, "seq", problem.seq);
      put(out, "kind", problem.kind);
      put(out, "message", problem.message);
    });
    if (check.more_problems) put(out, "more_problems", true);
    put(out, "notes", check.notes);
  });
}

}  // namespace krux
