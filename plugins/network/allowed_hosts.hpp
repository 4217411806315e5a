// Which hosts agents may reach: those that the operator lists, and nobody else. The host holds every request to the
// same list; this one is for sentences that say what to do, and for names that are only looked up.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace network {

class AllowedHosts {
 public:
  /// As the configuration lists them: "api.example.com", "*.example.com" for its subdomains.
  explicit AllowedHosts(std::vector<std::string> listed) : listed_(std::move(listed)) {}

  /// Throws ProxyError with the key to set.
  void must_have(std::string_view host) const;

 private:
  const std::vector<std::string> listed_;  ///< in small letters
};

}  // namespace network
