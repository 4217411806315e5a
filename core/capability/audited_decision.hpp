// What the audit log keeps of a decision of policy: who decided, and what was looked at. docs/audit.md
#pragma once

#include <string>
#include <string_view>

#include "core/capability/call_rules.hpp"

namespace krux {

/// Of whose definition; what was called, and what that counts as (mostly itself).
struct JudgedCall {
  const ServiceDefinition& definition;
  const CapabilityDefinition &capability, &counted;
};

/// {"tier", "decided_by", "delay_by", "limits", "facts", "looked_at"}. `looked_at_json`: one object; empty: left out.
std::string decision_json(const Ruling& ruling, const CapabilityDefinition& counted, std::string_view version,
                          const std::string& looked_at_json);

/// The same with what was looked at.
std::string audited_decision_json(const Ruling& ruling, const JudgedCall& call, std::string_view agent,
                                  const JsonValue& params);

/// Of a write with these resolved parameters.
AuditedDecision audited_decision(const Ruling& ruling, const JudgedCall& call, std::string_view agent,
                                 const JsonValue& params);

/// Those inputs that a rule or a limit reads of such a call, one object; a text above kLongestKept bytes, and a list of
/// more entries than kMostKept, by size and hash. Empty where none is read.
std::string looked_at_json(const Ruling& ruling, const JudgedCall& call, std::string_view agent,
                           const JsonValue& params);
inline constexpr std::size_t kLongestKept = 200, kMostKept = 50;

/// Names, types and sizes, without a value.
std::string redacted_json(const JsonValue& params);

}  // namespace krux
