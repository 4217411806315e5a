// kruxos/adapter/roles.hpp - what an adapter can be. A class derives from the roles it has; kruxos/abi/*.h hold each
// rule in full.
#pragma once
#include <kruxos/abi/account.h>
#include <kruxos/abi/entry.h>
#include <kruxos/abi/read.h>
#include <kruxos/abi/rollback.h>
#include <kruxos/abi/sync.h>
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

/// What a step of a pass came to.
struct SyncStep {
  std::int32_t next = KRUX_SYNC_DONE;
  std::int64_t wait_ms = 0;
  std::int64_t complete_through_ms = 0;
  std::uint64_t parts_done = 0, parts_total = 0;

  /// The pass is complete. `complete_through_ms` 0: as of the pass's start.
  static SyncStep done(std::int64_t complete_through_ms = 0) { return {KRUX_SYNC_DONE, 0, complete_through_ms, 0, 0}; }
  static SyncStep more() { return {KRUX_SYNC_MORE, 0, 0, 0, 0}; }  ///< call again at once
  static SyncStep wait(std::int64_t ms) { return {KRUX_SYNC_WAIT, ms, 0, 0, 0}; }
  /// Progress for people.
  SyncStep with_progress(std::uint64_t done_parts, std::uint64_t all_parts) && {
    parts_done = done_parts;
    parts_total = all_parts;
    return *this;
  }
};

/// A write as the ledger holds it. Borrowed for the call.
struct BufferedWrite {
  std::string_view write_id;     ///< the marker that the effect must carry wherever the service allows it
  std::string_view operation;    ///< "notes.create"
  std::string_view params_json;  ///< as accepted, names resolved
  std::string_view note_json;    ///< what Call::remember kept
  std::string_view point_json;   ///< the rollback point
  std::uint32_t attempt = 0;
  std::int64_t created_at_ms = 0, first_attempt_at_ms = 0;
};

/// What a look at the service came to. Say absent only after a complete look.
struct EffectFound {
  std::int32_t answer = KRUX_CANNOT_TELL;
  std::string result_json;

  static EffectFound cannot_tell() { return {}; }
  /// With the result that execute_write would have given.
  static EffectFound found(std::string result_json) { return {KRUX_EFFECT_FOUND, std::move(result_json)}; }
  static EffectFound absent() { return {KRUX_EFFECT_ABSENT, {}}; }
  static EffectFound disproved() { return {KRUX_EFFECT_DISPROVED, {}}; }  ///< positive proof that it did not happen
};

/// Borrowed for the call.
struct RollbackRequest {
  std::string_view rollback_id, operation, params_json, point_json, result_json;
  bool force = false;
};

struct Identity {
  std::string account_id;  ///< the service's own immutable id
  std::string display_name;
  std::optional<std::vector<std::string>> scopes;  ///< nothing where the service does not tell
  /// Who acts there with this token (a user's or bot's id); empty where an account has only one such.
  std::string principal;
};

class SyncAdapter {
 public:
  virtual SyncStep full_sync(const Call& call, SyncStore& store) = 0;
  virtual SyncStep incremental_sync(const Call& call, SyncStore& store, std::int64_t last_sync_ms) = 0;

 protected:
  ~SyncAdapter() = default;
};

class ReadAdapter {
 public:
  /// Answers with one JSON object. Called from several threads at once.
  virtual std::string read(const Call& call, const Reader& reader, std::string_view capability,
                           std::string_view params_json) = 0;
  /// Before hashing: replaces names by ids, from the replica alone. Called from several threads at once.
  virtual std::string resolve(const Call&, const Reader&, std::string_view /*operation*/,
                              std::string_view params_json) {
    return std::string(params_json);
  }

 protected:
  ~ReadAdapter() = default;
};

class WriteExecutor {
 public:
  /// Performs the write once and answers with one JSON object. Called from several threads at once.
  virtual std::string execute_write(const Call& call, const BufferedWrite& write) = 0;
  /// Looks whether it has happened, changing nothing.
  virtual EffectFound find_effect(const Call& call, const BufferedWrite& write) = 0;

 protected:
  ~WriteExecutor() = default;
};

class RollbackCapable {
 public:
  virtual bool supports_rollback(std::string_view operation) = 0;  ///< no I/O
  /// What an undo will need of the state before the write, as one JSON object.
  virtual std::string create_rollback_point(const Call& call, const BufferedWrite& write) = 0;
  /// Undoes the write and answers with one JSON object. Compares first, and throws kConflict unless forced.
  virtual std::string rollback(const Call& call, const RollbackRequest& request) = 0;
  /// Looks whether an undo of unknown outcome has happened.
  virtual EffectFound find_rollback(const Call& call, const RollbackRequest& request) = 0;

 protected:
  ~RollbackCapable() = default;
};

class AccountAdapter {
 public:
  virtual Identity verify(const Call& call) = 0;  ///< whose token is this?
  virtual void revoke(const Call& call) = 0;      ///< makes the service forget it

 protected:
  ~AccountAdapter() = default;
};

/// What the adapter says of itself before it is created; given by a static member function `describe()` of its class.
struct Description {
  std::vector<Collection> collections;
  std::string config_schema_json;  ///< JSON Schema draft 4 of the adapter's configuration; empty: it takes none
};

/// The account that an adapter works for; one instance an account.
struct Account {
  std::string account_id;  ///< empty while the connection is being verified
  std::uint32_t generation = 0;
  std::string scopes_json;  ///< JSON array; empty when unknown
  std::string config_json;  ///< fits Description::config_schema_json
};

/// What the host lends for the adapter's whole life. Cheap to copy.
class Host {
 public:
  explicit Host(const krux_host* host) noexcept
      : http_(find<krux_http_client>(host, KRUX_IID_HTTP_CLIENT)), log_(find<krux_log>(host, KRUX_IID_LOG)) {}

  const HttpClient& http() const noexcept { return http_; }
  /// `level` is KRUX_LOG_DEBUG ... KRUX_LOG_ERROR. Never log a credential or what a message says.
  void log(std::int32_t level, std::string_view message) const noexcept {
    if (log_) log_->write(log_->self, level, to_abi(message));
  }

 private:
  template <class Table>
  static const Table* find(const krux_host* host, const char* iid) noexcept {
    return static_cast<const Table*>(host->query(host->self, iid));
  }
  HttpClient http_;
  const krux_log* log_;
};

}  // namespace kruxos
