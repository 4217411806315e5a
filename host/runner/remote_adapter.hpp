// An adapter in a runner as core sees it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/adapter/service_adapter.hpp"
#include "core/net/http.hpp"
#include "core/replica/collection.hpp"
#include "host/runner/adapter_runner.hpp"
#include "host/runner/remote_call.hpp"

namespace krux {

/// The account that it is made for.
struct RemoteAccount {
  std::string service, account_id, scopes_json, config_json;
  std::uint32_t generation = 0;
  std::vector<CollectionSpec> collections;
  std::shared_ptr<HttpClient> http;
  UploadReader* uploads = nullptr;  ///< outlives every call
  std::string base_url, settings_json;
};

/// Made anew in the next process when one has ended, by the first call that comes then.
class RemoteAdapter final : public ServiceAdapter {
 public:
  RemoteAdapter(std::shared_ptr<AdapterRunner> runner, RemoteAccount account)
      : runner_(std::move(runner)), account_(std::move(account)) {}
  ~RemoteAdapter() override;  ///< the runner destroys its adapter; nobody waits for that

  /// Once, before it is used. Nothing when it was made.
  std::optional<CallFailure> create(const CallContextPtr& call);

  AdapterRoles roles() const override { return roles_; }
  CallResult<SyncStep> full_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store) override;
  CallResult<SyncStep> incremental_sync(const CallContextPtr& call, const std::shared_ptr<SyncSession>& store,
                                        std::int64_t last_sync_ms) override;
  CallResult<std::string> read(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                               std::string_view capability, std::string_view params_json) override;
  CallResult<std::string> resolve(const CallContextPtr& call, const std::shared_ptr<ReplicaReader>& reader,
                                  std::string_view operation, std::string_view params_json) override;
  CallResult<std::string> execute_write(const CallContextPtr& call, const AdapterWrite& write) override;
  CallResult<EffectFound> find_effect(const CallContextPtr& call, const AdapterWrite& write) override;
  /// True also where the runner could not be asked: create_rollback_point() asks again then and fails, so that no write
  /// goes without the point that it should have.
  bool supports_rollback(std::string_view operation) override;
  CallResult<std::string> create_rollback_point(const CallContextPtr& call, const AdapterWrite& write) override;
  CallResult<std::string> rollback(const CallContextPtr& call, const RollbackRequest& request) override;
  CallResult<EffectFound> find_rollback(const CallContextPtr& call, const RollbackRequest& request) override;
  CallResult<bool> clean_up(const CallContextPtr& call, const AdapterWrite& write) override;
  CallResult<Identity> verify(const CallContextPtr& call) override;
  CallResult<bool> revoke(const CallContextPtr& call) override;

 private:
  /// The adapter in one process.
  struct Instance {
    std::shared_ptr<RunnerProcess> process;
    std::uint64_t id = 0;
  };

  template <class T, class Read>
  CallResult<T> ask(CallFunction function, const CallContextPtr& call, std::string_view arguments, RemoteLoans loans,
                    Read&& read);
  template <class T, class Read>
  CallResult<T> ask_instance(const Instance& instance, CallFunction function, const CallContextPtr& call,
                             std::string_view arguments, RemoteLoans loans, Read&& read);
  std::variant<Instance, CallFailure> instance_for(const CallContextPtr& call);
  std::variant<Instance, CallFailure> make_in(const std::shared_ptr<RunnerProcess>& process,
                                              const CallContextPtr& call);
  std::optional<CallFailure> make_sure(const CallContextPtr& call, const std::string& operation);
  CallResult<bool> ask_supports_rollback(const CallContextPtr& call, std::string_view operation);
  CallResult<SyncStep> checked(CallResult<SyncStep> step, const CallContext& call) const;
  RemoteLoans http() const { return {account_.http, nullptr, nullptr, false}; }

  const std::shared_ptr<AdapterRunner> runner_;
  const RemoteAccount account_;
  AdapterRoles roles_;  ///< of the first one; set before it is used
  bool resolves_ = false;

  std::mutex making_;  ///< one makes it while the others wait
  std::mutex mutex_;
  Instance instance_;
  std::map<std::string, bool, std::less<>> supports_;  ///< what supports_rollback said, by operation
  std::set<std::string, std::less<>> unsure_;          ///< for which it could not be asked
};

}  // namespace krux
