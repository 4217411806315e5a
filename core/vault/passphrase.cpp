#include "core/vault/passphrase.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

#include "core/util/error.hpp"
#include "core/vault/key_file.hpp"

namespace krux {
namespace {

constexpr std::size_t kShortest = 8, kLongest = 1024;
constexpr std::int64_t kFirstWaitMs = 1000, kLongestWaitMs = 60'000;
constexpr int kDoublings = 6;

bool is_possible(std::string_view salt, const PassphraseCost& cost) {
  constexpr std::int64_t least_memory = crypto_pwhash_argon2id_MEMLIMIT_MIN, most_memory = std::int64_t{64} << 30;
  return salt.size() == crypto_pwhash_argon2id_SALTBYTES && cost.passes >= 1 && cost.passes <= 1000 &&
         cost.memory_bytes >= least_memory && cost.memory_bytes <= most_memory;
}

}  // namespace

void check_new_passphrase(const Secret& passphrase) {
  if (passphrase.size() < kShortest || passphrase.size() > kLongest)
    throw invalid_input(fmt::format("A passphrase has {} to {} bytes; nothing was changed.", kShortest, kLongest));
}

std::string new_passphrase_salt() {
  std::string salt(crypto_pwhash_argon2id_SALTBYTES, '\0');
  randombytes_buf(salt.data(), salt.size());
  return salt;
}

Secret key_from_passphrase(const Secret& passphrase, std::string_view salt, const PassphraseCost& cost) {
  if (!is_possible(salt, cost))
    throw database_error("What the ledger says of the vault's passphrase is damaged: restore it from a copy.");
  Secret key(kVaultKeyBytes);
  const int result = crypto_pwhash(
      reinterpret_cast<unsigned char*>(key.bytes()), key.size(), passphrase.reveal().data(), passphrase.size(),
      reinterpret_cast<const unsigned char*>(salt.data()), static_cast<unsigned long long>(cost.passes),
      static_cast<std::size_t>(cost.memory_bytes), crypto_pwhash_ALG_ARGON2ID13);
  if (result != 0) {
    throw database_error(
        fmt::format("The system does not give the {} MiB of memory that the passphrase's check takes. "
                    "Free some, then try again.",
                    cost.memory_bytes >> 20));
  }
  return key;
}

std::int64_t PassphraseTries::wait_ms() const {
  return std::max<std::int64_t>(0, next_boot_ms_ - clock_.boot_ms());
}

void PassphraseTries::begin() const {
  const auto wait = wait_ms();
  if (wait == 0) return;
  throw Error(ErrorCode::kRateLimited,
              fmt::format("Wrong passphrases were given; the next try is possible in {} s.", (wait + 999) / 1000), true,
              wait);
}

void PassphraseTries::wrong() {
  const auto wait = std::min(kLongestWaitMs, kFirstWaitMs << std::min(in_a_row_, kDoublings));
  ++in_a_row_;
  next_boot_ms_ = clock_.boot_ms() + wait;
}

}  // namespace krux
