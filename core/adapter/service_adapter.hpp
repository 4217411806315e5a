// One adapter instance as core sees it: one account's. Implemented over the C tables by host/plugins/abi_bridge; tests
// implement it directly.
#pragma once

#include <kruxos/abi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/adapter/call.hpp"

namespace krux {

class SyncSession;    // core/replica/sync_session.hpp
class ReplicaReader;  // core/replica/replica_reader.hpp

struct SyncStep {
  enum class Next { kDone, kMore, kWait } next = Next::kDone;
  std::int64_t wait_ms = 0;
  std::int64_t complete_through_ms = 0;
  std::uint64_t parts_done = 0, parts_total = 0;
};

/// A write as an adapter is shown it.
struct AdapterWrite {
  std::string write_id, operation, params_json, note_json, point_json;
  std::uint32_t attempt = 0;
  std::int64_t created_at_ms = 0, first_attempt_at_ms = 0;
};

struct EffectFound {
  enum class Answer { kCannotTell, kFound, kAbsent, kDisproved } answer = Answer::kCannotTell;
  std::string result_json;  ///< with kFound
  std::string why;          ///< with kCannotTell: a sentence, or nothing
};

struct Identity {
  std::string account_id, display_name, principal;  ///< principal: who acts there; may be empty
  std::vector<std::string> scopes;
  bool scopes_known = false;
};

struct RollbackRequest {
  std::string rollback_id, operation, params_json, point_json, result_json;
  bool force = false;
};

/// Which tables the adapter has.
struct AdapterRoles {
  bool sync = false, read = false, write = false, rollback = false, account = false, cleanup = false;
};

/// Calls block; start them through CallRunner, which abandons those that pass their deadline. They never throw: a
/// defect of the adapter is a CallFailure. What is passed by shared_ptr is kept by the callee until the adapter's code
/// has really returned. Every member may be called from several threads at once, except the two sync members.
class ServiceAdapter {
 public:
  virtual ~ServiceAdapter() = default;

  virtual AdapterRoles roles() const = 0;

  virtual CallResult<SyncStep> full_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store) = 0;
  virtual CallResult<SyncStep> incremental_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store,
                                                std::int64_t last_sync_ms) = 0;

  /// One valid JSON object; whoever implements this for code that it does not trust checks that.
  virtual CallResult<std::string> read(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                                       std::string_view capability, std::string_view params_json) = 0;
  /// params_json itself when the adapter has nothing to resolve.
  virtual CallResult<std::string> resolve(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                                          std::string_view operation, std::string_view params_json) = 0;

  virtual CallResult<std::string> execute_write(const CallContextPtr& call, const AdapterWrite& write) = 0;
  virtual CallResult<EffectFound> find_effect(const CallContextPtr& call, const AdapterWrite& write) = 0;

  virtual bool supports_rollback(std::string_view operation) = 0;
  virtual CallResult<std::string> create_rollback_point(const CallContextPtr& call, const AdapterWrite& write) = 0;
  virtual CallResult<std::string> rollback(const CallContextPtr& call, const RollbackRequest& request) = 0;
  virtual CallResult<EffectFound> find_rollback(const CallContextPtr& call, const RollbackRequest& request) = 0;

  /// Takes away what the attempts of a write have left that will not be carried out; kNotFound where it is gone.
  virtual CallResult<bool> clean_up(const CallContextPtr& call, const AdapterWrite& write) = 0;

  virtual CallResult<Identity> verify(const CallContextPtr& call) = 0;
  virtual CallResult<bool> revoke(const CallContextPtr& call) = 0;
};

}  // namespace krux
