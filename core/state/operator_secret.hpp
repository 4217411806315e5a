// The operators and their passphrases, in kruxos.db as what these are checked by: what a program under an operator's
// own user lacks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/util/clock.hpp"
#include "core/vault/passphrase.hpp"
#include "core/vault/secret.hpp"

namespace krux {

class GroupCommit;

/// As an operator may be called: up to 32 small letters, digits and ". _ -", beginning with a letter or a digit. Throws
/// krux::Error InvalidInput.
void check_operator_name(const std::string& name);

/// Any thread. One OperatorSecret a ledger.
class OperatorSecret {
 public:
  /// `first_name`: of whoever sets the first passphrase without a name, and of the operator of before. Throws
  /// krux::Error DatabaseError. `store` and `clock` must outlive this. `cost`: of the next passphrase that is set.
  OperatorSecret(GroupCommit& store, const Clock& clock, PassphraseCost cost,
                 const std::string& first_name = "operator");

  struct Status {
    std::int64_t set_at_ms = 0;  ///< the newest; 0: none is set
    bool of_before = false;      ///< the data directory was in use before there were passphrases
    bool is_set() const { return set_at_ms != 0; }
  };
  Status status() const;

  /// Who has shown his passphrase. What is begun with it ends where is_present() says no more.
  struct Known {
    std::string operator_id, name;
    std::int64_t passphrase = 0;  ///< no two are alike
  };
  /// Until it is changed, or its operator removed.
  bool is_present(std::int64_t passphrase) const;

  struct Named {
    std::string operator_id, name;
    std::int64_t set_at_ms = 0, added_at_ms = 0;
    std::string added_by;  ///< "operator:<name>"; empty: the first one
  };
  std::vector<Named> list() const;  ///< by name

  /// Where a passphrase is given. Wrong ones at one place do not make the other wait.
  enum class Place { kSocket, kPage };

  /// Takes as long as the cost says, one at a time. `name` may be empty where there is one operator. Wrong ones make
  /// the place wait, whoever's they were said to be; what is right ends that for its own wrong ones alone. Throws
  /// krux::Error: NotAuthenticated when it is wrong or there is no such operator, RateLimited while a try has to wait,
  /// ConflictError when none is set, InvalidInput without a name where there are several.
  Known check(const Secret& passphrase, Place place, const std::string& name = {});
  /// Until the next try may be made.
  std::int64_t wait_ms(Place place) const;

  /// Whoever may set one without the present one: root, for whom it was forgotten, is to say so.
  enum class Present { kNeeded, kNotNeeded };
  /// Durable on return. Where none is set, `present` is not looked at, and `name` is the first operator's. Throws as
  /// check(), InvalidInput for a new one that is too short or too long, and DatabaseError.
  void set(const Secret& present, const Secret& wanted, Present needed, const std::string& name = {});

  /// Durable on return. `by`: of an operator who is known. Throws krux::Error ConflictError where there is one of that
  /// name, none is set yet or there are kMostOperators, InvalidInput.
  void add(const std::string& name, const Secret& wanted, const std::string& by);
  /// What was begun with his passphrase ends. Throws krux::Error NotFound, and ConflictError of the last one.
  void remove(const std::string& name);

  static constexpr std::size_t kMostOperators = 64;

  /// `told` runs on the thread of each check() that fails, with how many have failed in a row at that place. To be set
  /// before the first.
  void when_wrong(std::function<void(Place, int)> told) { wrong_ = std::move(told); }

 private:
  struct Entry : Named {
    std::string verifier;
  };
  struct Tries {
    PassphraseTries pace;
    int in_a_row = 0;
    std::set<std::string> wrong_for;  ///< operator_ids
    void right(const std::string& operator_id);
  };
  Tries& at(Place place) { return tries_[place == Place::kSocket ? 0 : 1]; }
  Entry of_name(const std::string& name) const;
  Entry entry_for_check(const std::string& name) const;
  bool checked_right(const Entry& entry, const Secret& passphrase, Place place);
  std::int64_t next_set_at_ms() const;
  void load(GroupCommit& store);

  GroupCommit& store_;
  const Clock& clock_;
  const PassphraseCost cost_;
  const std::string first_name_;
  std::mutex checking_;  ///< one check at a time: each takes much memory
  mutable std::mutex mutex_;
  bool of_before_ = false;
  std::vector<Entry> operators_;  ///< by name
  std::int64_t newest_set_at_ms_ = 0;
  std::array<Tries, 2> tries_;
  std::function<void(Place, int)> wrong_;
};

}  // namespace krux
