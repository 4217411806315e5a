// Web pages of other origins that the operator has allowed to use the gateway (CORS). Internal to the gateway.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/http/http_types.hpp"

namespace krux {

/// Any thread. Where no origin is allowed it adds nothing to any answer.
class CrossOrigin {
 public:
  /// As browsers write them: "https://app.example", "http://localhost:6274".
  explicit CrossOrigin(std::vector<std::string> origins) : origins_(std::move(origins)) {}

  bool allows_any() const { return !origins_.empty(); }
  /// Whether the page that asks is of an allowed origin, by the letter.
  bool allows(const ServerRequest& request) const;
  /// The answer to a browser that asks whether such a page may ask; nothing where it is none.
  std::optional<ServerResponse> preflight(const ServerRequest& request) const;
  /// Lets such a page read the answer.
  void let_read(const ServerRequest& request, ServerResponse& response) const;

 private:
  const std::vector<std::string> origins_;
};

}  // namespace krux
