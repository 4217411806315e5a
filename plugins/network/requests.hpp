// Requests of agents, sent by the host's HTTP.
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/kit/json.hpp>

#include <string>

#include "address.hpp"
#include "allowed_hosts.hpp"

namespace network {

/// Any thread.
class Requests {
 public:
  Requests(kruxos::HttpClient http, const AllowedHosts& allowed) : http_(http), allowed_(allowed) {}

  /// GET or HEAD, with its redirects.
  std::string get(const kruxos::Call& call, const kruxos::kit::Json& params) const;
  /// Any other method, once; redirects are not followed.
  std::string send(const kruxos::Call& call, const kruxos::kit::Json& params, std::string_view write_id) const;
  /// What of an address may be asked at all; throws where it may not.
  Address checked(std::string_view url) const;

 private:
  const kruxos::HttpClient http_;
  const AllowedHosts& allowed_;
};

}  // namespace network
