// Tests' own client over TLS, and a certificate for their servers.
#pragma once

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "core/net/test_tls.hpp"
#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"
#include "support/scratch.hpp"

namespace krux::test {

/// In files, for as long as it is there.
class ServerCertificate {
 public:
  ServerCertificate() {
    const std::unique_ptr<FILE, decltype(&fclose)> file(fopen(key_.c_str(), "w"), &fclose);
    PEM_write_PrivateKey(file.get(), identity_.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }
  TlsFiles files() const { return {certificate_.path(), key_}; }

 private:
  const support::Scratch scratch_;
  const TlsIdentity identity_ = make_identity({"IP:127.0.0.1"}, nullptr);
  const CertificateFile certificate_{identity_};
  const std::filesystem::path key_ = scratch_.path() / "key.pem";
};

/// A client that keeps its connection, under TLS.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port) : client_(port) {
    SSL_set_fd(tls_.get(), client_.fd());
    REQUIRE(SSL_connect(tls_.get()) == 1);
  }
  void send(std::string_view bytes) {
    REQUIRE(SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size()));
  }
  /// What comes up to `end`, or to the connection's end.
  std::string receive_to(std::string_view end) {
    std::string bytes;
    char byte = 0;
    while (bytes.find(end) == std::string::npos && SSL_read(tls_.get(), &byte, 1) == 1) bytes += byte;
    return bytes;
  }
  std::string receive_bytes(std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t got = 0, more = 0;
    while (got < size && SSL_read_ex(tls_.get(), bytes.data() + got, size - got, &more) == 1) got += more;
    return bytes.substr(0, got);
  }
  bool has_ended() {
    char byte = 0;
    return SSL_read(tls_.get(), &byte, 1) <= 0 && SSL_get_error(tls_.get(), 0) == SSL_ERROR_ZERO_RETURN;
  }
  void shut_down() { SSL_shutdown(tls_.get()); }

 private:
  RawClient client_;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_client_method()), &SSL_CTX_free};
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls_{SSL_new(context_.get()), &SSL_free};
};

}  // namespace krux::test
