#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <mutex>
#include <thread>

#include "core/net/test_tls.hpp"
#include "core/util/error.hpp"
#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using support::Scratch;

namespace {

void hello(const ServerRequest& request, const Respond& respond) {
  ServerResponse response;
  response.body = request.peer.local ? std::to_string(request.peer.uid) + " " + std::to_string(request.peer.pid)
                                     : request.peer.address;
  respond(std::move(response));
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path) << text;
}

std::string why(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

void write_key(const TlsIdentity& identity, const std::filesystem::path& path) {
  std::unique_ptr<FILE, decltype(&fclose)> file(fopen(path.c_str(), "w"), &fclose);
  PEM_write_PrivateKey(file.get(), identity.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
}

/// One request over TLS; what came back, or empty where no handshake was made.
std::string ask_over_tls(std::uint16_t port, std::string_view request, int most_version = 0) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  if (most_version != 0) SSL_CTX_set_max_proto_version(context.get(), most_version);
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), &SSL_free);
  RawClient client(port);
  SSL_set_fd(tls.get(), client.fd());
  if (SSL_connect(tls.get()) != 1) return {};
  SSL_write(tls.get(), request.data(), static_cast<int>(request.size()));
  std::string answer;
  std::array<char, 65536> chunk;
  for (int n; (n = SSL_read(tls.get(), chunk.data(), chunk.size())) > 0;)
    answer.append(chunk.data(), static_cast<std::size_t>(n));
  CHECK(SSL_get_shutdown(tls.get()) == SSL_RECEIVED_SHUTDOWN);  // ended by the server's close_notify
  return answer;
}

}  // namespace

TEST_CASE("the Unix socket is its owner's alone and says who asks", "[http]") {
  const Scratch scratch;
  const auto path = scratch.path() / "control.sock";
  {
    HttpServer server;
    server.listen_unix(path, hello);
    struct stat found {};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 07777) == 0600);
    CHECK(RawClient(path).ask(http_get("/")).body == std::to_string(geteuid()) + " " + std::to_string(getpid()));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("what stands where the Unix socket should be", "[http]") {
  const Scratch scratch;
  const auto path = scratch.path() / "control.sock";
  HttpServer server;
  SECTION("a socket that nobody serves is replaced") {
    const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    REQUIRE(::bind(dead, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    ::close(dead);
    server.listen_unix(path, hello);
    CHECK(RawClient(path).ask(http_get("/")).status == 200);
  }
  SECTION("a served one is left alone") {
    server.listen_unix(path, hello);
    HttpServer second;
    CHECK(why([&] { second.listen_unix(path, hello); }).find("Another host answers") != std::string::npos);
    CHECK(RawClient(path).ask(http_get("/")).status == 200);
  }
  SECTION("a file is left alone") {
    write_file(path, "precious");
    CHECK(why([&] { server.listen_unix(path, hello); }).find("is in the way") != std::string::npos);
    CHECK(std::filesystem::file_size(path) == 8);
  }
  SECTION("a path too long for a socket") {
    CHECK(why([&] { server.listen_unix(scratch.path() / std::string(120, 'x'), hello); }).find("too long") !=
          std::string::npos);
  }
  SECTION("a directory that is not there") {
    CHECK(why([&] { server.listen_unix(scratch.path() / "no" / "s", hello); }).find("must exist") != std::string::npos);
  }
}

TEST_CASE("a port in use and an address that is not ours are clear errors", "[http]") {
  HttpServer server;
  const auto bound = server.listen_tcp("127.0.0.1", 0, hello);
  CHECK(bound.loopback);
  CHECK(why([&] { server.listen_tcp("127.0.0.1", bound.port, hello); }).find("port " + std::to_string(bound.port)) !=
        std::string::npos);
  CHECK(why([&] { server.listen_tcp("203.0.113.7", 0, hello); }).find("203.0.113.7") != std::string::npos);
  CHECK(why([&] { server.listen_tcp("no such host", 0, hello); }).find("server.host") != std::string::npos);
  CHECK_FALSE(server.listen_tcp("0.0.0.0", 0, hello).loopback);
  CHECK(RawClient(bound.port).ask(http_get("/")).body == "127.0.0.1");
}

TEST_CASE("one connection too many takes the place of one that waits, or is told so, and room is made again",
          "[http]") {
  HttpLimits limits;
  limits.connections = 4;
  HttpServer server(2);
  std::mutex mutex;
  std::vector<Respond> held;
  const auto hold = [&](const ServerRequest& request, const Respond& respond) {
    if (request.path != "/hold") return hello(request, respond);
    const std::lock_guard lock(mutex);
    held.push_back(respond);
  };
  const auto holds = [&] {
    const std::lock_guard lock(mutex);
    return held.size();
  };
  const auto port = server.listen_tcp("127.0.0.1", 0, hold, limits).port;
  std::vector<RawClient> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back(port);
    REQUIRE(clients.back().ask(http_get("/")).status == 200);
  }
  RawClient beyond(port);
  CHECK(beyond.ask(http_get("/")).status == 200);
  CHECK(clients[0].is_closed_by_server());
  CHECK(clients[1].ask(http_get("/")).status == 200);
  for (std::size_t i = 1; i < 4; ++i) clients[i].send(http_get("/hold"));
  beyond.send(http_get("/hold"));
  while (holds() < 4) std::this_thread::yield();
  RawClient refused(port);
  const auto answer = refused.ask(http_get("/"));
  CHECK(answer.status == 503);
  CHECK(answer.body.find("too many connections") != std::string::npos);
  for (const auto& respond : held) respond(ServerResponse{});
  CHECK(beyond.receive().status == 200);
  CHECK(RawClient(port).ask(http_get("/")).status == 200);
}

TEST_CASE("a thousand connections are served beside each other", "[http]") {
  HttpServer server(2);
  const auto port = server.listen_tcp("127.0.0.1", 0, hello).port;
  std::vector<RawClient> clients;
  for (int i = 0; i < 1024; ++i) {
    clients.emplace_back(port);
    REQUIRE(clients.back().ask(http_get("/")).status == 200);
  }
  CHECK(clients[0].ask(http_get("/")).status == 200);
}

TEST_CASE("many clients at once, on two loops, answered from other threads", "[http]") {
  HttpServer server(2);
  std::mutex mutex;
  std::vector<std::pair<std::string, Respond>> waiting;
  bool done = false;
  const auto port = server
                        .listen_tcp("127.0.0.1", 0,
                                    [&](ServerRequest request, Respond respond) {
                                      const std::lock_guard lock(mutex);
                                      waiting.emplace_back(std::move(request.body), std::move(respond));
                                    })
                        .port;
  std::vector<std::thread> workers, clients;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&] {
      for (;;) {
        std::unique_lock lock(mutex);
        if (done && waiting.empty()) return;
        auto work = std::exchange(waiting, {});
        lock.unlock();
        for (auto& [body, respond] : work) {
          ServerResponse response;
          response.body = std::move(body);
          respond(std::move(response));
        }
        std::this_thread::yield();
      }
    });
  }
  std::atomic<int> right{0};
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back([&, i] {
      RawClient client(port);
      for (int k = 0; k < 20; ++k) {
        const auto text = std::to_string(i * 1000 + k);
        if (client.ask(http_post("/", text)).body == text) ++right;
      }
    });
  }
  for (auto& client : clients) client.join();
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  for (auto& worker : workers) worker.join();
  CHECK(right == 2000);
}

TEST_CASE("the same over TLS", "[http]") {
  const Scratch scratch;
  const auto identity = make_identity({"IP:127.0.0.1"}, nullptr), other = make_identity({"IP:127.0.0.1"}, nullptr);
  const CertificateFile certificate(identity);
  const auto key = scratch.path() / "key.pem", other_key = scratch.path() / "other.pem";
  write_key(identity, key);
  write_key(other, other_key);
  auto limits = HttpLimits();
  limits.header_ms = 300;
  HttpServer server;
  const auto port = server.listen_tcp("127.0.0.1", 0, hello, limits, TlsFiles{certificate.path(), key}).port;

  SECTION("answers, and ends with a close_notify") {
    const auto answer = ask_over_tls(port, http_get("/", "Connection: close\r\n"));
    CHECK(answer.find("200 OK") != std::string::npos);
    CHECK(answer.find("127.0.0.1") != std::string::npos);
  }
  SECTION("a refused body's answer arrives") {
    CHECK(ask_over_tls(port, http_post("/", std::string(2 << 20, 'x'))).find("413") != std::string::npos);
  }
  SECTION("TLS 1.1 is not spoken, nor plain text; a silent client is closed") {
    CHECK(ask_over_tls(port, http_get("/"), TLS1_1_VERSION).empty());
    RawClient plain(port);
    CHECK(plain.ask(http_get("/")).status == 0);
    CHECK(RawClient(port).is_closed_by_server());
  }
  SECTION("a certificate and key that do not fit are clear errors") {
    const auto attempt = [&](const TlsFiles& files) {
      return why([&] { server.listen_tcp("127.0.0.1", 0, hello, {}, files); });
    };
    write_file(scratch.path() / "junk", "no certificate");
    CHECK(attempt({certificate.path(), other_key}).find("mismatch") != std::string::npos);
    CHECK(attempt({scratch.path() / "none", key}).find("server.tls.certificate") != std::string::npos);
    CHECK(attempt({scratch.path() / "junk", key}).find("PEM") != std::string::npos);
    CHECK(attempt({certificate.path(), scratch.path() / "junk"}).find("server.tls.key") != std::string::npos);
  }
}

}  // namespace KRUXOS_TEST_FILE
