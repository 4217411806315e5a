// What idle sessions of agents cost: streams of the Model Context Protocol, and WebSockets; and what becomes of many
// more than a host lets in.
//   bench-sessions [SESSIONS [MANY]]   default: 500 that rest, and 10,000 that are tried
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench_host.hpp"
#include "bench/report.hpp"
#include "host/http/raw_web_socket.hpp"
#include "support/strangers.hpp"

using namespace krux;
using namespace krux::bench;
using test::RawClient;

namespace {

constexpr int kAgents = 10;
constexpr double kMostMb = 40;
constexpr const char* kHello =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
    R"("clientInfo":{"name":"bench","version":"1"}}})";
constexpr const char* kCall =
    R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"proxy__list_writes","arguments":{}}})";

class Host : public BenchHost {
 public:
  explicit Host(const std::filesystem::path& directory) : BenchHost(directory, "slack") {
    configure("    api_base_url: http://127.0.0.1:9/\n");
  }
  void start() {
    launch({});
    while (keys_.size() <= kAgents) keys_.push_back(new_agent(fmt::format("bench-{}", keys_.size())));
  }
  /// The agents take turns.
  std::string key_header(std::size_t nth) const { return header_of(nth % kAgents); }
  /// Of one who has no other sessions.
  std::string own_header() const { return header_of(kAgents); }
  double private_mb() const { return host_figures().private_mb; }

 private:
  std::string header_of(std::size_t agent) const { return "Authorization: Bearer " + keys_[agent] + "\r\n"; }

  std::vector<std::string> keys_;
};

std::string mcp_headers(const std::string& key_header, const std::string& session) {
  return key_header + "Accept: application/json, text/event-stream\r\n" +
         (session.empty() ? "" : "Mcp-Session-Id: " + session + "\r\nMCP-Protocol-Version: 2025-11-25\r\n");
}

/// The id of a new session; empty where it is refused.
std::string begin_session(RawClient& client, const std::string& key_header) {
  const auto answer = client.ask(test::http_post("/mcp", kHello, mcp_headers(key_header, "")));
  const auto id = answer.headers.find("Mcp-Session-Id");
  return answer.status == 200 && id != answer.headers.end() ? id->second : "";
}

/// A session with the stream that tells it of changes; nothing where the host lets no more in.
std::unique_ptr<RawClient> open_stream(const Host& host, std::size_t nth) {
  auto client = std::make_unique<RawClient>(host.port());
  const auto session = client->connected() ? begin_session(*client, host.key_header(nth)) : "";
  if (session.empty()) return nullptr;
  client->send(test::http_get("/mcp", mcp_headers(host.key_header(nth), session)));
  return client->receive(true).status == 200 ? std::move(client) : nullptr;
}

/// Milliseconds that a call of an agent takes whose connection is there already.
std::vector<double> calls_ms(const Host& host, RawClient& client, const std::string& session) {
  std::vector<double> all;
  for (int i = 0; i < 400; ++i) {
    const auto begun = now_s();
    const auto answer = client.ask(test::http_post("/mcp", kCall, mcp_headers(host.own_header(), session)));
    if (answer.status != 200 || answer.body.find(R"("isError":true)") != std::string::npos)
      wrong("an agent's call failed: " + std::to_string(answer.status) + " " + answer.body.substr(0, 300));
    all.push_back((now_s() - begun) * 1000);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// On a connection of its own, in the session that it has had all the time.
class Agent {
 public:
  explicit Agent(const Host& host) : host_(host) {
    RawClient client(host_.port());
    session_ = begin_session(client, host_.own_header());
    if (session_.empty()) wrong("the host lets no agent in");
  }
  void print_calls() const {
    RawClient client(host_.port());
    calls_ms(host_, client, session_);  // warms both up
    const auto all = calls_ms(host_, client, session_);
    print_figure("  an agent's calls beside them, p50; p99", all[all.size() / 2], "ms", all[all.size() * 99 / 100]);
  }

 private:
  const Host& host_;
  std::string session_;
};

/// Whether the server has not closed it, whatever came.
bool is_open(const RawClient& client) {
  char bytes[4096];
  ssize_t got = 0;
  while ((got = ::recv(client.fd(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0) continue;
  return got < 0 && errno == EAGAIN;
}

/// What sessions take that one after the other begin and then rest.
template <typename Open>
void print_resting(const std::string& what, const Host& host, const Agent& agent, std::size_t count, const Open& open) {
  const auto before = host.private_mb();
  std::vector<decltype(open(std::size_t{}))> held;
  for (std::size_t i = 0; i < count; ++i) {
    held.push_back(open(i));
    if (!held.back()) wrong(fmt::format("session {} of {} was refused", i + 1, count));
  }
  print_bound(fmt::format("{} {}: RssAnon more than before", count, what), host.private_mb() - before, "MB", kMostMb);
  agent.print_calls();
}

/// Far more streams than there may be connections: others go for them.
void print_tried(const Host& host, const Agent& agent, std::size_t count) {
  const auto before = host.private_mb();
  std::deque<std::unique_ptr<RawClient>> held;
  std::size_t begun = 0;
  for (std::size_t i = 0; i < count; ++i) {
    held.push_back(open_stream(host, i));
    begun += held.back() != nullptr;
  }
  const auto there = std::count_if(held.begin(), held.end(), [](const auto& one) { return one && is_open(*one); });
  print_figure(fmt::format("{} sessions with streams tried: begun; there at the end", count),
               static_cast<double>(begun), "", static_cast<double>(there));
  print_bound("  RssAnon more than before", host.private_mb() - before, "MB", kMostMb);
  agent.print_calls();
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t sessions = argc > 1 ? std::stoul(argv[1]) : 500, many = argc > 2 ? std::stoul(argv[2]) : 10'000;
  if (!test::allow_descriptors(many + 1'000)) wrong("this needs more descriptors (ulimit -n)");
  Host host(scratch_directory());
  host.start();
  const Agent agent(host);
  print_header();
  print_figure("RssAnon with one agent", host.private_mb(), "MB");
  agent.print_calls();
  print_resting("sessions with a stream each", host, agent, sessions,
                [&](std::size_t nth) { return open_stream(host, nth); });
  print_resting("WebSockets of JSON-RPC", host, agent, sessions, [&](std::size_t nth) {
    auto socket = std::make_unique<test::RawWebSocket>(host.port(), "/rpc", host.key_header(nth));
    return socket->is_open() ? std::move(socket) : nullptr;
  });
  print_tried(host, agent, many);
  host.stop();
}
