// Documents of clients, fetched over TLS from servers that a test scripts.
#include "core/sign_in/client_documents.hpp"

#include <catch2/catch.hpp>

#include "core/net/test_server.hpp"
#include "core/net/test_tls.hpp"
#include "core/util/json.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

constexpr const char* kRedirects = R"("redirect_uris":["https://client.test/back"])";
constexpr const char* kGood = R"("client_name":"A","redirect_uris":["https://client.test/back"])";

/// A server under the name client.test.
struct Served {
  TlsIdentity authority = make_authority();
  TlsIdentity identity = make_identity({"DNS:client.test,DNS:private.test"}, &authority);
  CertificateFile file{authority};
  DrivenClock clock;
  std::string body, status = "200 OK", headers = "Content-Type: application/json\r\n";
  TestServer server{[this](Peer& peer, int) {
                      for (auto asked = peer.read_request(); !asked.empty(); asked = peer.read_request())
                        peer.write(body.empty() ? of_its_own(asked) : answer(body, status, headers));
                    },
                    &identity};
  std::shared_ptr<HttpTransport> transport;
  std::unique_ptr<ClientDocuments> documents;

  explicit Served(std::vector<std::string> allowed = {"127.0.0.1"}) {
    TransportOptions options;
    options.extra_ca_file = file.path();
    options.allowed_networks = std::move(allowed);
    options.idle_ms = 0;
    options.resolve = [](const std::string&) { return Resolution{{*parse_ip("127.0.0.1")}, ""}; };
    transport = make_http_transport(options);
    documents = std::make_unique<ClientDocuments>(transport, clock);
  }
  std::string id(const std::string& path = "/client.json") const {
    return "https://client.test:" + std::to_string(server.port()) + path;
  }
  /// A good document at "/N", for 1000 + N seconds.
  std::string of_its_own(const std::string& asked) const {
    const auto path = asked.substr(4, asked.find(' ', 4) - 4);
    return answer("{\"client_id\":" + json_string(id(path)) + "," + kGood + "}", "200 OK",
                  "Content-Type: application/json\r\nCache-Control: max-age=" +
                      std::to_string(1000 + std::stoi(path.substr(1))) + "\r\n");
  }
  std::string document(const std::string& more = kGood) const {
    return "{\"client_id\":" + json_string(id()) + (more.empty() ? "" : "," + more) + "}";
  }
  /// "" where it is taken.
  std::string refusal(const std::string& client_id) {
    try {
      documents->fetch(client_id);
      return "";
    } catch (const SignInRefused& why) {
      CHECK(why.error() == std::string("invalid_client"));
      return why.what();
    }
  }
};

}  // namespace

TEST_CASE("a client's document is fetched once and kept for a while", "[sign_in]") {
  Served s;
  s.body = s.document(std::string(kGood) + R"(,"token_endpoint_auth_method":"private_key_jwt","jwks_uri":"x")");
  const auto client = s.documents->fetch(s.id());
  CHECK(client.client_id == s.id());
  CHECK(client.metadata.name == "A");
  CHECK(client.metadata.redirect_uris == std::vector<std::string>{"https://client.test/back"});
  s.documents->fetch(s.id());
  CHECK(s.server.connections() == 1);
  CHECK_FALSE(s.refusal(s.id("/other.json")).empty());
  CHECK(s.server.connections() == 2);
  CHECK_FALSE(s.refusal(s.id("/other.json")).empty());  // what is no document is not kept
  CHECK(s.server.connections() == 3);
  s.body = s.document();
  s.status = "404 Not Found";
  s.documents = std::make_unique<ClientDocuments>(s.transport, s.clock);
  CHECK_FALSE(s.refusal(s.id()).empty());
  CHECK_FALSE(s.documents->at_hand(s.id()));
  s.status = "200 OK";
  CHECK(s.refusal(s.id()).empty());
  CHECK(s.documents->at_hand(s.id()));
}

TEST_CASE("a client's document is kept for as long as its server says, a minute to a day", "[sign_in]") {
  Served s;
  s.body = s.document();
  struct Row {
    std::string headers;
    std::int64_t ms;
  };
  constexpr std::int64_t kMinute = 60'000, kDay = 86'400'000;
  const auto control = [](const std::string& value) { return "Cache-Control: " + value + "\r\n"; };
  for (const auto& row : std::vector<Row>{{"", 10 * kMinute},
                                          {control("max-age=1"), kMinute},
                                          {control("max-age=-1"), kMinute},
                                          {control("max-age=61"), 61'000},
                                          {"CACHE-CONTROL: public ,\tMAX-Age=120\r\n", 2 * kMinute},
                                          {control("Max-age=\"120\""), 2 * kMinute},
                                          {control("public") + control("max-age=120"), 2 * kMinute},
                                          {control("max-age=86399"), kDay - 1000},
                                          {control("max-age=86401"), kDay},
                                          {control("max-age=99999999999999999999"), kDay},
                                          {control("max-age=x"), 10 * kMinute},
                                          {control("max-age=1x"), 10 * kMinute},
                                          {control("max-age"), 10 * kMinute},
                                          {control("max-age="), 10 * kMinute},
                                          {control("s-maxage=5, x-max-age=7200,,"), 10 * kMinute},
                                          {control("max-age=3600, No-Store"), kMinute},
                                          {control("NO-CACHE, max-age=3600"), kMinute},
                                          {control("no-cache=\"x\", max-age=3600"), kMinute},
                                          {control("not-no-store, max-age=3600"), 60 * kMinute}}) {
    INFO(row.headers);
    s.headers = "Content-Type: application/json\r\n" + row.headers;
    s.documents = std::make_unique<ClientDocuments>(s.transport, s.clock);
    s.documents->fetch(s.id());
    s.clock.advance(row.ms - 1);
    CHECK(s.documents->at_hand(s.id()));
    s.clock.advance(1);
    CHECK_FALSE(s.documents->at_hand(s.id()));
  }
}

TEST_CASE("of clients' documents so many are kept, and the one that ends first makes way", "[sign_in]") {
  Served s;
  const auto id = [&](std::size_t n) { return s.id("/" + std::to_string(n)); };
  // The last one first: neither the oldest nor the smallest address goes, but the one of the shortest time.
  for (auto n = ClientDocuments::kMost; n > 0; --n) s.documents->fetch(id(n));
  CHECK(s.documents->at_hand(id(1)));
  s.documents->fetch(id(7));
  CHECK(s.documents->at_hand(id(1)));
  s.documents->fetch(id(500));
  CHECK_FALSE(s.documents->at_hand(id(1)));
  for (std::size_t n = 2; n <= ClientDocuments::kMost; ++n) CHECK(s.documents->at_hand(id(n)));
  CHECK(s.documents->at_hand(id(500)));
  CHECK(s.server.connections() == static_cast<int>(ClientDocuments::kMost + 1));
}

TEST_CASE("of a document's redirect addresses those count that are taken, and its name is one line", "[sign_in]") {
  Served s;
  s.body = s.document(
      R"("client_name":" An\u00a0\n \u200bodd\u202e \"name\u201d\u0007 ","redirect_uris":["cursor://x",1,"https://client.test/back","http://evil.test/","http://localhost/cb"])");
  const auto client = s.documents->fetch(s.id());
  CHECK(client.metadata.name == "An odd 'name'");
  CHECK(client.metadata.redirect_uris == std::vector<std::string>{"https://client.test/back", "http://localhost/cb"});
}

TEST_CASE("a client's document that is not as it should be is refused with the reason", "[sign_in]") {
  Served s;
  struct Row {
    std::string body, status, headers, says;
  };
  const std::string json = "Content-Type: application/json\r\n";
  const std::vector<Row> rows{
      {R"({"client_id":"https://client.test/client.json",)" + std::string(kGood) + "}", "200 OK", json,
       "another client_id"},
      {"{" + std::string(kGood) + "}", "200 OK", json, "another client_id"},
      {s.document(kRedirects), "200 OK", json, "no \"client_name\""},
      {s.document(std::string(kRedirects) + R"(,"client_name":"\u200b\u3000")"), "200 OK", json, "no \"client_name\""},
      {s.document(std::string(kRedirects) + R"(,"client_name":1)"), "200 OK", json, "must be a text"},
      {"[]", "200 OK", json, "no JSON object"},
      {"{", "200 OK", json, "not valid JSON"},
      {s.document(""), "200 OK", json, "redirect_uris"},
      {s.document(R"("redirect_uris":["javascript:x"])"), "200 OK", json, "redirect address"},
      {s.document(std::string(kGood) + R"(,"client_secret":"x")"), "200 OK", json, "has a secret"},
      {s.document(std::string(kGood) + R"(,"token_endpoint_auth_method":"client_secret_post")"), "200 OK", json,
       "asks for a secret"},
      {s.document(), "404 Not Found", json, "status 404"},
      {s.document(), "302 Found", json + "Location: https://client.test/else\r\n", "status 302"},
      {s.document(), "200 OK", "Content-Type: text/html\r\n", "not served as application/json"},
      {s.document(), "200 OK", "", "not served as application/json"},
      {s.document(std::string(kGood) + ",\"x\":\"" + std::string(ClientDocuments::kMostBytes, 'x') + "\""), "200 OK",
       json, "could not be fetched"},
  };
  for (const auto& row : rows) {
    INFO(row.says);
    s.body = row.body;
    s.status = row.status;
    s.headers = row.headers;
    s.documents = std::make_unique<ClientDocuments>(s.transport, s.clock);
    CHECK_THAT(s.refusal(s.id()), Catch::Contains(row.says));
  }
  s.body = s.document();
  s.status = "200 OK";
  s.headers = "Content-Type: application/client-metadata+json; charset=utf-8\r\nCache-Control: no-store\r\n";
  s.documents = std::make_unique<ClientDocuments>(s.transport, s.clock);
  CHECK(s.refusal(s.id()).empty());
}

TEST_CASE("a client's document is asked for at public addresses alone, and stands under a name", "[sign_in]") {
  Served s(std::vector<std::string>{});
  s.body = s.document();
  CHECK(s.refusal(s.id()) == "The client's document could not be fetched.");
  CHECK(s.server.connections() == 0);
  const auto port = std::to_string(s.server.port());
  for (const auto& bad : std::vector<std::string>{
           "https://127.0.0.1:" + port + "/client.json", "https://[::1]:" + port + "/client.json",
           "https://10.0.0.1/client.json", "https://client.test", "https://client.test/", "https://client.test/a?b",
           "https://client.test/a#b", "https://client.test:443/a", "https://CLIENT.test/a", "https://u@client.test/a",
           "https://client.test/a/../b", "https://", "https://client.test/" + std::string(1000, 'a')}) {
    INFO(bad);
    CHECK_THAT(s.refusal(bad), Catch::Contains("A client_id that is an address must be"));
  }
  CHECK(s.server.connections() == 0);
}

}  // namespace KRUXOS_TEST_FILE
