// Wrapping asks servers by libcurl as the host asks them by its own HTTP.
#include "mcp/wrap/curl_client.hpp"

#include <kruxos/kit/json.hpp>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <mutex>

#include "core/net/test_server.hpp"
#include "mcp/http_link.hpp"
#include "mcp/tools.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using krux::test::Peer;
using krux::test::TestServer;

namespace {

/// Answers as one event each, with or without an end of the stream.
struct Server {
  bool ends = true;
  std::mutex mutex;
  std::string heads;
  TestServer site{[this](Peer& peer, int) {
    for (auto asked = peer.read_request(); !asked.empty(); asked = peer.read_request()) {
      {
        const std::lock_guard lock(mutex);
        heads += asked.substr(0, asked.find("\r\n\r\n")) + "\n";
      }
      const auto message = kruxos::kit::parse(asked.substr(asked.find("\r\n\r\n") + 4));
      const auto id = kruxos::kit::digits_of(message, "id");
      if (id.empty()) {
        peer.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        continue;
      }
      const bool lists = kruxos::kit::text_of(message, "method") == "tools/list";
      const std::string result =
          lists ? R"({"tools":[{"name":"a","inputSchema":{}}]})" : R"({"protocolVersion":"2025-11-25"})";
      const auto event = fmt::format("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}\n\n", id, result);
      const auto head = std::string("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n");
      if (ends || !lists) {
        peer.write(fmt::format("{}Content-Length: {}\r\n\r\n{}", head, event.size(), event));
        continue;
      }
      peer.write(fmt::format("{}\r\n{}", head, event));
      return peer.wait_closed();
    }
  }};
};

std::vector<mcp::Tool> tools_of(Server& server, const std::string& token, int seconds = 20) {
  const mcp::CurlClient client(server.site.url("/"), token);
  mcp::HttpLink link(client.client(), "mcp");
  const mcp::PlainCall call(seconds);
  return mcp::list_tools(call.call(), link);
}

}  // namespace

TEST_CASE("a server is asked with its token, and whatever proxy the environment names hears nothing of it") {
  Server server;
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
  const auto tools = tools_of(server, "secret-token");
  unsetenv("http_proxy");
  unsetenv("ALL_PROXY");
  CHECK(tools.size() == 1);
  CHECK_THAT(server.heads, Contains("Authorization: Bearer secret-token") && Contains("POST /mcp HTTP/1.1"));
}

TEST_CASE("a stream that does not end behind its answer is one all the same") {
  Server server;
  server.ends = false;
  CHECK(tools_of(server, "", 1).size() == 1);
}

TEST_CASE("who is not there is told") {
  const mcp::CurlClient client("http://127.0.0.1:1/", "");
  mcp::HttpLink link(client.client(), "mcp");
  const mcp::PlainCall call(5);
  CHECK_THROWS_WITH(mcp::list_tools(call.call(), link), Contains("could not be reached"));
}

}  // namespace KRUXOS_TEST_FILE
