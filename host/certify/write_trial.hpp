// One write after the other against the fake service, as the host's executor would make it, and what the service has
// to say about it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "host/certify/lab.hpp"

namespace krux::certify {

/// How an execution ended, by the adapter's word and by the service's.
struct WriteEnd {
  CallAnswer<std::string> answer;
  std::int64_t effects = 0;  ///< that the service has more than before
  std::size_t requests = 0;
  std::optional<SeenRequest> faulted;  ///< the first request that was hit; nothing: none was

  bool ok() const { return answer.value() != nullptr; }
};

class WriteTrial {
 public:
  /// Throws CheckSkipped where there is no such role, or where the manifest has no parameters for the operation.
  WriteTrial(Lab& lab, const std::string& operation);

  /// Another write of the same operation: makes what must be there before, fills in the parameters, resolves them,
  /// counts the service's effects, and takes a new instance of the adapter.
  void prepare();
  /// The same parameters once more, as a write of its own.
  void prepare_twin();

  /// `faults` hit the requests of this call. A rollback point is made first, where the operation has one.
  WriteEnd execute(FaultPlan faults = {}, CallOptions options = {});
  CallAnswer<EffectFound> find(FaultPlan faults = {}, CallOptions options = {});
  CallAnswer<std::string> rollback(FaultPlan faults = {}, bool force = false, CallOptions options = {});
  CallAnswer<EffectFound> find_rollback();
  std::string resolve(const std::string& params_json);

  /// Executes until the effect is there and the answer lost, and says in which request that was. Throws CheckFailed
  /// where a lost answer is answered wrongly, see judge().
  std::size_t effect_request();
  std::size_t requests();  ///< of one undisturbed execution

  /// Throws CheckFailed where the adapter's word about this end and what find_effect says of it do not fit what the
  /// service has.
  void judge(const WriteEnd& end, const std::string& when);

  std::int64_t effects();  ///< since prepare(), of this write and its twins
  bool counts() const { return spec_ && spec_->effects.has_value(); }
  void need_counts() const;  ///< throws CheckSkipped where the manifest does not say how
  std::string state();       ///< canonical JSON; throws CheckSkipped likewise
  void change();             ///< as somebody else would; throws CheckSkipped likewise
  bool supports_rollback();  ///< as the adapter says; throws CheckFailed
  bool can_find() const { return !spec_ || spec_->can_find; }

  const CapabilityDefinition& capability() const { return capability_; }
  const std::shared_ptr<ServiceAdapter>& adapter() const { return adapter_; }
  const std::string& given_params() const { return given_params_; }
  const AdapterWrite& write() const { return write_; }
  const std::string& result() const { return result_; }
  void set_write(AdapterWrite write) { write_ = std::move(write); }
  void set_note(std::string note_json) { write_.note_json = std::move(note_json); }
  void new_instance() { adapter_ = lab_.adapter(); }
  void set_adapter(std::shared_ptr<ServiceAdapter> adapter) { adapter_ = std::move(adapter); }

 private:
  void begin_write();
  void make_point();
  RollbackRequest rollback_request(bool force) const;

  Lab& lab_;
  const CapabilityDefinition& capability_;
  const BundleWrite* const spec_;
  std::shared_ptr<ServiceAdapter> adapter_;
  Values values_;
  AdapterWrite write_;
  std::string given_params_, result_;
  std::int64_t effects_before_ = 0;
};

}  // namespace krux::certify
