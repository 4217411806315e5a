#include "core/audit/chain.hpp"

#include <sodium.h>

#include <cstring>

namespace krux {
namespace {

class Hasher {
 public:
  Hasher() { crypto_hash_sha256_init(&state_); }
  void bytes(const unsigned char* data, std::size_t size) { crypto_hash_sha256_update(&state_, data, size); }
  void bytes(std::string_view data) { bytes(reinterpret_cast<const unsigned char*>(data.data()), data.size()); }
  template <int kBytes = 8>
  void number(std::uint64_t value) {
    std::array<unsigned char, kBytes> big_endian{};
    for (int i = kBytes - 1; i >= 0; --i, value >>= 8)
      big_endian[static_cast<std::size_t>(i)] = static_cast<unsigned char>(value);
    bytes(big_endian.data(), big_endian.size());
  }
  void text(std::string_view value) {
    number<4>(value.size());
    bytes(value);
  }
  AuditHash done() {
    AuditHash hash{};
    crypto_hash_sha256_final(&state_, hash.data());
    return hash;
  }

 private:
  crypto_hash_sha256_state state_{};
};

AuditHash hash_of(std::string_view bytes) {
  Hasher hasher;
  hasher.bytes(bytes);
  return hasher.done();
}

}  // namespace

AuditRowView view_of(const AuditRow& row) {
  return {row.seq, row.at_ms, row.source, row.kind, row.agent_id, row.service, row.account_id, row.write_id, row.body};
}

AuditHash chain_hash(const AuditHash& prev, const AuditRowView& row) {
  Hasher hasher;
  hasher.bytes(prev.data(), prev.size());
  for (const auto number : {row.seq, row.at_ms, row.source}) hasher.number(static_cast<std::uint64_t>(number));
  for (const auto text : {row.kind, row.agent_id, row.service, row.account_id, row.write_id}) hasher.text(text);
  const auto body = hash_of(row.body);
  hasher.bytes(body.data(), body.size());
  return hasher.done();
}

AuditHash first_prev(std::string_view log_id) {
  return hash_of("kruxos audit log 1\n" + std::string(log_id));
}

std::string hash_hex(const AuditHash& hash) {
  std::array<char, 65> hex{};
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  return {hex.data(), 64};
}

std::optional<AuditHash> hash_of_hex(std::string_view hex) {
  AuditHash hash{};
  std::size_t size = 0;
  const int code = sodium_hex2bin(hash.data(), hash.size(), hex.data(), hex.size(), nullptr, &size, nullptr);
  if (hex.size() != 64 || code != 0 || size != hash.size()) return std::nullopt;
  return hash;
}

std::optional<AuditHash> hash_of_blob(std::string_view bytes) {
  AuditHash hash{};
  if (bytes.size() != hash.size()) return std::nullopt;
  std::memcpy(hash.data(), bytes.data(), bytes.size());
  return hash;
}

std::string_view blob_of(const AuditHash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

}  // namespace krux
