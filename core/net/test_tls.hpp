// Certificates made while a test runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

struct evp_pkey_st;
struct x509_st;
struct ssl_ctx_st;

namespace krux::test {

struct TlsIdentity {
  std::shared_ptr<evp_pkey_st> key;
  std::shared_ptr<x509_st> certificate;
  int most_version = 0;  ///< of the protocol, for a server (TLS1_1_VERSION …); 0: the newest
};

struct CertificateRequest {
  std::string alternative_names;                 ///< "DNS:good.test,IP:127.0.0.1"
  long from_seconds = -3600, to_seconds = 3600;  ///< from now
};

TlsIdentity make_authority();
/// Signed by `issuer`, or by itself without one.
TlsIdentity make_identity(const CertificateRequest& request, const TlsIdentity* issuer);
/// Writes the certificate as PEM; the file goes with the returned object.
class CertificateFile {
 public:
  explicit CertificateFile(const TlsIdentity& identity);
  ~CertificateFile();
  CertificateFile(const CertificateFile&) = delete;
  CertificateFile& operator=(const CertificateFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A server's settings with that certificate.
std::shared_ptr<ssl_ctx_st> server_context(const TlsIdentity& identity);

}  // namespace krux::test
