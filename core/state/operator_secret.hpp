// The operator's passphrase, in kruxos.db as what it is checked by: what a program under the operator's own user lacks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "core/util/clock.hpp"
#include "core/vault/passphrase.hpp"
#include "core/vault/secret.hpp"

namespace krux {

class GroupCommit;

/// Any thread. One OperatorSecret a ledger.
class OperatorSecret {
 public:
  /// Throws krux::Error DatabaseError. `store` and `clock` must outlive this. `cost`: of the next passphrase that is
  /// set.
  OperatorSecret(GroupCommit& store, const Clock& clock, PassphraseCost cost);

  struct Status {
    std::int64_t set_at_ms = 0;  ///< 0: none is set
    bool of_before = false;      ///< the data directory was in use before there were passphrases
    bool is_set() const { return set_at_ms != 0; }
  };
  Status status() const;

  /// Where a passphrase is given. Wrong ones at one place do not make the other wait.
  enum class Place { kSocket, kPage };

  /// Takes as long as the cost says, one at a time. Returns the `set_at_ms` of the one that was checked, no two of
  /// which are alike: what is begun with it ends where that is not the present one's any more. Throws krux::Error:
  /// NotAuthenticated when it is wrong, RateLimited while a try has to wait, ConflictError when none is set.
  std::int64_t check(const Secret& passphrase, Place place);
  /// Until the next try may be made.
  std::int64_t wait_ms(Place place) const;

  /// Whoever may set one without the present one: root, for whom it was forgotten, is to say so.
  enum class Present { kNeeded, kNotNeeded };
  /// Durable on return. Where none is set, `present` is not looked at. Throws as check(), InvalidInput for a new one
  /// that is too short or too long, and DatabaseError.
  void set(const Secret& present, const Secret& wanted, Present needed);

  /// `told` runs on the thread of each check() that fails, with how many have failed in a row at that place. To be set
  /// before the first.
  void when_wrong(std::function<void(Place, int)> told) { wrong_ = std::move(told); }

 private:
  struct Tries {
    PassphraseTries pace;
    int in_a_row = 0;
  };
  Tries& at(Place place) { return tries_[place == Place::kSocket ? 0 : 1]; }

  GroupCommit& store_;
  const Clock& clock_;
  const PassphraseCost cost_;
  std::mutex checking_;  ///< one check at a time: each takes much memory
  mutable std::mutex mutex_;
  Status status_;
  std::string verifier_;
  std::array<Tries, 2> tries_;
  std::function<void(Place, int)> wrong_;
};

}  // namespace krux
