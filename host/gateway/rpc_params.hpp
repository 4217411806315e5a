// A JSON-RPC method's parameters by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/gateway/json_span.hpp"

namespace krux {

inline constexpr std::size_t kMaxLabel = 256;  ///< of texts that only describe something

/// Each member throws krux::Error InvalidInput that names the parameter. The text that it was made of is lent.
class RpcParams {
 public:
  RpcParams(std::string_view text, std::span<const std::string_view> allowed);

  /// Null where it is missing, or null.
  const JsonSpan* find(std::string_view name) const;
  /// Empty when it is missing.
  std::string text(std::string_view name, std::size_t max_bytes = kMaxLabel) const;
  std::string required(std::string_view name) const;
  /// A whole number within bounds; nothing when it is missing.
  std::optional<std::int64_t> number(std::string_view name, std::int64_t least, std::int64_t most) const;
  /// A list of strings; nothing when it is missing.
  std::optional<std::vector<std::string>> texts(std::string_view name) const;

 private:
  JsonParts parts_;
};

}  // namespace krux
