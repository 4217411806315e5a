// A CallContext as an adapter sees it.
#pragma once

#include <kruxos/abi/call.h>

#include <mutex>
#include <optional>
#include <string>

#include "core/adapter/call.hpp"
#include "host/plugins/abi_bridge/edge.hpp"

namespace krux {

/// Lent for one function of the adapter; lives until that function has returned, be it long after the call was
/// abandoned.
class LentCall {
 public:
  enum class Notes { kRefused, kKept };  ///< whether krux_call.remember works

  explicit LentCall(CallContextPtr call, Notes notes = Notes::kRefused);
  ~LentCall();
  LentCall(const LentCall&) = delete;
  LentCall& operator=(const LentCall&) = delete;

  const krux_call* table() const { return &table_; }
  const CallContextPtr& context() const { return call_; }

  /// The call behind a table that an adapter hands back; nothing when that call has ended or never was. Any thread.
  static CallContextPtr find(const krux_call* table);

  /// Runs the host's side of a lent function: what it throws becomes a status, and its words go with the failure that
  /// the adapter will report.
  template <class Body>
  krux_status guard(Body&& body) noexcept {
    if (call_->ended()) return KRUX_CANCELLED;
    try {
      return body();
    } catch (const Error& e) {
      return host_failed(status_of(e), e.what());
    } catch (const std::exception& e) {
      return host_failed(KRUX_INTERNAL, e.what());
    } catch (...) {
      return KRUX_INTERNAL;
    }
  }

  /// What the adapter's function failed with: its own words where it gave any. Claims "no effect" only where the
  /// adapter did and no request is open.
  CallFailure failure(krux_status returned) const;

 private:
  void fail(const krux_failure& failure);
  krux_status remember(krux_str note);
  void lend_dialogue();
  void progress(double done, double total, krux_str message);
  void tell(std::int32_t level, krux_str message);
  krux_status ask(krux_str questions, krux_str state);
  krux_status host_failed(krux_status status, const char* words) noexcept;

  const CallContextPtr call_;
  const Notes notes_;
  mutable std::mutex mutex_;
  std::optional<CallFailure> said_;
  std::string host_words_;
  krux_call table_{};
};

}  // namespace krux
