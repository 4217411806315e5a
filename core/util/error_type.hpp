// What kinds of failure there are. One table says of each what it means on every way out: docs/errors.md shows it.
#pragma once

#include <kruxos/abi/base.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace krux {

enum class ErrorCode : std::uint8_t {
  kNone,     ///< no failure, or nobody named one
  kService,  ///< one that a service's adapter names itself: ErrorType holds the name
  kApprovalRejected,
  kApprovalRequired,
  kBatchProtection,
  kBodyFetchFailed,
  kCancelled,
  kCannotCancel,
  kConflictError,
  kDatabaseError,
  kInputRequired,
  kInternal,
  kInvalidInput,
  kMessageNotFound,
  kNoLabelsProvided,
  kNotAuthenticated,
  kNotConnected,
  kNotFound,
  kOperationBlocked,
  kOutcomeUnknown,
  kPolicyDenied,
  kRateLimited,
  kRollbackConflict,
  kRollbackExpired,
  kServiceUnavailable,
  kSessionExpired,
  kTimeout,
  kUnsupported,
  kVersionConflict,
  kWriteCancelled,
  kWriteDiscarded,
  kWriteFailed,
};

namespace rpc_code {
inline constexpr int kParse = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601, kInvalidParams = -32602,
                     kInternal = -32603,
                     kRateLimit = -32000,  ///< refused for now
    kPolicyDenied = -32001, kApprovalRequired = -32002, kAuthentication = -32003;
}  // namespace rpc_code

/// What an agent can do next. An empty capability: none helps.
struct RecoveryStep {
  const char *action, *description, *capability;
};

struct ErrorFacts {
  ErrorCode code;
  const char* name;    ///< on the wire and in the ledger
  bool retryable;      ///< whether a call that failed with it may be repeated, where nobody knows more
  int http_status;     ///< where the failure is the answer to a request
  int rpc_code;        ///< where JSON-RPC answers with an error
  krux_status status;  ///< what an adapter is told whose call of the host ends with it
  std::span<const RecoveryStep> recovery;
};

/// All but kNone and kService, by name.
std::span<const ErrorFacts> error_table();

/// What a failure is, as the documents name it (docs/errors.md). A service's own types are among them.
class ErrorType {
 public:
  ErrorType() = default;
  ErrorType(ErrorCode code) : code_(code) {}  // NOLINT: a code is a type

  /// What stands in a ledger, a definition or an adapter's answer. What is no name (one to 64 letters and digits, the
  /// first a capital) names nothing.
  static ErrorType named(std::string_view name);
  static bool is_name(std::string_view name);

  ErrorCode code() const { return code_; }
  explicit operator bool() const { return code_ != ErrorCode::kNone; }
  std::string_view name() const;  ///< empty for kNone
  const ErrorFacts& facts() const;

  friend bool operator==(const ErrorType&, const ErrorType&) = default;

 private:
  ErrorCode code_ = ErrorCode::kNone;
  std::string own_;
};

/// What a status alone says, on its three ways: thrown by what an adapter has called, shown to the agent whose call
/// failed with it, kept with a write that did.
struct StatusMeaning {
  ErrorCode thrown, shown, kept;
};
StatusMeaning meaning_of(krux_status status);

}  // namespace krux
