// The errors that agents and operators see.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "core/util/error_type.hpp"

namespace krux {

/// A failure. what() is a sentence that says what happened and what to do; it never contains a credential.
class Error : public std::runtime_error {
 public:
  Error(ErrorType type, const std::string& message, bool retryable = false,
        std::optional<std::int64_t> retry_after_ms = std::nullopt)
      : std::runtime_error(message), type_(std::move(type)), retryable_(retryable), retry_after_ms_(retry_after_ms) {}

  const ErrorType& type() const { return type_; }
  bool retryable() const { return retryable_; }
  std::optional<std::int64_t> retry_after_ms() const { return retry_after_ms_; }

  /// One JSON object for machines ({"write_id": "w_..."}); empty when there is none.
  const std::string& context_json() const { return context_json_; }
  Error with_context(std::string json) && {
    context_json_ = std::move(json);
    return std::move(*this);
  }

 private:
  ErrorType type_;
  bool retryable_;
  std::optional<std::int64_t> retry_after_ms_;
  std::string context_json_;
};

inline Error invalid_input(const std::string& message) {
  return {ErrorCode::kInvalidInput, message};
}
inline Error database_error(const std::string& message) {
  return {ErrorCode::kDatabaseError, message, true};
}
inline Error not_connected(const std::string& message) {
  return {ErrorCode::kNotConnected, message};
}
inline Error conflict(const std::string& message) {
  return {ErrorCode::kConflictError, message, true};
}

/// Configuration, definitions, files at start: the program says this sentence and ends, or keeps what it had.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace krux
