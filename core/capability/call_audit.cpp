#include "core/capability/call_audit.hpp"

#include "core/account/account_ref.hpp"
#include "core/audit/audit_log.hpp"
#include "core/capability/audited_decision.hpp"
#include "core/capability/capability_handler.hpp"
#include "core/policy/rules/decider.hpp"
#include "core/util/json_out.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestName = 100;

}  // namespace

void CallAudit::is(const ServiceDefinition& definition, const CapabilityDefinition& capability) {
  const std::lock_guard lock(mutex_);
  capability_ = capability.name;
  version_ = definition.version;
  tier_ = to_string(capability.tier);
}

void CallAudit::given(const JsonValue& params) {
  auto json = redacted_json(params);
  const std::lock_guard lock(mutex_);
  parameters_json_ = std::move(json);
}

void CallAudit::decided(std::string decision_json) {
  const std::lock_guard lock(mutex_);
  decision_json_ = std::move(decision_json);
}

void CallAudit::fetched(std::uint32_t requests) {
  const std::lock_guard lock(mutex_);
  requests_ = requests;
}

void CallAudit::answered_by(const std::string& write_id) {
  const std::lock_guard lock(mutex_);
  write_id_ = write_id;
}

void CallAudit::stands_with_its_write() {
  const std::lock_guard lock(mutex_);
  told_ = true;
}

void CallAudit::ended(const Invocation& invocation, const AccountRef* account, const ErrorType& type) {
  const std::lock_guard lock(mutex_);
  if (told_) return;
  told_ = true;
  AuditEntry entry;
  entry.kind = "call";
  entry.agent_id = invocation.agent_id;
  entry.write_id = write_id_;
  if (account) {
    entry.service = account->service;
    entry.account_id = account->account_id;
  }
  entry.body = json_object([&](JsonWriter& out) {
    put(out, "capability",
        capability_.empty() ? std::string_view(invocation.capability).substr(0, kLongestName) : capability_);
    put(out, "outcome", type ? type.name() : std::string_view("ok"));
    if (!invocation.session_id.empty()) put(out, "session_id", invocation.session_id);
    put(out, "arguments_hash", sha256_hex(invocation.arguments_json));
    if (requests_ > 0) put(out, "requests", std::int64_t{requests_});
    if (!decision_json_.empty()) {
      put_raw(out, "decision", decision_json_);
    } else if (!capability_.empty()) {
      put_key(out, "decision");
      out.StartObject();
      put(out, "tier", tier_);
      put_definition_decider(out, version_, capability_);
      out.EndObject();
    }
    if (!parameters_json_.empty()) put_raw(out, "parameters", parameters_json_);
  });
  log_.add(std::move(entry));
}

}  // namespace krux
