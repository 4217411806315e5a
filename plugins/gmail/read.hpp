// What agents read: from the replica, and from Gmail where a body or an attachment's text is not kept there yet.
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
  /// The body is fetched and kept where it is not there; `fetched` gets the mail then.
  OpenMail open_mail(const kruxos::Call& call, const kruxos::Reader& reader, const std::string& id,
                     std::string* fetched = nullptr) const;
  std::string read_message(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const;
  std::string read_attachment(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const;
  rapidjson::Document attachment_text(const kruxos::Call& call, const kruxos::Reader& reader, const std::string& id,
                                      const std::string& part_id, std::string fetched) const;

  const ApiClient& api_;
  const std::string own_address_;
};

}  // namespace gmail
