#include "core/net/test_tls.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>

namespace krux::test {
namespace {

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  if (extension == nullptr) throw std::runtime_error("bad extension " + value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

TlsIdentity make(const std::string& name, const CertificateRequest& request, bool authority,
                 const TlsIdentity* issuer) {
  static std::atomic<long> serial{1};
  TlsIdentity made{{EVP_EC_gen("P-256"), EVP_PKEY_free}, {X509_new(), X509_free}, 0};
  X509* x = made.certificate.get();
  X509* by = issuer != nullptr ? issuer->certificate.get() : x;
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
  X509_gmtime_adj(X509_getm_notBefore(x), request.from_seconds);
  X509_gmtime_adj(X509_getm_notAfter(x), request.to_seconds);
  X509_set_pubkey(x, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x, X509_get_subject_name(by));
  add_extension(x, by, NID_basic_constraints, authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (authority) add_extension(x, by, NID_key_usage, "critical,keyCertSign");
  if (!request.alternative_names.empty()) add_extension(x, by, NID_subject_alt_name, request.alternative_names);
  X509_sign(x, issuer != nullptr ? issuer->key.get() : made.key.get(), EVP_sha256());
  return made;
}

}  // namespace

TlsIdentity make_authority() {
  return make("Test Authority", {}, true, nullptr);
}

TlsIdentity make_identity(const CertificateRequest& request, const TlsIdentity* issuer) {
  return make("Test Server", request, false, issuer);
}

CertificateFile::CertificateFile(const TlsIdentity& identity) : path_("/tmp/kruxos-test-ca-XXXXXX") {
  FILE* file = fdopen(mkstemp(path_.data()), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + path_);
  PEM_write_X509(file, identity.certificate.get());
  fclose(file);
}

CertificateFile::~CertificateFile() {
  unlink(path_.c_str());
}

std::shared_ptr<SSL_CTX> server_context(const TlsIdentity& identity) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX_use_certificate(context.get(), identity.certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), identity.key.get());
  if (identity.most_version != 0) {
    // OpenSSL refuses the old versions' signatures above security level 0.
    SSL_CTX_set_security_level(context.get(), 0);
    SSL_CTX_set_max_proto_version(context.get(), identity.most_version);
  }
  return context;
}

}  // namespace krux::test
