// Decisions, and what is to be compared, as the bodies of requests say them (docs/operator-api.md). Each throws
// krux::Error InvalidInput.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/util/json.hpp"
#include "host/operator/operator_api.hpp"

namespace krux {

/// Of operators' requests about many writes.
inline constexpr std::int64_t kMaxListed = 500;

/// A text that is not empty; empty where it is not there and need not be.
std::string text_member(const JsonValue& body, std::string_view name, bool required);
bool flag_member(const JsonValue& body, std::string_view name);
/// The state that was shown to whoever decides, if he names it.
std::optional<WriteState> expected_state(const JsonValue& body);
/// "resend", "discard", "happened"; nothing of another name.
std::optional<WriteEvent> resolution_of(std::string_view name);
/// {"like": {"seconds", "most"}}: nothing where it is not there.
std::optional<StandingTerms> like_member(const JsonValue& body);
/// {"account", "records", "minutes"}, none of which need be there.
OperatorApi::ReplicaOrder replica_order_of(const JsonValue& body);
/// One decision about several writes.
DecisionRequest decisions_of(const JsonValue& body);

}  // namespace krux
