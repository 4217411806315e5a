// "Approve the like": giving, showing and ending standing approvals.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/capability/capability_handler.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {

Ledger::Like OperatorService::like_of(const std::string& write_id, const StandingTerms& terms) {
  auto scope = parts_.handler.standing_scope(existing(write_id));
  if (const auto* why = std::get_if<std::string>(&scope))
    throw conflict(fmt::format("Nothing can be approved as the like of {}, so nothing was decided. {} Accept it alone.",
                               printable(write_id), *why));
  return {std::get<StandingScope>(std::move(scope)), terms};
}

void OperatorService::put_like(JsonWriter& out, const WriteRecord& write) const {
  if (write.state != WriteState::kPendingApproval || !write.rolls_back.empty()) return;
  const auto scope = parts_.handler.standing_scope(write);
  put_key(out, "like");
  out.StartObject();
  if (const auto* why = std::get_if<std::string>(&scope)) {
    put(out, "why_not", *why);
  } else {
    put(out, "reaches", std::get<StandingScope>(scope).reaches);
  }
  out.EndObject();
}

std::string OperatorService::standing_approvals() {
  return json_object([&](JsonWriter& out) {
    put_objects(out, "standing_approvals", parts_.writes.standing.list(), [&](const StandingApproval& one) {
      const auto& scope = one.scope;
      const auto agent = parts_.agents.find(scope.agent_id);
      put(out, "standing_id", one.standing_id);
      put(out, "agent_id", scope.agent_id);
      put(out, "agent", agent ? agent->name : scope.agent_id);
      put(out, "service", scope.account.service);
      put(out, "account_id", scope.account.account_id);
      put(out, "operation", scope.operation);
      put(out, "reaches", scope.reaches);
      put(out, "asked_by", scope.asked_by);
      put(out, "write_id", one.write_id);
      put(out, "granted_by", one.granted_by);
      put(out, "granted_at_ms", one.granted_at_ms);
      put(out, "until_ms", one.until_ms);
      put(out, "most", one.most);
      put(out, "used", one.used);
    });
  });
}

std::string OperatorService::end_standing_approval(const std::string& standing_id, const std::string& who) {
  if (!parts_.writes.standing.end(standing_id, who))
    throw not_found(fmt::format("No standing approval {} is in force: kruxos approve standing shows those that are.",
                                printable(standing_id)));
  spdlog::info("{} ended the standing approval {}", who, standing_id);
  return json_object([&](JsonWriter& out) { put(out, "ended", standing_id); });
}

}  // namespace krux
