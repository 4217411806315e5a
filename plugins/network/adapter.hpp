// The adapter for the network: what agents ask of hosts that the operator has listed.
#pragma once
#include <kruxos/adapter.hpp>
#include <kruxos/kit/json.hpp>

#include <string>

#include "allowed_hosts.hpp"
#include "names.hpp"
#include "requests.hpp"

namespace network {

class NetworkAdapter final : public kruxos::ReadAdapter, public kruxos::WriteExecutor {
 public:
  NetworkAdapter(kruxos::Host host, const kruxos::Account& account);
  static kruxos::Description describe();

  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params_json) override;
  /// What may not be reached is refused before a person is asked about it.
  std::string resolve(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view operation,
                      std::string_view params_json) override;
  std::string execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) override;
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) override;

  LookUp look_up = look_up_by_system;  ///< tests have names of their own

 private:
  const AllowedHosts allowed_;
  const Requests requests_;
};

}  // namespace network
