#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>
#include <string>

#include "adapter.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using kruxos::ErrorKind;
using kruxos::testing::FakeAnswer;
using kruxos::testing::FakeWrite;
using kruxos::testing::Outcome;
using Bench = kruxos::testing::Workbench<network::NetworkAdapter>;

namespace {

struct Net {
  Bench bench{R"({"allow_hosts":["api.example.com","other.example"]})"};
  Net() { bench.host.hosts = {"api.example.com", "other.example"}; }

  std::string get(const std::string& url, const std::string& more = "") {
    return bench.fetch("network.http_request", R"({"url":")" + url + "\"" + more + "}");
  }
  kruxos::testing::Attempt send(const std::string& more = "") {
    FakeWrite write{
        "network.http_send",
        R"({"url":"https://api.example.com/items","method":"POST","body":"{}","content_type":"application/json")" +
            more + "}"};
    return bench.execute(write);
  }
};

}  // namespace

TEST_CASE("an answer comes with its status, headers and body") {
  Net net;
  net.bench.host.expect("GET", "https://api.example.com/data?page=1")
      .answers(FakeAnswer::with(200, "[1]", {{"Content-Type", "application/json"}, {"Set-Cookie", "a=b"}}));
  CHECK(net.get("https://api.example.com/data?page=1") ==
        R"({"status":200,"url":"https://api.example.com/data?page=1","headers":{"content-type":"application/json"},)"
        R"("body":"[1]","encoding":"text","body_is_cut":false})");
  net.bench.host.expect("HEAD", "https://api.example.com/").answers(FakeAnswer::with(404, ""));
  CHECK_THAT(net.get("https://api.example.com/", R"(,"method":"HEAD")"), Contains(R"("status":404)"));
  net.bench.host.expect("GET", "https://api.example.com/bin").answers(FakeAnswer::with(200, std::string("\0\xFF", 2)));
  CHECK_THAT(net.get("https://api.example.com/bin"), Contains(R"("body":"AP8=","encoding":"base64")"));
}

TEST_CASE("a large answer is cut, between characters") {
  Net net;
  net.bench.host.expect("GET", "https://api.example.com/")
      .answers(FakeAnswer::with(200, "abcé" + std::string(1 << 20, 'x')));
  CHECK_THAT(net.get("https://api.example.com/", R"(,"max_bytes":4)"),
             Contains(R"("body":"abc",)") && Contains(R"("body_is_cut":true)"));
}

TEST_CASE("what is not listed is refused, and nothing is sent") {
  Net net;
  CHECK_THROWS_WITH(net.get("https://evil.example/"), Contains("allow_hosts"));
  CHECK_THROWS_WITH(net.get("https://169.254.169.254/latest/meta-data"), Contains("allow_hosts"));
  CHECK_THROWS_WITH(net.get("http://api.example.com/"), Contains("only https"));
  CHECK_THROWS_WITH(net.bench.resolve("network.http_send", R"({"url":"https://evil.example/"})"),
                    Contains("allow_hosts"));
  CHECK_THROWS_WITH(Bench("{}").fetch("network.http_request", R"({"url":"https://a.example/"})"),
                    Contains("No host may be reached"));
  CHECK(net.bench.host.requests.empty());
}

TEST_CASE("each redirect is looked at anew, and another site gets none of the agent's headers") {
  Net net;
  auto& host = net.bench.host;
  host.expect("GET", "https://api.example.com/a").answers(FakeAnswer::with(302, "", {{"Location", "/b"}}));
  host.expect("GET", "https://api.example.com/b")
      .answers(FakeAnswer::with(307, "", {{"Location", "//other.example/c"}}));
  host.expect("GET", "https://other.example/c").answers(FakeAnswer::with(200, "there"));
  const auto answer = net.get("https://api.example.com/a", R"(,"headers":{"X-Key":"secret","Accept":"text/plain"})");
  CHECK_THAT(answer, Contains(R"("url":"https://other.example/c")") && Contains(R"("redirects":2)"));
  const auto has_key = [](const kruxos::testing::FakeRequest& request) {
    for (const auto& header : request.headers)
      if (header.first == "X-Key") return true;
    return false;
  };
  REQUIRE(host.requests.size() == 3);
  CHECK(has_key(host.requests[1]));
  CHECK_FALSE(has_key(host.requests[2]));
  host.expect("GET", "https://api.example.com/a")
      .answers(FakeAnswer::with(302, "", {{"Location", "https://169.254.169.254/"}}));
  CHECK_THROWS_WITH(net.get("https://api.example.com/a"), Contains("allow_hosts"));
  host.expect("GET", "https://api.example.com/a")
      .answers(FakeAnswer::with(302, "", {{"Location", "http://other.example/"}}));
  CHECK_THROWS_WITH(net.get("https://api.example.com/a"), Contains("only https"));
  host.on_request = [](const auto&) { return FakeAnswer::with(301, "", {{"Location", "/again"}}); };
  CHECK_THROWS_WITH(net.get("https://api.example.com/a"), Contains("more than 5 times"));
}

TEST_CASE("headers are texts") {
  Net net;
  CHECK_THROWS_WITH(net.get("https://api.example.com/", R"(,"headers":{"X":1})"), Contains("is a text"));
  std::string many;
  for (int i = 0; i < 51; ++i) many += (many.empty() ? "\"h" : ",\"h") + std::to_string(i) + "\":\"\"";
  CHECK_THROWS_WITH(net.get("https://api.example.com/", ",\"headers\":{" + many + "}"), Contains("at most 50"));
}

TEST_CASE("a request that changes something is sent once, with a key of its own") {
  Net net;
  net.bench.host.expect("POST", "https://api.example.com/items")
      .answers(FakeAnswer::with(302, "made", {{"Location", "/x"}}));
  const auto attempt = net.send();
  CHECK(attempt.outcome == Outcome::kDone);
  CHECK_THAT(attempt.result_json, Contains(R"("status":302)") && Contains(R"("location":"/x")"));
  std::string key;
  for (const auto& [name, value] : net.bench.host.requests.at(0).headers)
    if (name == "Idempotency-Key") key = value;
  CHECK(key == "w_1");
}

TEST_CASE("a refusal of the site is an answer, and what nobody answered is unknown") {
  Net net;
  auto& host = net.bench.host;
  host.expect("POST", "https://api.example.com/items").answers(400, R"({"error":"no"})");
  CHECK_THAT(net.send().result_json, Contains(R"("status":400)"));
  host.expect("POST", "https://api.example.com/items").answers(503, "");
  CHECK(net.send().outcome == Outcome::kUnknown);
  host.expect("POST", "https://api.example.com/items").answers(FakeAnswer::dropped());
  CHECK(net.send().outcome == Outcome::kUnknown);
  host.expect("POST", "https://api.example.com/items").answers(FakeAnswer::unreachable());
  CHECK(net.send().outcome == Outcome::kRetried);
  FakeWrite get{"network.http_send", R"({"url":"https://api.example.com/items","method":"GET"})"};
  CHECK(net.bench.execute(get).outcome == Outcome::kRefused);
  const auto found = net.bench.find_effect(FakeWrite{"network.http_send", "{}"});
  CHECK(found.answer == KRUX_CANNOT_TELL);
  CHECK_THAT(found.why, Contains("look there"));
}

TEST_CASE("names are looked up where they are listed") {
  Net net;
  std::string asked;
  net.bench.adapter().look_up = [&](const std::string& name) {
    asked = name;
    return std::vector<std::string>{"192.0.2.1", "2001:db8::1"};
  };
  CHECK(net.bench.fetch("network.dns_lookup", R"({"name":"api.example.com"})") ==
        R"({"name":"api.example.com","addresses":["192.0.2.1","2001:db8::1"]})");
  asked.clear();
  CHECK_THROWS_WITH(net.bench.fetch("network.dns_lookup", R"({"name":"secret.evil.example"})"),
                    Contains("allow_hosts"));
  for (const char* bad : {"", "1.2.3.4", "a b", "a/b", "::1"})
    CHECK_THROWS_WITH(net.bench.fetch("network.dns_lookup", std::string(R"({"name":")") + bad + "\"}"),
                      Contains("no name of a host"));
  CHECK(asked.empty());
  CHECK_THROWS_AS(network::look_up_by_system("no-such-name.invalid"), kruxos::ProxyError);
}

}  // namespace KRUXOS_TEST_FILE
