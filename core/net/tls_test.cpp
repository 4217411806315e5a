#include <openssl/ssl.h>

#include <catch2/catch.hpp>

#include "core/net/test_calls.hpp"
#include "core/net/test_server.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

/// A transport for which every name leads to 127.0.0.1, trusting one authority of the test's own.
struct Client {
  explicit Client(const TlsIdentity& authority) : file(authority) {
    TransportOptions options;
    options.extra_ca_file = file.path();
    options.allowed_networks = {"127.0.0.1"};
    options.resolve = [](const std::string&) -> Resolution { return {{*parse_ip("127.0.0.1")}, ""}; };
    transport = make_http_transport(options);
  }
  CertificateFile file;
  std::shared_ptr<HttpTransport> transport;
};

TestServer::Script echo_length() {
  return [](Peer& peer, int) {
    for (auto r = peer.read_request(); !r.empty(); r = peer.read_request()) {
      if (!peer.write(answer(std::to_string(r.size())))) return;
    }
  };
}

std::string https(const std::string& host, const TestServer& server) {
  return "https://" + host + ':' + std::to_string(server.port()) + "/x";
}

/// What a POST through TLS ends with, the message, and that it is certain that nothing was sent.
std::string refused_because(Client& client, const std::string& host, const TestServer& server) {
  const auto call = real_call();
  const auto got = exchange(*client.transport, https(host, server), request("POST", "x"), call);
  CHECK(got.outcome.status == KRUX_NETWORK);
  CHECK(call->end() == WireState::kNothingSent);
  return got.outcome.message;
}

}  // namespace

TEST_CASE("a good certificate for the name or the address is accepted, connections are kept") {
  const auto authority = make_authority();
  const auto identity = make_identity({"DNS:good.test,DNS:*.wild.test,IP:127.0.0.1"}, &authority);
  TestServer server(echo_length(), &identity);
  Client client(authority);
  for (const auto* host : {"good.test", "GOOD.test", "a.wild.test", "127.0.0.1"}) {
    const auto call = real_call();
    const auto got = exchange(*client.transport, https(host, server), request("POST", "x"), call);
    INFO(host << ": " << got.outcome.message);
    CHECK(got.outcome.status == KRUX_OK);
    CHECK(call->end() == WireState::kAnswered);
  }
  CHECK(server.connections() == 3);  // the spelling makes no other origin
  CHECK(get(*client.transport, https("good.test", server)).outcome.status == KRUX_OK);
  CHECK(server.connections() == 3);
}

TEST_CASE("certificates that are not for the host, not trusted or not valid now are refused") {
  const auto authority = make_authority();
  Client client(authority);
  SECTION("another name") {
    const auto identity = make_identity({"DNS:good.test,DNS:*.wild.test"}, &authority);
    TestServer server(echo_length(), &identity);
    CHECK_THAT(refused_because(client, "other.test", server), Catch::Contains("hostname mismatch"));
    refused_because(client, "good.test.evil", server);
    refused_because(client, "a.b.wild.test", server);
    CHECK_THAT(refused_because(client, "127.0.0.1", server), Catch::Contains("IP address mismatch"));
  }
  SECTION("self-signed") {
    const auto identity = make_identity({"DNS:good.test"}, nullptr);
    TestServer server(echo_length(), &identity);
    CHECK_THAT(refused_because(client, "good.test", server), Catch::Contains("self-signed"));
  }
  SECTION("an authority that nobody trusts") {
    const auto stranger = make_authority();
    const auto identity = make_identity({"DNS:good.test"}, &stranger);
    TestServer server(echo_length(), &identity);
    refused_because(client, "good.test", server);
  }
  SECTION("expired") {
    const auto identity = make_identity({"DNS:good.test", -7200, -3600}, &authority);
    TestServer server(echo_length(), &identity);
    CHECK_THAT(refused_because(client, "good.test", server), Catch::Contains("expired"));
  }
  SECTION("not valid yet") {
    const auto identity = make_identity({"DNS:good.test", 3600, 7200}, &authority);
    TestServer server(echo_length(), &identity);
    CHECK_THAT(refused_because(client, "good.test", server), Catch::Contains("not yet valid"));
  }
}

TEST_CASE("the next address is tried where one refuses") {
  const auto authority = make_authority();
  const auto identity = make_identity({"DNS:good.test"}, &authority);
  TestServer server(echo_length(), &identity);
  const CertificateFile file(authority);
  TransportOptions options;
  options.extra_ca_file = file.path();
  options.allowed_networks = {"127.0.0.0/8"};
  options.resolve = [](const std::string&) -> Resolution {
    return {{*parse_ip("10.0.0.1"), *parse_ip("127.0.0.2"), *parse_ip("127.0.0.1")}, ""};
  };
  CHECK(get(*make_http_transport(options), https("good.test", server)).outcome.status == KRUX_OK);
}

TEST_CASE("without the authority's file the same server is refused") {
  const auto authority = make_authority();
  const auto identity = make_identity({"IP:127.0.0.1"}, &authority);
  TestServer server(echo_length(), &identity);
  CHECK(get(*make_http_transport({}), https("127.0.0.1", server)).outcome.status == KRUX_NETWORK);
}

TEST_CASE("a server that speaks only TLS 1.1 is refused") {
  const auto authority = make_authority();
  auto identity = make_identity({"DNS:good.test"}, &authority);
  identity.most_version = TLS1_1_VERSION;
  TestServer server(echo_length(), &identity);
  Client client(authority);
  refused_because(client, "good.test", server);
}

TEST_CASE("a stream that is cut off is no end of an answer") {
  const auto authority = make_authority();
  const auto identity = make_identity({"DNS:good.test"}, &authority);
  const bool properly = GENERATE(true, false);
  TestServer server(
      [&](Peer& peer, int) {
        peer.read_request();
        peer.write("HTTP/1.0 200 OK\r\n\r\nsome");
        if (!properly) peer.cut();
      },
      &identity);
  Client client(authority);
  const auto got = get(*client.transport, https("good.test", server));
  INFO(got.outcome.message);
  CHECK(got.outcome.status == (properly ? KRUX_OK : KRUX_NETWORK));
}

TEST_CASE("deadline and cancellation hold during the handshake and the answer") {
  const auto authority = make_authority();
  const auto identity = make_identity({"DNS:good.test"}, &authority);
  Client client(authority);
  TestServer silent([](Peer& peer, int) { peer.wait_closed(); });
  TestServer hanging([](Peer& peer, int) { peer.wait_closed(); }, &identity);
  CHECK(get(*client.transport, https("good.test", silent), real_call(60)).outcome.status == KRUX_TIMEOUT);
  CHECK(get(*client.transport, https("good.test", hanging), real_call(200)).outcome.status == KRUX_TIMEOUT);
}

TEST_CASE("large bodies go through TLS whole") {
  const auto authority = make_authority();
  const auto identity = make_identity({"DNS:good.test"}, &authority);
  TestServer server(
      [](Peer& peer, int) {
        const auto r = peer.read_request();
        peer.write(answer(std::string(r.size(), 'y')));
      },
      &identity);
  Client client(authority);
  const auto got =
      exchange(*client.transport, https("good.test", server), request("POST", std::string(1'000'000, 'x')));
  CHECK(got.outcome.status == KRUX_OK);
  CHECK(got.response.text.size() > 1'000'000);
}

}  // namespace KRUXOS_TEST_FILE
