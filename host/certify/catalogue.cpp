// The checks in words.
#include <algorithm>

#include "host/certify/check.hpp"
#include "host/certify/checks.hpp"

namespace krux::certify {
namespace {

constexpr auto kKit = CheckScope::kKit;
constexpr auto kOnce = CheckScope::kOnce;
constexpr auto kRead = CheckScope::kRead;
constexpr auto kWrite = CheckScope::kWrite;

std::vector<CheckInfo> of_library_and_account() {
  return {
      {"library.accepted", "The host accepts the library",
       "Made the checks that a host makes at its start: file, ELF, entry symbol, loading in a process of its own, "
       "description, definition.",
       "Every one of them passes.", "`kruxos plugin verify` shows each of them.", kKit, nullptr},
      {"library.one_export", "The library exports one symbol", "Read the file's table of symbols.",
       "It exports its entry and nothing else, so that no C++ runtime of its own shows.",
       "Build it with kruxos_add_plugin(), or with its version script and -Wl,--exclude-libs,ALL.", kKit, nullptr},
      {"manifest.fits", "Manifest, library and definition agree",
       "Compared service, version, ABI, hosts and the names of capabilities.", "They say the same.",
       "Mend the file that it names.", kKit, nullptr},
      {"service.starts", "The fake service starts",
       "Started it and waited for `ready` to answer 200; then sent `prepare`.", "It is ready within 10 seconds.",
       "Try the command of `fake_service` by hand, in the manifest's directory.", kKit, nullptr},
      {"describe.same", "It always describes itself alike", "Called describe() several times.",
       "The same text each time, with every collection that the definition names.",
       "Let describe() depend on nothing; name collections in the definition as it does.", kOnce, check_describe},
      {"account.verify", "verify names the account", "Called verify twice.",
       "The same account_id both times, the one of `account` where the manifest says so.",
       "account_id is the service's own immutable id of the account.", kOnce, check_verify},
      {"account.refused", "A refused token is called refused",
       "Called verify while every request is answered with 401.", "It fails with KRUX_AUTH.", "Throw kAuth for a 401.",
       kOnce, check_verify_refused},
      {"account.faults", "verify never guesses", "Called verify with each fault in each of its requests.",
       "It fails, and not with KRUX_AUTH, or it names the right account.",
       "Take an account's id only from an answer that was understood.", kOnce, check_verify_faults},
      {"account.in_time", "verify ends in time", "Called verify with a deadline while the service hangs.",
       "It returns soon after cancelled() turns true.", "Wait for nothing but the host's HTTP client.", kOnce,
       check_verify_in_time},
  };
}

std::vector<CheckInfo> of_syncs() {
  return {
      {"sync.full", "A first sync comes to its end", "Synced a fresh replica.", "It is done, with no part failed.", "",
       kOnce, check_sync_full},
      {"sync.repeat", "Two first syncs are alike", "Synced two fresh replicas from an unchanged service.",
       "The same rows in both.", "Put nothing that depends on when or how often it was synced.", kOnce,
       check_sync_repeat},
      {"sync.idle", "Nothing new changes nothing", "Made three later passes over an unchanged service.",
       "The rows stay as they were.", "", kOnce, check_sync_idle},
      {"sync.changes", "Later passes bring every change",
       "Made each of `changes` at the service, then later passes, and compared with a first sync of the changed "
       "service; then once more, with the host's clock ten minutes ahead.",
       "The same rows.", "Edits and deletions must arrive as well as what is new; sweep() removes what is gone.", kOnce,
       check_sync_changes},
      {"sync.resume", "A killed sync goes on where it was",
       "Ended the sync behind each commit in turn, and behind every one; went on with another instance.",
       "The same rows as undisturbed.", "All that a later step needs stands in cursors, committed with the rows.",
       kOnce, check_sync_resume},
      {"sync.connection", "Broken connections lose nothing",
       "Disturbed the first, a middle and the last request of a first and of a later sync: answer lost, not sent, cut "
       "off, slow.",
       "It ends with a fitting status, changes no row while the service does not change, and brings everything later.",
       "", kOnce, check_sync_connection},
      {"sync.server", "A failing server loses nothing", "The same with 500, 502 and 503.", "As before.", "", kOnce,
       check_sync_server},
      {"sync.limited", "429 lets it wait", "The same with 429 and Retry-After.",
       "It fails with KRUX_RATE_LIMITED or waits by itself, and brings everything later.",
       "Throw kRateLimited with retry_after_ms, or return SyncStep::wait().", kOnce, check_sync_limited},
      {"sync.refused", "A refused token ends the sync", "The same with 401 for all that follow.",
       "It fails with KRUX_AUTH and changes no row.", "Throw kAuth for a 401: the operator is told then.", kOnce,
       check_sync_refused},
      {"sync.garbage", "Nonsense loses nothing",
       "The same with bodies cut in half, HTML, wrong types, wrong types below the top level, empty and endless.",
       "It never crashes, puts nothing that the service does not have, removes nothing that it has, and brings "
       "everything later.",
       "A page that was not understood is a failure, never an empty page.", kOnce, check_sync_garbage},
      {"sync.cursors", "An expired cursor is survived",
       "Made each of `changes`, then made the service forget its cursors (`expire_cursors`).",
       "It fails with KRUX_CURSOR_EXPIRED, upon which the host begins anew, or goes on by itself; the rows are the "
       "same.",
       "Throw kCursorExpired when the service no longer knows where you were.", kOnce, check_sync_cursors},
      {"sync.hostile", "Odd words stop no sync",
       "Let one text of the service's answers hold U+0000, half of a surrogate pair, more than 1 MiB.",
       "The pass comes to its end, with the other rows.",
       "Leave the record to the host, which leaves out what the replica cannot take.", kOnce, check_sync_hostile},
      {"sync.in_time", "The sync ends in time", "Synced while the service hangs, to a deadline and to a cancellation.",
       "It returns soon after cancelled() turns true.", "Ask call.cancelled() in loops.", kOnce, check_sync_in_time},
  };
}

std::vector<CheckInfo> of_reads_and_writes() {
  return {
      {"read.answers", "A read answers", "Read twice from a synced replica, with the sample parameters.",
       "A JSON object with the definition's outputs, the same both times, without an HTTP request unless `fetches`; or "
       "questions of the kinds in `asks`.",
       "", kRead, check_read},
      {"read.bad", "Bad parameters are refused", "Read with parameters of every kind that no host would pass.",
       "An answer or a failure, never a crash; a failure for a capability that it does not have.",
       "Check what you get before you use it.", kRead, check_read_bad},
      {"write.resolve", "Resolving twice is resolving once", "Resolved the parameters, and the result again.",
       "The same parameters, without an HTTP request.", "An id that is given stays as it is.", kWrite, check_resolve},
      {"write.once", "A write has one effect", "Executed it and looked for it.",
       "Done, one effect at the service, and find_effect finds it with the same result.", "", kWrite, check_write_once},
      {"write.answer_lost", "A lost answer is found out",
       "Lost the answer to each of its requests in turn, then looked.",
       "No second effect, no claim that there is none, and find_effect says found where there is one.", "", kWrite,
       check_write_answer_lost},
      {"write.not_sent", "What was not sent is not found",
       "Let each of its requests in turn reach nobody, then looked.",
       "find_effect says absent or cannot tell, never found.", "", kWrite, check_write_not_sent},
      {"write.twins", "Two equal writes are two",
       "Executed one of two equal writes, looked for the other; then executed that.",
       "find_effect never takes the one for the other.", "", kWrite, check_write_twins},
      {"write.repeat", "Repeating it is harmless", "Executed it a second time, as another attempt of the same write.",
       "Done, and one effect in all.", "", kWrite, check_write_repeat},
  };
}

std::vector<CheckInfo> of_writes_with_faults() {
  return {
      {"write.limited", "429 is no effect", "Answered 429 with Retry-After.",
       "It fails with KRUX_RATE_LIMITED, no effect, and retry_after_ms; nothing is sent again.",
       "Throw kRateLimited with no_effect() and retry_after_ms().", kWrite, check_write_limited},
      {"write.refused", "401 is no effect", "Answered 401.", "It fails with KRUX_AUTH and no effect.",
       "Throw kAuth with no_effect().", kWrite, check_write_refused},
      {"write.server", "5xx may be an effect", "Answered 500, 503, and 502 after the service had got the request.",
       "It fails without saying that there is no effect, sends nothing again, and find_effect tells the truth.", "",
       kWrite, check_write_server},
      {"write.garbage", "Nonsense in place of an answer", "Spoiled the answer to each of its requests, in eight ways.",
       "Never a crash, a second effect, or a word that does not fit what the service has.", "", kWrite,
       check_write_garbage},
      {"write.in_time", "A write ends in time",
       "Let the service hang, with and without having got the request, to a deadline and to a cancellation.",
       "It returns soon after cancelled() turns true, and its word fits what the service has.",
       "Wait for nothing but the host's HTTP client.", kWrite, check_write_in_time},
      {"write.bad", "Bad parameters are refused",
       "Executed and looked with parameters of every kind that no host would pass.",
       "Never a crash; an operation that it does not have fails with no effect.",
       "Check what you get before you use it.", kWrite, check_write_bad},
      {"write.find_unattempted", "A look presumes nothing",
       "Looked with attempt 0 and without a note, as the host does in what may be a copy: before the write was ever "
       "executed, and after it was, as if by another host.",
       "Before, absent or cannot tell, never found; after, found with the same result.",
       "With attempt 0, look for the write_id since created_at_ms, and conclude nothing from a note that is missing.",
       kWrite, check_find_unattempted},
      {"write.find_faults", "A disturbed look is no answer",
       "Disturbed each request of find_effect, with the effect there.",
       "found, cannot tell, or a failure; never absent.", "", kWrite, check_find_faults},
  };
}

std::vector<CheckInfo> of_rollbacks_and_the_end() {
  return {
      {"rollback.undoes", "A rollback brings the state back", "Made a rollback point, executed, rolled back, twice.",
       "`state` is what it was before, and find_rollback says so.", "", kWrite, check_rollback},
      {"rollback.conflict", "A rollback undoes nobody else's change",
       "Changed what the write left (`change`), rolled back, then with force.",
       "KRUX_CONFLICT with no effect; forced, it is undone.", "", kWrite, check_rollback_conflict},
      {"rollback.answer_lost", "A lost answer to a rollback is found out",
       "Lost the answer to each request of the rollback in turn, then looked.",
       "No claim that there is no effect, and find_rollback says found where it is undone.", "", kWrite,
       check_rollback_lost},
      {"rollback.faults", "A disturbed rollback is not misjudged",
       "Disturbed the request that undoes, in thirteen ways.",
       "The adapter's word and find_rollback's fit what the service has; a 5xx claims nothing.", "", kWrite,
       check_rollback_faults},
      {"threads.side_by_side", "Reads and writes run side by side",
       "Ran all sample reads from three threads and two writes of each operation at once, on one instance.",
       "The same answers as alone, and each write is found. (With an adapter and a kit built with ThreadSanitizer this "
       "finds more.)",
       "Guard what calls share.", kOnce, check_side_by_side},
      {"life.leaks", "Instances leave nothing behind", "Made and destroyed 30 instances.",
       "No thread and no descriptor is left.", "", kOnce, check_life},
      {"account.revoke", "A revoked token is no longer taken",
       "Called revoke while the service fails, and then undisturbed; then verify. It is the last check: the fake "
       "service takes the token no more.",
       "It fails while the service does; then it succeeds, and verify fails with KRUX_AUTH.",
       "Throw kUnsupported where the service has no way to revoke a token.", kOnce, check_revoke},
      {"secret.token", "The token shows nowhere",
       "Looked for the token in everything that came from the adapter: results, failures, log, records, cursors, "
       "notes, "
       "addresses, standard output. Services that fail echo it.",
       "It is in none of it.", "Never copy an answer's body into a message or a record.", kKit, nullptr},
  };
}

const std::vector<CheckInfo>& table() {
  static const auto checks = [] {
    std::vector<CheckInfo> all;
    for (const auto& part : {of_library_and_account(), of_syncs(), of_reads_and_writes(), of_writes_with_faults(),
                             of_rollbacks_and_the_end()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return checks;
}

}  // namespace

const char* to_string(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kPassed:
      return "passed";
    case CheckOutcome::kFailed:
      return "failed";
    case CheckOutcome::kNotChecked:
      return "not_checked";
    case CheckOutcome::kNotApplicable:
      return "not_applicable";
  }
  return "failed";
}

const std::vector<CheckInfo>& all_checks() {
  return table();
}

const CheckInfo* find_check(const std::string& id) {
  const auto at = std::find_if(table().begin(), table().end(), [&](const auto& check) { return id == check.id; });
  return at == table().end() ? nullptr : &*at;
}

}  // namespace krux::certify
