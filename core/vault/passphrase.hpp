// A key from a passphrase: Argon2id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/util/clock.hpp"
#include "core/vault/secret.hpp"

namespace krux {

/// What each try costs, whoever makes it. The defaults take most of a second on one processor.
struct PassphraseCost {
  std::int64_t passes = 3;
  std::int64_t memory_bytes = 256 << 20;
  bool operator==(const PassphraseCost&) const = default;
};

/// Throws krux::Error InvalidInput unless a new passphrase has 8 to 1024 bytes. A long one that is easy to remember is
/// better than a short one that is not.
void check_new_passphrase(const Secret& passphrase);

std::string new_passphrase_salt();

/// The vault's key (32 bytes); the same for the same passphrase, salt and cost. Takes as long and as much memory as
/// `cost` says. Throws krux::Error DatabaseError for a salt or a cost that nothing here has made, and when the memory
/// is not to be had.
Secret key_from_passphrase(const Secret& passphrase, std::string_view salt, const PassphraseCost& cost);

/// Wrong passphrases in a row: after each, the next try has to wait, 1 s first, then twice as long, 60 s at most. One
/// thread at a time.
class PassphraseTries {
 public:
  explicit PassphraseTries(const Clock& clock) : clock_(clock) {}
  /// Until the next try may be made.
  std::int64_t wait_ms() const;
  /// Throws krux::Error RateLimited while a try has to wait.
  void begin() const;
  void wrong();
  void right() { in_a_row_ = 0; }

 private:
  const Clock& clock_;
  int in_a_row_ = 0;
  std::int64_t next_boot_ms_ = 0;
};

}  // namespace krux
