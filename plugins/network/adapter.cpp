#include "adapter.hpp"

#include <kruxos/kit/text.hpp>

#include <algorithm>

namespace network {
namespace {

constexpr const char* kConfigSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "allow_hosts": {"type": "array", "maxItems": 256,
                    "items": {"type": "string", "minLength": 1, "maxLength": 253}}
  }
})";

std::vector<std::string> hosts_in(const std::string& config_json) {
  return kruxos::kit::texts_of(kruxos::kit::parse(config_json.empty() ? "{}" : config_json), "allow_hosts");
}

bool is_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  const bool numeric = name.find_first_not_of("0123456789.") == std::string_view::npos;
  return !name.empty() && name.size() <= 253 && !numeric && std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

NetworkAdapter::NetworkAdapter(kruxos::Host host, const kruxos::Account& account)
    : allowed_(hosts_in(account.config_json)), requests_(host.http(), allowed_) {}

kruxos::Description NetworkAdapter::describe() {
  kruxos::Description description;
  description.config_schema_json = kConfigSchema;
  return description;
}

std::string NetworkAdapter::read(const kruxos::Call& call, const kruxos::Reader&, std::string_view capability,
                                 std::string_view params_json) {
  const auto params = kruxos::kit::parse(params_json);
  if (capability == "network.http_request") return requests_.get(call, params);
  if (capability != "network.dns_lookup")
    throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported, "There is no such capability.");
  const std::string name(kruxos::kit::text_of(params, "name"));
  if (!is_name(name))
    throw kruxos::ProxyError(kruxos::ErrorKind::kInvalid,
                             kruxos::kit::printable(name, 253) + " is no name of a host, such as api.example.com.");
  allowed_.must_have(name);
  return kruxos::kit::ObjectWriter()
      .text("name", name)
      .raw("addresses", kruxos::kit::quoted_list(look_up(name)))
      .done();
}

std::string NetworkAdapter::resolve(const kruxos::Call&, const kruxos::Reader&, std::string_view operation,
                                    std::string_view params_json) {
  if (operation == "network.http_send")
    (void)requests_.checked(kruxos::kit::text_of(kruxos::kit::parse(params_json), "url"));
  return std::string(params_json);
}

std::string NetworkAdapter::execute_write(const kruxos::Call& call, const kruxos::BufferedWrite& write) {
  if (write.operation != "network.http_send")
    throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported, "There is no such operation.").no_effect();
  return requests_.send(call, kruxos::kit::parse(write.params_json), write.write_id);
}

kruxos::EffectFound NetworkAdapter::find_effect(const kruxos::Call&, const kruxos::BufferedWrite&) {
  return kruxos::EffectFound::cannot_tell(
      "Sites in general give nothing by which a request is found again: look there whether it was done.");
}

}  // namespace network
