#include "core/state/operator_secret.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

std::string verifier_of(const Secret& passphrase, const PassphraseCost& cost) {
  std::string text(crypto_pwhash_STRBYTES, '\0');
  const int result =
      crypto_pwhash_str(text.data(), passphrase.reveal().data(), passphrase.size(),
                        static_cast<unsigned long long>(cost.passes), static_cast<std::size_t>(cost.memory_bytes));
  if (result != 0)
    throw database_error(
        fmt::format("The system does not give the {} MiB of memory that the passphrase's check takes. Free some, then "
                    "try again.",
                    cost.memory_bytes >> 20));
  text.resize(text.find('\0'));
  return text;
}

bool fits(const std::string& verifier, const Secret& passphrase) {
  if (passphrase.size() == 0) return false;  // of which libsodium may not be given the address
  return crypto_pwhash_str_verify(verifier.c_str(), passphrase.reveal().data(), passphrase.size()) == 0;
}

}  // namespace

OperatorSecret::OperatorSecret(GroupCommit& store, const Clock& clock, PassphraseCost cost)
    : store_(store), clock_(clock), cost_(cost), tries_{Tries{PassphraseTries(clock)}, Tries{PassphraseTries(clock)}} {
  if (sodium_init() < 0) throw database_error("libsodium does not work on this machine.");
  store.run([this](SQLite::Database& db) {
    Statement row(db.getHandle(), "SELECT verifier, set_at_ms, of_before FROM operator_secret");
    if (!row.step()) return;
    verifier_ = row.text(0);
    status_ = {row.integer(1), row.integer(2) == 1};
  });
}

OperatorSecret::Status OperatorSecret::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::int64_t OperatorSecret::wait_ms(Place place) const {
  const std::lock_guard lock(mutex_);
  return tries_[place == Place::kSocket ? 0 : 1].pace.wait_ms();
}

std::int64_t OperatorSecret::check(const Secret& passphrase, Place place) {
  const std::lock_guard one_at_a_time(checking_);
  std::string verifier;
  std::int64_t set_at_ms = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!status_.is_set())
      throw conflict("No passphrase of the operator is set yet. Set it with: kruxos operator set-passphrase");
    at(place).pace.begin();
    verifier = verifier_;
    set_at_ms = status_.set_at_ms;
  }
  const bool right = fits(verifier, passphrase);
  int in_a_row = 0;
  {
    const std::lock_guard lock(mutex_);
    auto& tries = at(place);
    if (right) {
      tries.pace.right();
      tries.in_a_row = 0;
      return set_at_ms;
    }
    tries.pace.wrong();
    in_a_row = ++tries.in_a_row;
  }
  if (wrong_) wrong_(place, in_a_row);
  throw Error(ErrorCode::kNotAuthenticated, "The operator's passphrase is wrong. Nothing was done.");
}

void OperatorSecret::set(const Secret& present, const Secret& wanted, Present needed) {
  check_new_passphrase(wanted);
  const auto before = status();
  if (before.is_set() && needed == Present::kNeeded) check(present, Place::kSocket);
  const std::lock_guard one_at_a_time(checking_);
  // What was checked, or was not there to be checked, must be what is replaced.
  if (needed == Present::kNeeded && status().set_at_ms != before.set_at_ms)
    throw conflict(
        "Another passphrase was set meanwhile, so that yours was not. If that was not you, see docs/approvals.md.");
  auto verifier = verifier_of(wanted, cost_);
  const auto now = std::max(clock_.wall_ms(), before.set_at_ms + 1);  // each has a time of its own
  store_.run([&](SQLite::Database& db) {
    Statement(db.getHandle(),
              "INSERT OR REPLACE INTO operator_secret (one, verifier, set_at_ms, of_before) VALUES (1, ?1, ?2, ?3)")
        .bind_all(verifier, now, std::int64_t{status().of_before})
        .run();
  });
  const std::lock_guard lock(mutex_);
  verifier_ = std::move(verifier);
  status_.set_at_ms = now;
  for (auto& tries : tries_) {
    tries.pace.right();
    tries.in_a_row = 0;
  }
}

}  // namespace krux
