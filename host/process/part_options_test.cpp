#include "host/process/part_options.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("strangers' documents are asked for at public addresses alone, whatever services may be") {
  Config config;
  config.net.ca_file = "/ca.pem";
  config.net.allow_private_hosts = {"127.0.0.0/8", "10.0.0.7"};
  CHECK(transport_options(config).allowed_networks == config.net.allow_private_hosts);
  const auto options = document_transport_options(config);
  CHECK(options.allowed_networks.empty());
  CHECK(options.extra_ca_file == config.net.ca_file);
  CHECK(options.user_agent == transport_options(config).user_agent);
}

TEST_CASE("sign-in's public origin is the configured one, else where the gateway listens") {
  Config config;
  CHECK(public_origin(config, 7700) == "http://127.0.0.1:7700");
  config.server.host = "localhost";
  CHECK(public_origin(config, 1) == "http://127.0.0.1:1");
  config.server.host = "::1";
  CHECK(public_origin(config, 2) == "http://[::1]:2");
  config.server.sign_in.public_url = "https://kruxos.example";
  CHECK(public_origin(config, 3) == "https://kruxos.example");
}

}  // namespace KRUXOS_TEST_FILE
