#include "allowed_hosts.hpp"

#include <kruxos/adapter/error.hpp>
#include <kruxos/kit/text.hpp>

#include <algorithm>

namespace network {

void AllowedHosts::must_have(std::string_view host) const {
  const auto wanted = kruxos::kit::lower_ascii(host);
  const bool has = std::any_of(listed_.begin(), listed_.end(), [&](const std::string& one) {
    return one.starts_with("*.") ? wanted.size() >= one.size() && wanted.ends_with(one.substr(1)) : wanted == one;
  });
  if (has) return;
  const auto sentence = listed_.empty()
                            ? std::string(
                                  "No host may be reached: the operator lists those that may in the configuration, "
                                  "key services.network.adapter.allow_hosts.")
                            : kruxos::kit::printable(wanted, 253) +
                                  " may not be reached: the operator has not listed it (key "
                                  "services.network.adapter.allow_hosts).";
  throw kruxos::ProxyError(kruxos::ErrorKind::kRefused, sentence).type("HostNotAllowed").no_effect();
}

}  // namespace network
