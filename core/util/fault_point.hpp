// Places where a test build lets the process die, to show that nothing is lost and nothing happens twice.
#pragma once

#include <array>
#include <string_view>

namespace krux {

/// Every fault point that exists. "before_commit" is the last step of an operation inside its transaction,
/// "after_commit" the first thing that happens once it is durable, before anybody is told.
inline constexpr std::array<std::string_view, 101> kFaultPoints = {
    "transaction.begin.before_commit",
    "transaction.begin.after_commit",  //
    "transaction.commit.before_commit",
    "transaction.commit.after_commit",  //
    "transaction.undo.before_commit",
    "transaction.undo.after_commit",  //
    "transaction.step.before_commit",
    "transaction.step.after_commit",  //
    "write.submit.before_commit",
    "write.submit.after_commit",  //
    "write.cancel.before_commit",
    "write.cancel.after_commit",  //
    "write.claim.before_commit",
    "write.claim.after_commit",  //
    "write.rollback_point.before_commit",
    "write.rollback_point.after_commit",  //
    "write.execute.before_call",
    "write.execute.after_call",  //
    "write.remember.before_commit",
    "write.remember.after_commit",  //
    "write.outcome.before_commit",
    "write.outcome.after_commit",  //
    "write.look.before_commit",
    "write.look.after_commit",  //
    "write.resolve.before_commit",
    "write.resolve.after_commit",  //
    "write.accept.before_commit",
    "write.accept.after_commit",  //
    "write.reject.before_commit",
    "write.reject.after_commit",  //
    "write.edit.before_commit",
    "write.edit.after_commit",  //
    "write.rollback.before_commit",
    "write.rollback.after_commit",  //
    "write.expire.before_commit",
    "write.expire.after_commit",  //
    "write.approval_expire.before_commit",
    "write.approval_expire.after_commit",  //
    "write.recover.before_commit",
    "write.recover.after_commit",  //
    "write.restore.before_commit",
    "write.restore.after_commit",  //
    "copies.decide.before_commit",
    "copies.decide.after_commit",  //
    "place.begin.before_commit",
    "place.begin.after_commit",  //
    "place.counter.written",
    "place.advance.announced",  //
    "place.advance.written",
    "backup.ledger.copied",  //
    "backup.files.durable",
    "restore.marker.written",  //
    "restore.file.copied",
    "restore.ledger.copied",  //
    "sync.commit.before_commit",
    "sync.commit.after_commit",  //
    "sync.finish.before_commit",
    "sync.finish.after_commit",  //
    "vault.rekey.file.staged",
    "vault.rekey.before_commit",  //
    "vault.rekey.after_commit",
    "vault.rekey.file.adopted",  //
    "vault.connect.before_commit",
    "vault.connect.after_commit",  //
    "vault.renew.before_commit",
    "vault.renew.after_commit",  //
    "oauth.refresh.before_send",
    "oauth.refresh.answered",  //
    "disconnect.begin.after",
    "disconnect.writes.cancelled",  //
    "disconnect.hand_over.before",
    "disconnect.hand_over.after",  //
    "disconnect.writes.settled",
    "disconnect.revoke.answered",  //
    "disconnect.revoke.noted",
    "disconnect.token.removed",  //
    "disconnect.token.noted",
    "disconnect.replica.removed",  //
    "disconnect.replica.noted",
    "disconnect.end.after_commit",  //
    "bundle.install.copied",
    "bundle.install.staged",  //
    "bundle.install.named",
    "bundle.install.pinned",  //
    "bundle.remove.unpinned",
    "sign_in.accept.before_commit",
    "sign_in.accept.after_commit",  //
    "sign_in.exchange.before_commit",
    "sign_in.exchange.after_commit",  //
    "sign_in.refresh.before_commit",
    "sign_in.refresh.after_commit",  //
    "audit.append.before_commit",
    "audit.append.after_commit",  //
    "audit.forget.before_commit",
    "audit.forget.after_commit",  //
    "audit.key.before_commit",
    "audit.key.after_commit",  //
    "audit.cut.before_commit",
    "audit.cut.after_commit",  //
    "state.write.before_commit",
    "state.write.after_commit",
};

/// Called with the name of each fault point that is passed. Null but in tests and in kruxosd-test, whose main sets it
/// before any thread starts (test/support/fault.hpp).
inline void (*fault_hook)(std::string_view name) = nullptr;

}  // namespace krux

#define KRUX_FAULT_POINT(name)                      \
  do {                                              \
    if (krux::fault_hook) krux::fault_hook((name)); \
  } while (false)
