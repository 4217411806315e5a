// email.search and email.read from the replica; a body is fetched when it is not kept there.
#pragma once

#include <kruxos/adapter.hpp>

#include <string>
#include <string_view>

#include "api_client.hpp"

namespace gmail {

class MailReader {
 public:
  /// `own_address`: the account's. `api` must outlive it.
  MailReader(const ApiClient& api, std::string own_address) : api_(api), own_address_(std::move(own_address)) {}

  /// Any thread. Throws ProxyError: InvalidInput, MessageNotFound, BodyFetchFailed.
  std::string read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                   std::string_view params_json) const;

 private:
  std::string search(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const;
  std::string read_message(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const;

  const ApiClient& api_;
  const std::string own_address_;
};

}  // namespace gmail
