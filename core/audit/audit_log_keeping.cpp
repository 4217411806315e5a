// What the audit log does besides: its key, its signed heads, and how long rows are kept.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "core/audit/anchors.hpp"
#include "core/audit/audit_log_state.hpp"
#include "core/audit/chain.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/vault/key_file.hpp"

namespace krux {
namespace {

constexpr std::int64_t kCutEveryMs = 3'600'000, kMostCutAtOnce = 20'000;
constexpr std::int64_t kAnchorRetryMs = 10'000;

}  // namespace

/// Another key than before without the word of that one: somebody has replaced the file, and the log says so.
void AuditLog::State::open_key() {
  if (options.key_file.empty()) return;
  if (!key) key = std::make_shared<const SigningKey>(open_signing_key(options.key_file, file->key()));
  if (file->key() != key->public_hex()) file->change_key(*key, nullptr, clock.wall_ms());
  const std::lock_guard lock(mutex);
  signer = key;
}

/// By the ledger's word or by that of a signed head outside, whichever knows of more; 0: none is known.
AuditHead AuditLog::State::newest_head_known() {
  auto newest = [this] {
    auto lease = ledger.lease();
    return noted_head(lease.sql());
  }();
  if (options.anchor_file.empty()) return newest;
  // Anybody who can append there can sign by a key of his own.
  const auto is_own = [this](const std::string& by) { return by == file->key() || (key && by == key->public_hex()); };
  try {
    std::int64_t unreadable = 0;
    for (const auto& anchor : read_anchors(options.anchor_file, file->log_id(), unreadable))
      if (anchor.head.seq > newest.seq && is_own(anchor.key) && is_signed(anchor)) newest = anchor.head;
  } catch (const Error& error) {
    spdlog::warn("the audit log is not compared with its heads outside: {}", error.what());
  }
  return newest;
}

/// Before the ledger's evidence is out of date. The row stands once for each head that is missing; whoever starts the
/// host is told each time.
void AuditLog::State::compare_with_heads() {
  const auto known = newest_head_known();
  if (known.seq == 0 || file->knows(known)) return;
  const auto hash = hash_hex(known.hash);
  auto body = json_object([&](JsonWriter& out) {
    put(out, "had", known.seq);
    put(out, "hash", hash);
  });
  if (!file->has("log.broken", body)) {
    file->append({own_entry("log.broken", clock.wall_ms(), std::move(body))}, file->source());
    head = file->head();
  }
  const auto what = fmt::format(
      "{} is not the audit log that this host has written: its row {} is missing or another one. Its end was cut off, "
      "or another file was put in its place. Look for the one that is missing (a backup, an export), and compare: "
      "kruxos audit verify.",
      options.file.string(), known.seq);
  spdlog::error("{}", what);
  if (options.on_broken) options.on_broken(what);
}

void AuditLog::State::keep_order() {
  if (!key) return;
  const bool wanted = [this] {
    const std::lock_guard lock(mutex);
    return std::exchange(rotation_wanted, false);
  }();
  if (wanted) rotate();
  cut();
  anchor();
  const std::lock_guard lock(mutex);
  head = file->head();
}

/// The next key stands beside the file before the log names it: a kill in between loses neither. Where it is not known
/// whether the log names it, the file tells as it is opened anew.
void AuditLog::State::rotate() {
  bool is_in_doubt = false;
  try {
    // One that could not be adopted before is the only copy of the key in force.
    if (const auto staged = read_key_file(staged_key_file(options.key_file));
        staged && SigningKey(*staged).public_hex() == file->key())
      adopt_staged_key_file(options.key_file);
    const auto seed = new_vault_key();
    const auto next = std::make_shared<const SigningKey>(seed);
    stage_key_file(options.key_file, seed);
    is_in_doubt = true;
    file->change_key(*next, key.get(), clock.wall_ms());
    is_in_doubt = false;
    key = next;
    const std::lock_guard lock(mutex);
    signer = key;
  } catch (const std::exception& error) {
    {
      const std::lock_guard lock(mutex);
      rotation_problem = error.what();
    }
    if (!is_in_doubt) return;
    key.reset();
    throw;
  }
  adopt();
}

/// The log is signed by it already, and a later start finds it: no reason to stop.
void AuditLog::State::adopt() {
  try {
    adopt_staged_key_file(options.key_file);
  } catch (const std::exception& error) {
    spdlog::error("the audit log's new key stays beside its place until the next start: {}", error.what());
  }
}

bool AuditLog::State::is_to_be_anchored() const {
  return file && key && !options.anchor_file.empty() && anchored != file->head().seq;
}

/// Also at the end of the host.
void AuditLog::State::anchor() {
  const auto now = clock.boot_ms();
  const std::int64_t every = options.anchor_every.count();
  const bool last = [this] {
    const std::lock_guard lock(mutex);
    return std::exchange(anchor_wanted, false) || stopping;
  }();
  if (!is_to_be_anchored() || (!last && now < anchor_due_boot_ms)) return;
  anchor_due_boot_ms = now + every;
  try {
    auto made = make_anchor(*key, file->log_id(), file->head(), clock.wall_ms());
    anchors->write(made);
    anchored = file->head().seq;
    {
      const std::lock_guard lock(mutex);
      newest_anchor = std::move(made);
    }
    if (std::exchange(anchor_fails, false) && options.on_anchor) options.on_anchor({});
  } catch (const Error& error) {
    anchor_due_boot_ms = now + std::min(every, kAnchorRetryMs);
    if (std::exchange(anchor_fails, true)) return;
    spdlog::error("{}", error.what());
    if (options.on_anchor) options.on_anchor(error.what());
  }
}

void AuditLog::State::cut() {
  const auto now = clock.boot_ms();
  if (options.keep_ms == 0 || (cut_boot_ms && now - *cut_boot_ms < kCutEveryMs)) return;
  // A wall clock that is ahead makes no row older: no more time has passed than the boot clock says.
  const auto at = std::min(clock.wall_ms(), newest_before_ms + (now - began_boot_ms));
  // Some at once: what is new must not wait for long.
  const auto rows = file->cut(at - options.keep_ms, kMostCutAtOnce, *key, clock.wall_ms());
  if (rows < kMostCutAtOnce) cut_boot_ms = now;
}

}  // namespace krux
