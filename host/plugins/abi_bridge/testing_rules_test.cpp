// kruxos/testing.hpp's rules beside the host's own: which requests are let out, which JSON is taken.
#include <catch2/catch.hpp>
#include <kruxos/testing.hpp>
#include <random>

#include "core/net/account_http.hpp"
#include "core/util/json.hpp"
#include "host/plugins/abi_bridge/lent_call.hpp"
#include "host/plugins/abi_bridge/lent_http.hpp"

namespace KRUXOS_TEST_FILE {

namespace {

/// Lets everything out and says so.
class OpenTransport final : public krux::HttpTransport {
 public:
  krux::HttpOutcome send(const krux::CallContextPtr&, const krux::Url&, const krux::HttpRequest&,
                         const krux::RequestSecret&, krux::HttpSink& sink) override {
    sink.head(200, {});
    return {};
  }
  void stop() override {}
};

kruxos::HttpRequest asking(const std::string& url, kruxos::Headers headers = {}) {
  kruxos::HttpRequest request;
  request.url = url;
  request.headers = std::move(headers);
  return request;
}

/// Whether the host's client and the fake let a request out.
struct Twins {
  krux::DrivenClock clock;
  std::shared_ptr<krux::AccountHttp> account = std::make_shared<krux::AccountHttp>(
      krux::AccountHttpOptions{
          "x", "https://api.notes.example/v1/", {"notes.example", "*.files.example", "odd.example:8443"}, {}},
      std::make_shared<OpenTransport>(), clock, krux::AccountHooks{});
  krux::LentHttp lent{account};
  kruxos::testing::FakeHost fake;

  Twins() {
    fake.api_base_url = "https://api.notes.example/v1/";
    fake.hosts = {"notes.example", "*.files.example", "odd.example:8443"};
    fake.on_request = [](const auto&) { return kruxos::testing::FakeAnswer{}; };
  }
  bool host_sends(const kruxos::HttpRequest& request) {
    const krux::LentCall call(std::make_shared<krux::CallContext>(krux::CallOwner{}, clock, clock.boot_ms() + 60'000));
    return kruxos::HttpClient(lent.table()).send(kruxos::Call(call.table()), request).ok();
  }
  bool fake_sends(const kruxos::HttpRequest& request) {
    const kruxos::testing::FakeCall call(fake.clock);
    const auto result = fake.host().http().send(call.call(), request);
    const auto misuses = fake.misuses.take();
    CHECK(misuses.empty() == result.ok());
    if (!result.ok()) CHECK(result.error == kruxos::ErrorKind::kInvalid);
    return result.ok();
  }
};

bool host_takes(const std::string& json) {
  return krux::is_json_object(json, {1000, 8});
}
bool fake_takes(const std::string& json) {
  return kruxos::testing::detail::json_object_problem(json, 1000, 8).empty();
}

}  // namespace

TEST_CASE("The fake lets out what the host lets out: addresses") {
  Twins twins;
  const std::vector<std::string> sent{"notes",
                                      "notes/1?after=%20x/../y",
                                      "/v1/notes",
                                      "https://api.notes.example/other",
                                      "HTTPS://API.notes.example/v1/x",
                                      "https://api.notes.example:443/x",
                                      "https://notes.example/a",
                                      "https://notes.example",
                                      "https://notes.example?x=1",
                                      "https://a.files.example/a",
                                      "https://odd.example:8443/a",
                                      "notes?next=https://evil.example/",
                                      "a.b-c_d~e"};
  for (const auto& url : sent) {
    INFO(url);
    CHECK(twins.host_sends(asking(url)));
    CHECK(twins.fake_sends(asking(url)));
  }
  const std::vector<std::string> refused{"",
                                         "/other",
                                         "//notes.example/a",
                                         "../other",
                                         "a/../../b",
                                         "a/%2e%2e/%2E%2E/b",
                                         "a/./b",
                                         "..%2fother",
                                         "a b",
                                         "a\\b",
                                         "a#b",
                                         "caf\xc3\xa9",
                                         "a\nb",
                                         "http://notes.example/a",
                                         "http://api.notes.example/v1/x",
                                         "https://evil.example/",
                                         "https://files.example/",
                                         "https://evilfiles.example/",
                                         "https://notes.example.evil.example/",
                                         "https://notes.example:444/",
                                         "https://odd.example/",
                                         "https://user@notes.example/",
                                         "https://notes.example@evil.example/",
                                         "https:///x",
                                         "ftp://notes.example/",
                                         "file:///etc/passwd",
                                         "http://127.0.0.1/",
                                         "javascript:x"};
  for (const auto& url : refused) {
    INFO(url);
    CHECK_FALSE(twins.host_sends(asking(url)));
    CHECK_FALSE(twins.fake_sends(asking(url)));
  }
}

TEST_CASE("The fake lets out what the host lets out: headers") {
  Twins twins;
  for (const auto& header :
       kruxos::Headers{{"Accept", "x"}, {"X-Odd!#$%&'*+-.^_`|~1", "\t y"}, {"If-Match", "\"\xc3\xa9\""}}) {
    INFO(header.first);
    CHECK(twins.host_sends(asking("a", {header})));
    CHECK(twins.fake_sends(asking("a", {header})));
  }
  kruxos::Headers refused{{"", "x"},     {"A B", "x"},       {"A:", "x"},
                          {"A\n", "x"},  {"A", "x\r\nB: y"}, {"A", std::string("\0", 1)},
                          {"A", "\x7f"}, {"\xc3\xa9", "x"}};
  for (const auto* name : {"Authorization", "authorization", "Cookie", "Cookie2", "Host", "Content-Length",
                           "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-X", "TE",
                           "Trailer", "Upgrade", "Expect", "Accept-Encoding", "HTTP2-Settings"}) {
    refused.emplace_back(name, "x");
  }
  for (const auto& header : refused) {
    INFO(header.first << ": " << header.second);
    CHECK_FALSE(twins.host_sends(asking("a", {header})));
    CHECK_FALSE(twins.fake_sends(asking("a", {header})));
  }
}

TEST_CASE("The fake takes the JSON that the host takes") {
  const std::vector<std::string> texts{"{}",
                                       " {\"a\" : [1, -2.5e+3, true, false, null, \"x\"] } \n",
                                       "{\"a\":{\"b\":[[],{}]}}",
                                       R"({"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"})",
                                       R"({"a":"\u0000"})",
                                       R"({"a\u0000":1})",
                                       R"({"a":"\ud800"})",
                                       R"({"a":"\udc00"})",
                                       R"({"a":"\ud800x"})",
                                       R"({"a":"\ud800\u0041"})",
                                       R"({"a":"\x"})",
                                       R"({"a":"\u12g4"})",
                                       R"({"a":1,"\u0061":2})",
                                       R"({"a":{"x":1},"b":{"x":1}})",
                                       "{\"a\":1,}",
                                       "{\"a\" 1}",
                                       "{a:1}",
                                       "{'a':1}",
                                       "{\"a\":01}",
                                       "{\"a\":1.}",
                                       "{\"a\":.5}",
                                       "{\"a\":+1}",
                                       "{\"a\":1e}",
                                       "{\"a\":-}",
                                       "{\"a\":nul}",
                                       "{\"a\":\"\n\"}",
                                       "{\"a\":\"\xff\"}",
                                       "{\"a\":\"\xed\xa0\x80\"}",
                                       "{\"a\":\"\xc0\x80\"}",
                                       "{\"a\":[1,]}",
                                       "{\"a\":[}",
                                       "{\"a\":[1}}",
                                       "{}{}",
                                       "{} x",
                                       std::string("{}\0", 3),
                                       "[]",
                                       "1",
                                       "\"x\"",
                                       "",
                                       " ",
                                       "{",
                                       "{\"a\"",
                                       "{\"a\":",
                                       "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}}}}",
                                       "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}}}}}",
                                       "{\"a\":[[[[[[[]]]]]]]}",
                                       "{\"a\":[[[[[[[[]]]]]]]]}",
                                       "{\"a\":\"" + std::string(990, 'x') + "\"}",
                                       "{\"a\":\"" + std::string(993, 'x') + "\"}"};
  for (const auto& text : texts) {
    INFO(text);
    CHECK(fake_takes(text) == host_takes(text));
  }
  // The same texts with a byte changed, removed or doubled.
  std::mt19937 random(5);
  const std::string bytes = "{}[]\",:\\ 019-+.eEtfnu\x01\xff\xc3\xa9";
  int taken = 0;
  for (int i = 0; i < 40'000; ++i) {
    auto text = texts[random() % texts.size()];
    for (auto changes = random() % 3; changes > 0 && !text.empty(); --changes) {
      const auto at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1);
      } else if (random() % 2 == 0) {
        text.insert(at, 1, bytes[random() % bytes.size()]);
      } else {
        text[at] = bytes[random() % bytes.size()];
      }
    }
    const bool expected = host_takes(text);
    taken += expected;
    if (fake_takes(text) == expected) continue;
    INFO(text);
    CHECK(fake_takes(text) == expected);
  }
  CHECK(taken > 1000);
}

}  // namespace KRUXOS_TEST_FILE
