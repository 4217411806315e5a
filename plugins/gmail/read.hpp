// email.search and email.read from the replica; a body is fetched when it is not kept there.
#pragma once

#include <kruxos/adapter.hpp>

#include <string>
#include <string_view>

#include "api_client.hpp"
#include "model.hpp"

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
  /// A message of the replica, with what the mail itself says.
  struct OpenMail {
    Message message;
    rapidjson::Document content;  ///< Body::json as an object
  };
  /// The body is fetched and kept where it is not there.
  OpenMail open_mail(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view id) const;
  std::string read_message(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const;

  const ApiClient& api_;
  const std::string own_address_;
};

}  // namespace gmail
