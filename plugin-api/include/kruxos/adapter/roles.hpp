// kruxos/adapter/roles.hpp - what an adapter can be. A class derives from the roles it has; kruxos/abi/*.h hold each
// rule in full.
#pragma once
#include <kruxos/abi/account.h>
#include <kruxos/abi/cleanup.h>
#include <kruxos/abi/entry.h>
#include <kruxos/abi/read.h>
#include <kruxos/abi/rollback.h>
#include <kruxos/abi/sync.h>
#include <kruxos/abi/uploads.h>
#include <kruxos/abi/write.h>
#include <kruxos/adapter/http.hpp>
#include <kruxos/adapter/replica.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kruxos {

/// What a step of a pass came to: made by done(), more() or wait().
struct SyncStep {
  std::int32_t next = KRUX_SYNC_DONE;             ///< KRUX_SYNC_DONE, _MORE or _WAIT
  std::int64_t wait_ms = 0;                       ///< with wait
  std::int64_t complete_through_ms = 0;           ///< with done; Unix milliseconds
  std::uint64_t parts_done = 0, parts_total = 0;  ///< 0 of 0: unknown

  /// The pass is complete: everything that the service had at `complete_through_ms` (Unix milliseconds) is in the
  /// replica. 0: as of the pass's start.
  static SyncStep done(std::int64_t complete_through_ms = 0) { return {KRUX_SYNC_DONE, 0, complete_through_ms, 0, 0}; }
  static SyncStep more() { return {KRUX_SYNC_MORE, 0, 0, 0, 0}; }  ///< call again at once
  /// Call again after `ms` milliseconds, at most 24 h.
  static SyncStep wait(std::int64_t ms) { return {KRUX_SYNC_WAIT, ms, 0, 0, 0}; }
  /// Progress of this pass, for people: done().with_progress(3, 45).
  SyncStep with_progress(std::uint64_t done_parts, std::uint64_t all_parts) && {
    parts_done = done_parts;
    parts_total = all_parts;
    return *this;
  }
};

/// A write as the ledger holds it. Borrowed for the call.
struct BufferedWrite {
  std::string_view write_id;             ///< the marker that the effect must carry wherever the service allows it
  std::string_view operation;            ///< "notes.create"
  std::string_view params_json;          ///< one JSON object: as accepted, with defaults, names resolved
  std::string_view note_json;            ///< what Call::remember kept; empty: nothing
  std::string_view point_json;           ///< the rollback point of the first attempt; empty: none
  std::uint32_t attempt = 0;             ///< from 1; more: an earlier one may have left something; 0: see find_effect
  std::int64_t created_at_ms = 0;        ///< Unix milliseconds
  std::int64_t first_attempt_at_ms = 0;  ///< Unix milliseconds; 0 in create_rollback_point of the first attempt
};

/// What a look at the service came to: made by the functions below. Say absent only after a complete look.
struct EffectFound {
  std::int32_t answer = KRUX_CANNOT_TELL;  ///< KRUX_CANNOT_TELL, KRUX_EFFECT_FOUND, _ABSENT or _DISPROVED
  std::string result_json{};               ///< with found
  std::string why{};                       ///< with cannot_tell: a sentence for whoever has to decide, or nothing

  /// The look was not complete, or the service gives nothing to tell by: say which.
  static EffectFound cannot_tell(std::string why = {}) { return {KRUX_CANNOT_TELL, {}, std::move(why)}; }
  /// With the result that execute_write would have given.
  static EffectFound found(std::string result_json) { return {KRUX_EFFECT_FOUND, std::move(result_json), {}}; }
  /// A complete look did not find it. No proof: somebody may have removed it.
  static EffectFound absent() { return {KRUX_EFFECT_ABSENT, {}, {}}; }
  static EffectFound disproved() { return {KRUX_EFFECT_DISPROVED, {}, {}}; }  ///< positive proof that it did not happen
};

/// The undo of a write. Borrowed for the call.
struct RollbackRequest {
  std::string_view rollback_id;  ///< the marker of the undo, where it leaves something behind
  std::string_view operation;    ///< of the write that is undone
  std::string_view params_json;  ///< of that write
  std::string_view point_json;   ///< what create_rollback_point gave
  std::string_view result_json;  ///< what execute_write gave
  bool force = false;            ///< undo although the service's state has changed since
};

/// Whose token it is.
struct Identity {
  std::string account_id;                            ///< the service's own immutable id, 1 to 256 bytes
  std::string display_name{};                        ///< for people
  std::optional<std::vector<std::string>> scopes{};  ///< nothing where the service does not tell
  /// Who acts there with this token (a user's or bot's id); empty where an account has only one such. Writes that were
  /// accepted for one principal never go out as another.
  std::string principal{};
};

// The roles. Their functions are called by the host on its workers and block; they fail by throwing: a ProxyError, or
// anything else, which counts as kInternal. What is lent to them (call, store, reader, views) is theirs until they
// return.

/// Fills the account's replica. Never two steps at a time for one account.
class SyncAdapter {
 public:
  /// One step of a full pass: when the replica is new, was rebuilt, or a cursor has expired. Where the pass is stands
  /// in cursors, for the host may be killed at any time; a step should take seconds and has 5 minutes.
  virtual SyncStep full_sync(const Call& call, SyncStore& store) = 0;
  /// One step of any other pass. `last_sync_ms`: the end of the last complete pass, Unix milliseconds. Throw
  /// kCursorExpired where the service no longer knows where you were: all cursors are removed, and a full pass follows.
  virtual SyncStep incremental_sync(const Call& call, SyncStore& store, std::int64_t last_sync_ms) = 0;

 protected:
  ~SyncAdapter() = default;
};

/// Answers reads from the replica. Called from several threads at once.
class ReadAdapter {
 public:
  /// Answers `capability` ("notes.search") with one JSON object of at most 8 MiB, without the members `freshness` and
  /// `content_trust`, which the host adds. `params_json` fits the definition and has its defaults. Sends nothing,
  /// unless the definition says `fetches`. Has 10 s.
  virtual std::string read(const Call& call, const Reader& reader, std::string_view capability,
                           std::string_view params_json) = 0;
  /// The parameters with names replaced by ids, from the replica alone: those of a write of `operation` before they are
  /// hashed; and those of a read that its definition's `target` names, for finding the writes that are about the same
  /// and for the operator's rules. read() itself gets what the agent gave: resolve names there as well. What it throws
  /// refuses the write, and a read that rules look into. Has 10 s.
  virtual std::string resolve(const Call&, const Reader&, std::string_view /*operation*/,
                              std::string_view params_json) {
    return std::string(params_json);
  }

 protected:
  ~ReadAdapter() = default;
};

/// Performs writes. Called from several threads at once, for different writes. Each call has the definition's
/// call_timeout.
class WriteExecutor {
 public:
  /// Performs the write once, never repeating a request, and answers with one JSON object of at most 8 MiB. A
  /// ProxyError with no_effect() and kRefused, kInvalid or kNotFound: refused for good; with no_effect() and another
  /// kind: tried again later; anything else that is thrown after a request went out: find_effect is asked.
  virtual std::string execute_write(const Call& call, const BufferedWrite& write) = 0;
  /// Looks whether it has happened, changing nothing: completely, or it cannot tell. Whatever is thrown means that too.
  /// May be called many times, and long after the attempt. With attempt 0 nothing is known of attempts: this host has
  /// made none, or another one may have. Look for the write_id since created_at_ms; that there is no note says nothing.
  virtual EffectFound find_effect(const Call& call, const BufferedWrite& write) = 0;

 protected:
  ~WriteExecutor() = default;
};

/// Undoes writes. Called from several threads at once, for different writes.
class RollbackCapable {
 public:
  virtual bool supports_rollback(std::string_view operation) = 0;  ///< no I/O; what it throws means false
  /// Before the first attempt: what an undo will need of the state before the write, as one JSON object of at most 64
  /// KiB. Changes nothing at the service. What it throws fails the attempt, with certainly no effect.
  virtual std::string create_rollback_point(const Call& call, const BufferedWrite& write) = 0;
  /// Undoes the write once and answers with one JSON object. Compares first: throws kConflict where the service's state
  /// is not what the write left behind, unless forced. Failures as in execute_write.
  virtual std::string rollback(const Call& call, const RollbackRequest& request) = 0;
  /// Looks whether an undo of unknown outcome has happened, as find_effect does; a result is not used.
  virtual EffectFound find_rollback(const Call& call, const RollbackRequest& request) = 0;

 protected:
  ~RollbackCapable() = default;
};

/// Takes away what attempts have left. For operations whose definition says `cleanup: true`. Called from several
/// threads at once, for different writes.
class CleanupCapable {
 public:
  /// The write was cancelled, refused or discarded, and an attempt of it may have made something at the service (a
  /// draft). On return nothing of that is left; what was gone already is no failure. Throws kConflict, with
  /// no_effect(), where somebody has changed it since: then it stays. Failures as in execute_write; called again after
  /// them.
  virtual void clean_up(const Call& call, const BufferedWrite& write) = 0;

 protected:
  ~CleanupCapable() = default;
};

/// Connects and disconnects accounts.
class AccountAdapter {
 public:
  /// Whose token is this? The host puts the one that is being tried into the requests. Throws kAuth where the service
  /// refuses it.
  virtual Identity verify(const Call& call) = 0;
  /// Makes the service forget the token. Throws kUnsupported where it cannot.
  virtual void revoke(const Call& call) = 0;

 protected:
  ~AccountAdapter() = default;
};

/// What the adapter says of itself before it is created; given by a static member function `describe()` of its class,
/// which does no I/O.
struct Description {
  std::vector<Collection> collections{};  ///< at most 32
  std::string config_schema_json{};  ///< of the adapter's configuration, as krux_plugin_entry.describe has it; empty:
                                     ///< it takes none
  /// False where writes act otherwise than by the host's HTTP (files, processes): that nothing was sent then proves
  /// nothing about them.
  bool acts_by_http = true;
  /// True where it stands in for the service's own adapter, in tests. What was connected through the one is not served
  /// through the other.
  bool mock = false;
};

/// The account that an adapter works for; one instance an account.
struct Account {
  std::string account_id;  ///< empty while the connection is being verified
  std::uint32_t generation = 0;
  std::string scopes_json;  ///< JSON array; empty when unknown
  std::string config_json;  ///< fits Description::config_schema_json
  std::string base_url{};   ///< what relative addresses are relative to; empty where the host is older than 1.2
  /// One JSON object of texts: what the operator has set of this account, by the names that the definition's `accounts`
  /// section gives.
  std::string settings_json = "{}";
};

/// The files that agents gave to the host for writes to carry; kruxos/abi/uploads.h has the rules. Cheap to copy.
class Uploads {
 public:
  explicit Uploads(const krux_uploads* uploads) noexcept : uploads_(uploads) {}

  /// Fills `buffer` with up to `capacity` bytes from `offset` on and returns how many; 0 at the end. Within a call of
  /// the write whose parameters name the upload, any thread. Throws ProxyError: kInvalid for any other, kStorage,
  /// kCancelled; kUnsupported where the host has none.
  std::size_t read(const Call& call, std::string_view upload_id, std::uint64_t offset, char* buffer,
                   std::size_t capacity) const {
    if (!uploads_) throw ProxyError(ErrorKind::kUnsupported, "This host lends no uploads.").no_effect();
    std::size_t got = 0;
    detail::check(uploads_->read(uploads_->self, call.raw(), to_abi(upload_id), offset, buffer, capacity, &got),
                  "to read an upload");
    return got;
  }

 private:
  const krux_uploads* uploads_;
};

/// What the host lends for the adapter's whole life. Cheap to copy.
class Host {
 public:
  /// Borrows the host's table for as long as the adapter lives.
  explicit Host(const krux_host* host) noexcept
      : http_(find<krux_http_client>(host, KRUX_IID_HTTP_CLIENT)),
        uploads_(find<krux_uploads>(host, KRUX_IID_UPLOADS)),
        log_(find<krux_log>(host, KRUX_IID_LOG)) {}

  const HttpClient& http() const noexcept { return http_; }     ///< any thread, within a call
  const Uploads& uploads() const noexcept { return uploads_; }  ///< any thread, within a call
  /// One line, cut at 8 KiB. `level` is KRUX_LOG_DEBUG ... KRUX_LOG_ERROR. Never log a credential or what a message
  /// says. Any thread.
  void log(std::int32_t level, std::string_view message) const noexcept {
    if (log_) log_->write(log_->self, level, to_abi(message));
  }

 private:
  template <class Table>
  static const Table* find(const krux_host* host, const char* iid) noexcept {
    return static_cast<const Table*>(host->query(host->self, iid));
  }
  HttpClient http_;
  Uploads uploads_;
  const krux_log* log_;
};

}  // namespace kruxos
