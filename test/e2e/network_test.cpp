// What agents ask of the network, through the whole host: the operator's list, redirects, names that lead home, writes.
#include <atomic>
#include <mutex>

#include "core/net/test_server.hpp"
#include "local_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

std::string with_headers(const std::string& status, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// A site on the loopback, which the operator has listed.
struct NetworkRig : LocalRig {
  std::mutex mutex;
  std::vector<std::string> requests;
  std::atomic<bool> drops{false};
  TestServer site{[this](Peer& peer, int) {
    for (auto asked = peer.read_request(); !asked.empty(); asked = peer.read_request()) {
      {
        const std::lock_guard lock(mutex);
        requests.push_back(asked);
      }
      if (drops) return peer.reset();
      if (asked.find(" /endless ") != std::string::npos) {
        peer.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
        while (peer.write(std::string(65536, 'x'))) {
        }
        return;
      }
      const bool leaves = asked.find(" /leave ") != std::string::npos;
      peer.write(leaves ? with_headers("302 Found", "Location: https://localhost/\r\n", "")
                        : with_headers("200 OK", "Set-Cookie: session=1\r\n", R"({"page":1})"));
    }
  }};

  explicit NetworkRig(const std::string& hosts = "[127.0.0.1, localhost]") {
    add_network(hosts, site.url("/"));
    begin();
  }
  Answer get(const std::string& path) { return invoke("network.http_request", R"({"url":")" + site.url(path) + "\"}"); }
  Answer post() {
    return invoke("network.http_send", R"({"url":")" + site.url("/items") + R"(","method":"POST","body":"{}"})");
  }
  int asked_for(const std::string& what) {
    const std::lock_guard lock(mutex);
    int count = 0;
    for (const auto& request : requests) count += request.starts_with(what) ? 1 : 0;
    return count;
  }
};

}  // namespace

TEST_CASE("a listed site is asked, without cookies and without anything of the host's") {
  NetworkRig rig;
  const auto answer = rig.get("/data?page=1");
  INFO(text_of(answer.document));
  REQUIRE(answer.ok());
  CHECK(answer.text("/body") == R"({"page":1})");
  CHECK(answer.text("/content_trust") == "untrusted");
  REQUIRE(rig.get("/data?page=2").ok());
  for (const auto& request : rig.requests) {
    CHECK(request.find("Cookie") == std::string::npos);
    CHECK(request.find("Authorization") == std::string::npos);
  }
  const auto own = rig.invoke("network.http_request",
                              R"({"url":")" + rig.site.url("/") + R"(","headers":{"Authorization":"Bearer x"}})");
  CHECK_FALSE(own.ok());
  const auto endless = rig.get("/endless");
  CHECK(endless.text("/body").size() == 262'144);
}

TEST_CASE("a name that leads home is not connected to, also when a listed site sends there") {
  NetworkRig rig;
  const auto direct = rig.invoke("network.http_request", R"({"url":"https://localhost/"})");
  CHECK_FALSE(direct.ok());
  CHECK(direct.message().find("private address") != std::string::npos);
  const auto redirected = rig.get("/leave");
  CHECK_FALSE(redirected.ok());
  CHECK(redirected.message().find("private address") != std::string::npos);
  const auto metadata = rig.invoke("network.http_request", R"({"url":"https://169.254.169.254/latest"})");
  CHECK(metadata.error() == "HostNotAllowed");
}

TEST_CASE("without a list nothing is reached, and the sentence names the key") {
  NetworkRig rig("[]");
  const auto answer = rig.get("/");
  CHECK(answer.error() == "HostNotAllowed");
  CHECK(answer.message().find("services.network.adapter.allow_hosts") != std::string::npos);
  CHECK(rig.invoke("network.dns_lookup", R"({"name":"example.com"})").error() == "HostNotAllowed");
  CHECK(rig.requests.empty());
}

TEST_CASE("what is no host in the list is told to the operator with its key, and the rest is served") {
  for (const char* hosts : {"[API.x]", "[example.org, \"https://example.org\"]"}) {
    LocalRig rig;
    rig.add_network(hosts);
    rig.begin();
    INFO(hosts);
    CHECK(rig.invoke("network.http_request", R"({"url":"https://api.x/"})").error() == "ServiceUnavailable");
    const auto alerts = text_of(rig.operate({"alerts"}));
    INFO(alerts);
    CHECK(alerts.find("account_not_served") != std::string::npos);
    CHECK(alerts.find("services.network.adapter.allow_hosts: ") != std::string::npos);
    CHECK(rig.send("still here").ok());
  }
}

TEST_CASE("a request that changes something waits for a person, is sent once, and may be unknown") {
  NetworkRig rig;
  const auto asked = rig.post();
  CHECK(asked.error() == "ApprovalRequired");
  CHECK(rig.asked_for("POST") == 0);
  const auto id = rig.only_write();
  REQUIRE(rig.kruxos({"approve", "accept", id, "--yes"}).status.ok());
  CHECK(eventually([&] { return rig.state(id) == "completed"; }));
  CHECK(rig.asked_for("POST /items ") == 1);
  CHECK(text_at(rig.write(id), "/write/result/body") == R"({"page":1})");
  rig.drops = true;
  const auto second =
      rig.invoke("network.http_send", R"({"url":")" + rig.site.url("/other") + R"(","method":"DELETE"})");
  const auto other = text_at(second.document, "/result/error/context/write_id");
  INFO(text_of(second.document));
  REQUIRE(rig.kruxos({"approve", "accept", other, "--yes"}).status.ok());
  CHECK(eventually([&] { return rig.state(other) == "unknown"; }));
  CHECK(rig.pass_time([&] { return rig.told(other); }, 2'000'000, 60'000));
  CHECK(rig.asked_for("DELETE") == 1);
}

}  // namespace KRUXOS_TEST_FILE
