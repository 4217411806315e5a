#include "core/util/error_type.hpp"

#include <algorithm>
#include <array>

namespace krux {
namespace {

using C = ErrorCode;
using namespace rpc_code;

using Steps = std::span<const RecoveryStep>;
constexpr RecoveryStep kLook{"check_status", "See what became of the write.", "proxy.write_status"};
constexpr RecoveryStep kOperator{"ask_operator", "Ask the operator.", ""};
constexpr RecoveryStep kLater{"retry_later", "Call again after retry_after seconds.", ""};

constexpr RecoveryStep kAskOperator[] = {kOperator};
constexpr RecoveryStep kLookAtIt[] = {kLook};
constexpr RecoveryStep kTryLater[] = {kLater};
constexpr RecoveryStep kLaterOrAsk[] = {kLater, kOperator};
constexpr RecoveryStep kAskWhy[] = {{"ask_operator", "Ask the operator why, before you try something else.", ""}};
constexpr RecoveryStep kAwaitApproval[] = {
    {"wait_for_approval", "Wait for the person; ask what became of it.", "proxy.write_status"}};
constexpr RecoveryStep kAwaitWindow[] = {{"wait", "Wait until the window of the limit has passed, or write less.", ""},
                                         kOperator};
constexpr RecoveryStep kNewKey[] = {
    {"new_key", "Use another idempotency_key for another content, or look at the present state first.", ""}};
constexpr RecoveryStep kCorrect[] = {
    {"correct_arguments", "Look at the capability's inputs (capabilities.describe) and call again.", ""}};
constexpr RecoveryStep kSearchAgain[] = {{"search_again", "Search for it: it may be gone, or its id mistyped.", ""}};
constexpr RecoveryStep kAskToConnect[] = {
    {"ask_operator", "Ask the operator to connect the service (kruxos connect).", ""}};
constexpr RecoveryStep kDoNotRepeat[] = {
    {"check_status", "Do not repeat it: the host finds out whether it happened.", "proxy.write_status"}};
constexpr RecoveryStep kForce[] = {
    kLook, {"ask_operator", "Only a person can undo it nevertheless (kruxos approve rollback --force).", ""}};
constexpr RecoveryStep kAskWhoCancelled[] = {
    {"ask_operator", "If you did not take it back, ask the operator why it was.", ""}};

constexpr RecoveryStep kReadAgain[] = {
    {"read_again", "Read it again, and set it with the version that it has then.", "state.shared.get"}};
constexpr RecoveryStep kOtherClient[] = {
    {"use_another_client", "Call it over MCP, by a client that can ask the person or the model what it needs.", ""}};

constexpr ErrorFacts kTable[] = {
    // code, name, retryable, HTTP, JSON-RPC, krux_status, recovery
    {C::kApprovalRejected, "ApprovalRejected", false, 409, kInternal, KRUX_INTERNAL, kAskWhy},
    {C::kApprovalRequired, "ApprovalRequired", false, 409, kApprovalRequired, KRUX_INTERNAL, kAwaitApproval},
    {C::kBatchProtection, "BatchProtection", false, 429, kRateLimit, KRUX_INTERNAL, kAwaitWindow},
    {C::kBodyFetchFailed, "BodyFetchFailed", true, 503, kInternal, KRUX_INTERNAL, {}},
    {C::kCancelled, "Cancelled", false, 503, kInternal, KRUX_CANCELLED, {}},
    {C::kCannotCancel, "CannotCancel", false, 409, kInternal, KRUX_INTERNAL, kLookAtIt},
    {C::kConflictError, "ConflictError", true, 409, kInternal, KRUX_INTERNAL, kNewKey},
    {C::kDatabaseError, "DatabaseError", true, 503, kInternal, KRUX_STORAGE, kLaterOrAsk},
    {C::kInputRequired, "InputRequired", false, 400, kInvalidRequest, KRUX_UNSUPPORTED, kOtherClient},
    {C::kInternal, "Internal", false, 500, kInternal, KRUX_INTERNAL, {}},
    {C::kInvalidInput, "InvalidInput", false, 400, kInvalidParams, KRUX_INVALID, kCorrect},
    {C::kMessageNotFound, "MessageNotFound", false, 400, kInternal, KRUX_INTERNAL, kSearchAgain},
    {C::kNoLabelsProvided, "NoLabelsProvided", false, 400, kInvalidParams, KRUX_INTERNAL, {}},
    {C::kNotAuthenticated, "NotAuthenticated", false, 401, kAuthentication, KRUX_AUTH, {}},
    {C::kNotConnected, "NotConnected", false, 409, kInternal, KRUX_AUTH, kAskToConnect},
    {C::kNotFound, "NotFound", false, 404, kInternal, KRUX_INTERNAL, {}},
    {C::kOperationBlocked, "OperationBlocked", false, 403, kPolicyDenied, KRUX_INTERNAL, kAskOperator},
    {C::kOutcomeUnknown, "OutcomeUnknown", false, 503, kInternal, KRUX_INTERNAL, kDoNotRepeat},
    {C::kPolicyDenied, "PolicyDenied", false, 403, kPolicyDenied, KRUX_INTERNAL, kAskOperator},
    {C::kRateLimited, "RateLimited", true, 429, kRateLimit, KRUX_RATE_LIMITED, kTryLater},
    {C::kRollbackConflict, "RollbackConflict", false, 409, kInternal, KRUX_INTERNAL, kForce},
    {C::kRollbackExpired, "RollbackExpired", false, 409, kInternal, KRUX_INTERNAL, kAskOperator},
    {C::kServiceUnavailable, "ServiceUnavailable", true, 503, kRateLimit, KRUX_INTERNAL, kLaterOrAsk},
    {C::kSessionExpired, "SessionExpired", false, 404, kInvalidParams, KRUX_INTERNAL, {}},
    {C::kTimeout, "Timeout", true, 503, kRateLimit, KRUX_TIMEOUT, kTryLater},
    {C::kUnsupported, "Unsupported", false, 400, kInternal, KRUX_UNSUPPORTED, {}},
    {C::kVersionConflict, "VersionConflict", false, 409, kInternal, KRUX_INTERNAL, kReadAgain},
    {C::kWriteCancelled, "WriteCancelled", false, 409, kInternal, KRUX_INTERNAL, kAskWhoCancelled},
    {C::kWriteDiscarded, "WriteDiscarded", false, 409, kInternal, KRUX_INTERNAL, kAskOperator},
    {C::kWriteFailed, "WriteFailed", true, 503, kInternal, KRUX_INTERNAL, kLookAtIt},
};
/// What the host knows of a type that a service's adapter names itself.
constexpr ErrorFacts kOfService{C::kService, "", false, 400, kInternal, KRUX_INTERNAL, {}};

constexpr bool stands_in_order() {
  int before = static_cast<int>(C::kService);
  for (const auto& row : kTable) {
    if (static_cast<int>(row.code) != ++before) return false;
  }
  return before == static_cast<int>(C::kWriteFailed);
}
static_assert(stands_in_order(), "facts_of() finds a code's row by its number");

const ErrorFacts& facts_of(ErrorCode code) {
  constexpr auto first = static_cast<std::size_t>(C::kApprovalRejected);
  const auto at = static_cast<std::size_t>(code);
  return at < first ? kOfService : kTable[at - first];
}

}  // namespace

std::span<const ErrorFacts> error_table() {
  return kTable;
}

bool ErrorType::is_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 64 && name[0] >= 'A' && name[0] <= 'Z' &&
         std::all_of(name.begin(), name.end(), fits);
}

ErrorType ErrorType::named(std::string_view name) {
  const auto* const end = std::end(kTable);
  const auto* const row = std::find_if(std::begin(kTable), end, [&](const auto& r) { return name == r.name; });
  if (row != end) return row->code;
  ErrorType type;
  if (!is_name(name)) return type;
  type.code_ = C::kService;
  type.own_ = name;
  return type;
}

std::string_view ErrorType::name() const {
  return code_ == C::kService ? std::string_view(own_) : facts().name;
}

const ErrorFacts& ErrorType::facts() const {
  return facts_of(code_);
}

StatusMeaning meaning_of(krux_status status) {
  switch (status) {
    case KRUX_AUTH:
      return {C::kNotConnected, C::kNotConnected, C::kNotAuthenticated};
    case KRUX_RATE_LIMITED:
      return {C::kRateLimited, C::kRateLimited, C::kRateLimited};
    case KRUX_NETWORK:
    case KRUX_UNAVAILABLE:
      return {C::kInternal, C::kServiceUnavailable, C::kServiceUnavailable};
    case KRUX_REFUSED:
      return {C::kInternal, C::kInvalidInput, C::kWriteFailed};
    case KRUX_INVALID:
      return {C::kInvalidInput, C::kInvalidInput, C::kInvalidInput};
    case KRUX_STORAGE:
      return {C::kDatabaseError, C::kDatabaseError, C::kDatabaseError};
    case KRUX_CANCELLED:
      return {C::kCancelled, C::kServiceUnavailable, C::kWriteFailed};
    case KRUX_UNSUPPORTED:
      return {C::kUnsupported, C::kOperationBlocked, C::kWriteFailed};
    case KRUX_TIMEOUT:
      return {C::kTimeout, C::kTimeout, C::kTimeout};
    case KRUX_NOT_FOUND:
      return {C::kInternal, C::kMessageNotFound, C::kWriteFailed};
    case KRUX_CONFLICT:
      return {C::kInternal, C::kRollbackConflict, C::kRollbackConflict};
    default:
      return {C::kInternal, C::kServiceUnavailable, C::kWriteFailed};
  }
}

}  // namespace krux
