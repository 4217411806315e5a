#include "core/state/operator_secret.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestName = 32;
constexpr const char* kOperatorPrefix = "op_";

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

bool begins_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// A user's name may have letters that no operator's has.
std::string as_operator_name(const std::string& user) {
  std::string name;
  for (const char c : user.substr(0, kLongestName)) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool fits_in = begins_a_name(small) || (!name.empty() && (small == '.' || small == '_' || small == '-'));
    name += fits_in ? small : name.empty() ? 'u' : '_';
  }
  return name.empty() ? "operator" : name;
}

Error no_such_operator(const std::string& name) {
  return {ErrorCode::kNotFound,
          fmt::format("There is no operator {}; kruxos operator list shows them.", printable(name))};
}

}  // namespace

void check_operator_name(const std::string& name) {
  const bool fits_in = std::all_of(name.begin(), name.end(),
                                   [](char c) { return begins_a_name(c) || c == '.' || c == '_' || c == '-'; });
  if (name.empty() || name.size() > kLongestName || !fits_in || !begins_a_name(name.front()))
    throw invalid_input(
        fmt::format("\"{}\" is no name of an operator: up to {} small letters, digits and \". _ -\", beginning with a "
                    "letter or a digit.",
                    printable(name), kLongestName));
}

/// Whoever guesses at another's is not let off by showing his own in between.
void OperatorSecret::Tries::right(const std::string& operator_id) {
  wrong_for.erase(operator_id);
  if (!wrong_for.empty()) return;
  pace.right();
  in_a_row = 0;
}

OperatorSecret::OperatorSecret(GroupCommit& store, const Clock& clock, PassphraseCost cost,
                               const std::string& first_name)
    : store_(store),
      clock_(clock),
      cost_(cost),
      first_name_(as_operator_name(first_name)),
      tries_{Tries{PassphraseTries(clock), 0, {}}, Tries{PassphraseTries(clock), 0, {}}} {
  if (sodium_init() < 0) throw database_error("libsodium does not work on this machine.");
  load(store);
}

void OperatorSecret::load(GroupCommit& store) {
  store.run([this](SQLite::Database& db) {
    // The operator of before is called what his decisions said: by the user under which the host runs.
    Statement(db.getHandle(), "UPDATE operators SET name = ?1 WHERE name = ''").bind_all(first_name_).run();
    Statement how(db.getHandle(), "SELECT of_before FROM operator_secret");
    of_before_ = how.step() && how.integer(0) == 1;
    operators_.clear();
    Statement row(db.getHandle(),
                  "SELECT operator_id, name, verifier, set_at_ms, added_at_ms, added_by FROM operators ORDER BY name");
    while (row.step()) {
      Entry entry;
      entry.operator_id = row.text(0);
      entry.name = row.text(1);
      entry.verifier = row.text(2);
      entry.set_at_ms = row.integer(3);
      entry.added_at_ms = row.integer(4);
      entry.added_by = row.text(5);
      newest_set_at_ms_ = std::max(newest_set_at_ms_, entry.set_at_ms);
      operators_.push_back(std::move(entry));
    }
  });
}

OperatorSecret::Status OperatorSecret::status() const {
  const std::lock_guard lock(mutex_);
  return {operators_.empty() ? 0 : newest_set_at_ms_, of_before_};
}

bool OperatorSecret::is_present(std::int64_t passphrase) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(operators_.begin(), operators_.end(),
                     [&](const Entry& entry) { return entry.set_at_ms == passphrase; });
}

std::vector<OperatorSecret::Named> OperatorSecret::list() const {
  const std::lock_guard lock(mutex_);
  return {operators_.begin(), operators_.end()};
}

std::int64_t OperatorSecret::wait_ms(Place place) const {
  const std::lock_guard lock(mutex_);
  return tries_[place == Place::kSocket ? 0 : 1].pace.wait_ms();
}

/// Of nobody: without an operator_id.
OperatorSecret::Entry OperatorSecret::of_name(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(operators_.begin(), operators_.end(), [&](const Entry& e) { return e.name == name; });
  return found == operators_.end() ? Entry() : *found;
}

/// Of a name that nobody has, one without an operator_id, whose check takes as long as another's.
OperatorSecret::Entry OperatorSecret::entry_for_check(const std::string& name) const {
  const auto all = list();
  if (all.empty())
    throw conflict("No passphrase of the operator is set yet. Set it with: kruxos operator set-passphrase");
  if (name.empty() && all.size() > 1)
    throw invalid_input("This host has several operators. Say which of them you are, by name.");
  auto entry = of_name(name.empty() ? all.front().name : name);
  if (!entry.operator_id.empty()) return entry;
  entry.verifier = of_name(all.front().name).verifier;
  return entry;
}

/// Takes its time, and notes how it went.
bool OperatorSecret::checked_right(const Entry& entry, const Secret& passphrase, Place place) {
  {
    const std::lock_guard lock(mutex_);
    at(place).pace.begin();
  }
  const bool right = fits(entry.verifier, passphrase) && !entry.operator_id.empty();
  int in_a_row = 0;
  {
    const std::lock_guard lock(mutex_);
    auto& tries = at(place);
    if (right) {
      tries.right(entry.operator_id);
      return true;
    }
    if (!entry.operator_id.empty()) tries.wrong_for.insert(entry.operator_id);
    tries.pace.wrong();
    in_a_row = ++tries.in_a_row;
  }
  if (wrong_) wrong_(place, in_a_row);
  return false;
}

OperatorSecret::Known OperatorSecret::check(const Secret& passphrase, Place place, const std::string& name) {
  const std::lock_guard one_at_a_time(checking_);
  const auto entry = entry_for_check(name);
  if (checked_right(entry, passphrase, place)) return {entry.operator_id, entry.name, entry.set_at_ms};
  throw Error(ErrorCode::kNotAuthenticated, name.empty() ? "The operator's passphrase is wrong. Nothing was done."
                                                         : "The operator's name or passphrase is wrong. Nothing was "
                                                           "done.");
}

/// Each has a time of its own.
std::int64_t OperatorSecret::next_set_at_ms() const {
  const std::lock_guard lock(mutex_);
  return std::max(clock_.wall_ms(), newest_set_at_ms_ + 1);
}

void OperatorSecret::set(const Secret& present, const Secret& wanted, Present needed, const std::string& name) {
  check_new_passphrase(wanted);
  if (!name.empty()) check_operator_name(name);
  const bool asks = status().is_set() && needed == Present::kNeeded;
  const auto known = asks ? check(present, Place::kSocket, name) : Known{{}, name, 0};
  const std::lock_guard one_at_a_time(checking_);
  const bool is_first = !status().is_set();
  auto whose = known.name;
  if (whose.empty()) whose = is_first ? first_name_ : entry_for_check({}).name;
  const auto replaced = of_name(whose);
  // What was checked, or was not there to be checked, must be what is replaced.
  if (needed == Present::kNeeded && (asks ? replaced.set_at_ms != known.passphrase : !is_first))
    throw conflict(
        "Another passphrase was set meanwhile, so that yours was not. If that was not you, see docs/approvals.md.");
  if (!is_first && replaced.operator_id.empty()) throw no_such_operator(whose);
  const auto verifier = verifier_of(wanted, cost_);
  const auto at_ms = next_set_at_ms();
  store_.run([&](SQLite::Database& db) {
    if (!is_first) {
      Statement(db.getHandle(), "UPDATE operators SET verifier = ?2, set_at_ms = ?3 WHERE name = ?1")
          .bind_all(whose, verifier, at_ms)
          .run();
      return;
    }
    Statement(db.getHandle(),
              "INSERT INTO operators (operator_id, name, verifier, set_at_ms, added_at_ms, added_by) VALUES (?1, ?2, "
              "?3, ?4, ?4, '')")
        .bind_all(make_id(kOperatorPrefix, at_ms), whose, verifier, at_ms)
        .run();
  });
  load(store_);
  const std::lock_guard lock(mutex_);
  for (auto& tries : tries_) tries.right(replaced.operator_id);
}

void OperatorSecret::add(const std::string& name, const Secret& wanted, const std::string& by) {
  check_operator_name(name);
  check_new_passphrase(wanted);
  const std::lock_guard one_at_a_time(checking_);
  const auto all = list();
  if (all.empty())
    throw conflict(
        "No passphrase of the operator is set yet. Set the first one's with: kruxos operator set-passphrase");
  if (!of_name(name).operator_id.empty()) throw conflict(fmt::format("There is an operator {} already.", name));
  if (all.size() >= kMostOperators)
    throw conflict(fmt::format("There are {} operators already. Remove one: kruxos operator remove NAME", all.size()));
  const auto verifier = verifier_of(wanted, cost_);
  const auto at_ms = next_set_at_ms();
  store_.run([&](SQLite::Database& db) {
    Statement(db.getHandle(),
              "INSERT INTO operators (operator_id, name, verifier, set_at_ms, added_at_ms, added_by) VALUES (?1, ?2, "
              "?3, ?4, ?4, ?5)")
        .bind_all(make_id(kOperatorPrefix, at_ms), name, verifier, at_ms, by)
        .run();
  });
  load(store_);
}

void OperatorSecret::remove(const std::string& name) {
  const std::lock_guard one_at_a_time(checking_);
  const auto gone = of_name(name);
  if (gone.operator_id.empty()) throw no_such_operator(name);
  if (list().size() == 1)
    throw conflict(fmt::format(
        "{} is the only operator, and without one nobody could decide. Add another one first: kruxos operator add NAME",
        name));
  store_.run([&](SQLite::Database& db) {
    Statement(db.getHandle(), "DELETE FROM operators WHERE operator_id = ?1").bind_all(gone.operator_id).run();
  });
  load(store_);
  const std::lock_guard lock(mutex_);
  for (auto& tries : tries_) tries.wrong_for.erase(gone.operator_id);
}

}  // namespace krux
