#include "host/operator/audited_action.hpp"

#include "core/audit/audit_log.hpp"
#include "core/util/json_out.hpp"
#include "host/http/http_types.hpp"

namespace krux {
namespace {

std::string action_of(const ServerRequest& request, std::string_view pattern, const std::vector<std::string>& names) {
  auto action = request.method + " ";
  auto name = names.begin();
  for (const char c : pattern) {
    if (c == '*' && name != names.end()) {
      action += printable(*name++);
    } else {
      action += c;
    }
  }
  return action;
}

}  // namespace

AuditedAction::AuditedAction(AuditLog* log, const ServerRequest& request, std::string_view pattern,
                             const std::vector<std::string>& names, const std::string& who)
    : log_(request.method == "GET" ? nullptr : log), who_(who) {
  if (!log_) return;
  action_ = action_of(request, pattern, names);
  tell("asked");
  log_->flush();
}

AuditedAction::~AuditedAction() {
  if (!log_) return;
  tell(outcome_);
  log_->flush();
}

void AuditedAction::tell(std::string_view outcome) const {
  AuditEntry entry;
  entry.kind = "operator";
  entry.body = json_object([&](JsonWriter& out) {
    put(out, "who", who_);
    put(out, "action", action_);
    put(out, "outcome", outcome);
  });
  log_->add(std::move(entry));
}

}  // namespace krux
